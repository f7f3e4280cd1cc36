// The paper's table for the Edge Transformer on CLUTRR: accuracy at k = 6..10, mean and standard error of 10 runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "../common/svg_plot.hpp"
#include "options.hpp"

namespace clutrr {

/// The published figures that a run of these options can be held against, if there are any: where nothing but the seed
/// is given beside the preset that decides what a run computes.
inline std::optional<triad::examples::series> paper_curve(options const& o) {
  options as_published;
  as_published.preset = o.preset;
  apply_preset(as_published);
  as_published.seed = o.seed;
  if (training_settings(o) != training_settings(as_published)) return std::nullopt;
  using triad::examples::series;
  if (o.preset == "paper-k234")
    return series{
        "paper (10 runs)", {6, 7, 8, 9, 10}, {.981, .979, .953, .923, .921}, {.003, .007, .015, .015, .015}, true};
  if (o.preset == "paper-k23")
    return series{
        "paper (10 runs)", {6, 7, 8, 9, 10}, {.820, .743, .669, .618, .581}, {.020, .024, .026, .029, .028}, true};
  return std::nullopt;
}

}  // namespace clutrr
