// Whether all weights are finite: checked before they are scored or saved, since the last update may spoil them.
// SPDX-License-Identifier: Apache-2.0
//
//   expect_finite_weights(learner, "my loop");      a training_failure that names the first weight that is none
//
// The loss of an update is of the weights before it, so the loss of the last one says nothing about what it made.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <type_traits>

#include "triad/core/errors.hpp"
#include "triad/core/fields.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/train/holds_parameters.hpp"

namespace triad {

/// One number of a parameter, counted in the order in which it lies.
struct weight_place {
  std::string path;
  index_t at = 0;
  double value = 0;
};

/// The first weight that is infinite or NaN, in the order in which fields are declared; nothing where all are finite.
/// Fields in `where` come to the host piece by piece, which waits for a device; allocates their paths alone.
template <class Memory, class Fields>
std::optional<weight_place> first_not_finite(Fields fields, Memory const& where) {
  std::optional<weight_place> found;
  walk(fields, [&](std::string const& path, auto view) {
    using T = element_t<decltype(view)>;
    std::array<T, 8192> some;  // 64 KiB at most: a copy from a device costs as much as a few of these
    auto const size = static_cast<index_t>(view.size());
    for (index_t first = 0; first < size && !found; first += static_cast<index_t>(some.size())) {
      auto const count = std::min(static_cast<index_t>(some.size()), size - first);
      where.to_host(some.data(), view.data_handle() + first, static_cast<std::size_t>(count) * sizeof(T));
      for (index_t i = 0; i < count && !found; ++i)
        if (auto const value = some[static_cast<std::size_t>(i)]; !is_finite(value))
          found = weight_place{path, first + i, static_cast<double>(value)};
    }
  });
  return found;
}
template <holds_parameters Set>
std::optional<weight_place> first_not_finite(Set const& parameters) {
  return first_not_finite(parameters.values(), parameters.where());
}

/// A number in six significant digits; nan has no sign.
inline std::string number_text(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", v);
  return is_nan(v) ? "nan" : text;  // whatever its sign
}
/// "value 3 of readout.bias is nan"; empty where all are finite.  kind: before each path, such as "the average of ".
inline std::string not_finite_text(std::optional<weight_place> const& bad, std::string const& kind = {}) {
  if (!bad) return {};
  return "value " + std::to_string(bad->at) + " of " + kind + bad->path + " is " + number_text(bad->value);
}
/// The same with what follows from it.
inline std::string diverged_text(std::string const& bad) {
  return bad +
         ", expected a finite number; training has diverged: go on from earlier weights with a lower learning rate, "
         "warm it up, or clip gradients (max_norm)";
}

namespace detail {
/// owner: the caller in the message.  kind: such as the prefix of averages in a file.
inline void refuse_not_finite(std::optional<weight_place> const& bad, std::string const& owner,
                              std::string const& kind = {}) {
  if (bad) throw training_failure(owner + ": " + diverged_text(not_finite_text(bad, kind)));
}
}  // namespace detail

/// Throws training_failure where a weight is infinite or NaN; owner: the caller in the message.
template <holds_parameters Set>
void expect_finite_weights(Set const& parameters, std::string const& owner) {
  detail::refuse_not_finite(first_not_finite(parameters), owner);
}
/// The same for the parameters of a trainer.
template <class Learner>
  requires requires(Learner const& learner) {
    requires holds_parameters<std::remove_cvref_t<decltype(learner.parameters())>>;
  }
void expect_finite_weights(Learner const& learner, std::string const& owner) {
  expect_finite_weights(learner.parameters(), owner);
}

}  // namespace triad
