// The paper's table for the Edge Transformer on CLUTRR: accuracy at k = 6..10, mean and standard error of 10 runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "../common/svg_plot.hpp"
#include "options.hpp"

namespace clutrr {

/// The published figures that a run of these options can be held against, if there are any.
inline std::optional<triad::examples::series> paper_curve(options const& o) {
  if (o.model != "edge-transformer" || o.attention != triad::triangle_form::full || o.untied || o.paper_form) return std::nullopt;
  using triad::examples::series;
  if (o.preset == "paper-k234")
    return series{"paper (10 runs)", {6, 7, 8, 9, 10}, {.981, .979, .953, .923, .921}, {.003, .007, .015, .015, .015}, true};
  if (o.preset == "paper-k23")
    return series{"paper (10 runs)", {6, 7, 8, 9, 10}, {.820, .743, .669, .618, .581}, {.020, .024, .026, .029, .028}, true};
  return std::nullopt;
}

}  // namespace clutrr
