// Checks that all weights are finite before they are evaluated or saved.
// SPDX-License-Identifier: Apache-2.0
//
//   expect_finite_weights(learner, "my loop");      throws training_failure, which names a weight that is not finite
//
// The loss of an update is computed with the weights before this update.  So the last loss does not show whether the
// weights are finite after the last update.
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

/// One value of a parameter, and its index in the order of memory.
struct weight_place {
  std::string path;
  index_t at = 0;
  double value = 0;
};

/// Returns the first weight that is infinite or NaN, in the order in which the fields are declared.  Returns nothing if
/// all weights are finite.  Copies the fields from the memory `where` to the host piece by piece, so the function waits
/// for a device.  Allocates memory only for paths.
template <class Memory, class Fields>
std::optional<weight_place> first_not_finite(Fields fields, Memory const& where) {
  std::optional<weight_place> found;
  walk(fields, [&](std::string const& path, auto view) {
    using T = element_t<decltype(view)>;
    std::array<T, 8192> some;  // at most 64 KiB; smaller copies from a device take almost as long
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

/// Returns the number as text with six significant digits.  NaN has no sign.
inline std::string number_text(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", v);
  return is_nan(v) ? "nan" : text;  // NaN may have either sign
}
/// Returns a text such as "value 3 of readout.bias is nan". Returns an empty text if `bad` is empty.  `kind` is a
/// prefix of the path, such as "the average of ".
inline std::string not_finite_text(std::optional<weight_place> const& bad, std::string const& kind = {}) {
  if (!bad) return {};
  return "value " + std::to_string(bad->at) + " of " + kind + bad->path + " is " + number_text(bad->value);
}
/// Returns `bad`, followed by the cause and a remedy.
inline std::string diverged_text(std::string const& bad) {
  return bad +
         ", expected a finite number; training has diverged: go on from earlier weights with a lower learning rate, "
         "warm it up, or clip gradients (max_norm)";
}

namespace detail {
/// Throws training_failure if there is a bad value.  `owner` is the caller's name, for the message.  `kind` is a prefix
/// of the path, for example for averages in a file.
inline void refuse_not_finite(std::optional<weight_place> const& bad, std::string const& owner,
                              std::string const& kind = {}) {
  if (bad) throw training_failure(owner + ": " + diverged_text(not_finite_text(bad, kind)));
}
}  // namespace detail

/// Throws training_failure if a weight is infinite or NaN.  `owner` is the caller's name, for the message.
template <holds_parameters Set>
void expect_finite_weights(Set const& parameters, std::string const& owner) {
  detail::refuse_not_finite(first_not_finite(parameters), owner);
}
/// Throws training_failure if a weight of a trainer is infinite or NaN.
template <class Learner>
  requires requires(Learner const& learner) {
    requires holds_parameters<std::remove_cvref_t<decltype(learner.parameters())>>;
  }
void expect_finite_weights(Learner const& learner, std::string const& owner) {
  expect_finite_weights(learner.parameters(), owner);
}

}  // namespace triad
