// Tests SVG pictures: bar charts and line plots.
// SPDX-License-Identifier: Apache-2.0
#include "shared/report/svg_plot.hpp"

#include <cstddef>
#include <limits>
#include <string>

#include "shared/report/svg_bars.hpp"
#include "tests/catch.hpp"

namespace programs_svg_plot_tests {

std::size_t count(std::string const& text, std::string const& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

TEST_CASE("a bar chart has a bar for every value, each as long as it says, and none for what was not measured") {
  double const none = std::numeric_limits<double>::quiet_NaN();
  auto const svg = triad::programs::to_svg(triad::programs::bar_chart{
      "a < b", {"one", "two"}, {{"first", {{"x", {1, 0.5}}, {"y", {none, 2}}}}, {"second", {}}}});
  CHECK(count(svg, "<rect") == 1 + 3 + 2);  // the background, bars, the legend
  CHECK(count(svg, "width=\"396\"") == 2);  // for the value 1, and for a value above 1
  CHECK(count(svg, "width=\"198\"") == 1);
  CHECK(count(svg, "a &lt; b") == 1);
  CHECK(count(svg, "nan") == 0);
}

TEST_CASE("a plot shows each point once and escapes what it is given") {
  triad::programs::plot p{"a < b & c", "k", "accuracy", {}, 0.0, 1.0};
  p.lines.push_back({"ours", {2, 3, 4}, {1.0, 0.5, 0.25}, {0, 0.1, 0.1}});
  p.lines.push_back({"paper", {2, 3, 4}, {0.9, std::numeric_limits<double>::quiet_NaN(), 0.7}, {}, true});
  auto const svg = triad::programs::to_svg(p);
  CHECK(count(svg, "<circle") == 5);
  CHECK(count(svg, "stroke-dasharray") == 2);  // the line, and its entry in the legend
  CHECK(count(svg, "a &lt; b &amp; c") == 1);
  CHECK(count(svg, "nan") == 0);
  CHECK(count(svg, ">0.6<") == 1);
  CHECK(svg.ends_with("</svg>\n"));
}

TEST_CASE("plots of nothing, of one point and of huge values have finite coordinates") {
  for (double const y : {0.0, 3.0, -7e-12, 1e300}) {
    triad::programs::plot p{"", "", "", {{"", {5}, {y}}}};
    auto const svg = triad::programs::to_svg(p);
    CHECK(count(svg, "nan") == 0);
    CHECK(count(svg, "inf") == 0);
    CHECK(svg.size() < 10000);
  }
  CHECK(count(triad::programs::to_svg(triad::programs::plot{}), "nan") == 0);
}

}  // namespace programs_svg_plot_tests
