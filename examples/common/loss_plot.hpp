// The loss of every epoch of several runs as a plot, and what their weights were worth.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "svg_plot.hpp"

namespace triad::examples {

namespace detail {

/// values(run): one for each epoch.
template <class Runs, class Values>
void add_epochs(plot& p, Runs const& runs, std::uint64_t first_seed, Values const& values) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    series s{"seed " + std::to_string(first_seed + i), {}, values(runs[i]), {}, false, false};
    for (std::size_t e = 0; e < s.y.size(); ++e) s.x.push_back(static_cast<double>(e + 1));
    p.lines.push_back(std::move(s));
  }
}

}  // namespace detail

/// runs: each with the `losses` of its epochs, of seeds first_seed, first_seed + 1, ...
template <class Runs>
plot loss_plot(Runs const& runs, std::uint64_t first_seed, std::string const& what) {
  plot loss{"Training loss", "epoch", what, {}, 0.0, {}};
  detail::add_epochs(loss, runs, first_seed, [](auto const& r) { return r.losses; });
  return loss;
}

/// The same of their `validations`, parts of one.
template <class Runs>
plot validation_plot(Runs const& runs, std::uint64_t first_seed, std::string const& what) {
  plot accuracy{"Validation accuracy", "epoch", what, {}, 0.0, 1.0};
  detail::add_epochs(accuracy, runs, first_seed, [](auto const& r) { return r.validations; });
  return accuracy;
}

}  // namespace triad::examples
