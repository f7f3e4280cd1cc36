// Line plots as SVG, without any dependency: several series with error bars, a legend, round ticks and a light grid.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/processes/first_writes.hpp"
#include "triad/core/finite.hpp"

namespace triad::programs {

struct series {
  std::string name;  // name in the legend; empty: no entry
  std::vector<double> x;
  std::vector<double> y;        // a value that is not finite interrupts the line
  std::vector<double> error{};  // half the length of the error bar at each point; empty: no bars
  bool dashed = false;          // for values from elsewhere, such as from a paper
  bool points = true;
};

struct plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<series> lines{};
  std::optional<double> y_from{};  // lowest and highest value on the axis; empty: those of the data
  std::optional<double> y_to{};
};

namespace detail {

/// Returns a number with at most `decimals` decimals and without trailing zeros.
inline std::string number(double value, int decimals = 2) {
  std::array<char, 352> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  std::string result(text.data());
  if (result.find('.') != std::string::npos) {
    result.erase(result.find_last_not_of('0') + 1);
    if (result.back() == '.') result.pop_back();
  }
  return result == "-0" ? "0" : result;
}

inline std::string escaped(std::string_view text) {
  std::string result;
  for (char const c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return result;
}

inline std::string text_at(double x, double y, std::string_view attributes, std::string_view text) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " + std::string(attributes) + ">" + escaped(text) +
         "</text>\n";
}

/// Returns an SVG picture of this size with a white background.
inline std::string picture(double width, double height, std::string const& body) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" + number(height) +
         "\" viewBox=\"0 0 " + number(width) + " " + number(height) +
         "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" +
         body + "</svg>\n";
}

/// An axis from `low` to `high`.  It has at most `most` ticks, at multiples of 1, 2 or 5 times a power of ten.
struct axis {
  double low;
  double high;
  double step;

  axis(double from, double to, int most, bool whole) : low(from), high(to) {
    if (!(high > low)) {
      double const margin = std::max(std::abs(low) * 0.1, 1e-9);
      low -= margin;
      high += margin;
    }
    step = std::pow(10.0, std::floor(std::log10((high - low) / most)));
    for (int i = 0; (high - low) / step > most; ++i) step *= i % 3 == 1 ? 2.5 : 2;  // steps of 1, 2, 5, 10, ...
    if (whole) step = std::max(1.0, std::round(step));
  }

  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> result;
    for (double i = std::ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) result.push_back(i * step);
    return result;
  }

  [[nodiscard]] std::string label(double tick) const {
    double const size = std::max(std::abs(low), std::abs(high));
    if (size >= 1e7 || size < 1e-5) {
      std::array<char, 32> text{};
      std::snprintf(text.data(), text.size(), "%.3g", tick);
      return text.data();
    }
    return number(tick, std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9))));
  }
};

}  // namespace detail

/// Returns the plot as the text of an SVG file.
inline std::string to_svg(plot const& p) {
  using detail::number;
  using detail::text_at;
  // Colours that colour-blind readers can tell apart (Okabe and Ito).
  static constexpr std::array<char const*, 7> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#e69f00", "#56b4e9", "#555555"};
  double const width = 720, left = 72, right = 24, top = 48, plot_height = 340;
  std::size_t const named = static_cast<std::size_t>(
      std::count_if(p.lines.begin(), p.lines.end(), [](series const& s) { return !s.name.empty(); }));
  double const legend_top = top + plot_height + 62;
  double const height = legend_top + 20 * static_cast<double>((named + 1) / 2);

  double const infinite = std::numeric_limits<double>::infinity();
  double x_low = infinite, x_high = -infinite, y_low = infinite, y_high = -infinite;
  bool whole = true;
  for (auto const& s : p.lines)
    for (std::size_t i = 0; i < std::min(s.x.size(), s.y.size()); ++i) {
      if (!is_finite(s.x[i]) || !is_finite(s.y[i])) continue;
      double const bar = i < s.error.size() && is_finite(s.error[i]) ? s.error[i] : 0;
      x_low = std::min(x_low, s.x[i]);
      x_high = std::max(x_high, s.x[i]);
      y_low = std::min(y_low, s.y[i] - bar);
      y_high = std::max(y_high, s.y[i] + bar);
      whole = whole && s.x[i] == std::round(s.x[i]);
    }
  // nothing to draw
  if (x_low > x_high) {
    x_low = y_low = 0;
    x_high = y_high = 1;
  }
  detail::axis const xs(x_low, x_high, 10, whole);
  detail::axis ys(p.y_from.value_or(y_low), p.y_to.value_or(y_high), 6, false);
  if (!p.y_from) ys.low = std::floor(ys.low / ys.step + 1e-9) * ys.step;
  if (!p.y_to) ys.high = std::ceil(ys.high / ys.step - 1e-9) * ys.step;
  auto const px = [&](double x) { return left + (x - xs.low) / (xs.high - xs.low) * (width - left - right); };
  auto const py = [&](double y) {
    return top + (ys.high - std::clamp(y, ys.low, ys.high)) / (ys.high - ys.low) * plot_height;
  };
  auto const line = [](double x1, double y1, double x2, double y2, std::string const& attributes) {
    return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) +
           "\" " + attributes + "/>\n";
  };

  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(width) + ' ' + number(height) +
                    "\" width=\"" + number(width) + "\" height=\"" + number(height) +
                    "\" font-family=\"Helvetica, Arial, DejaVu Sans, sans-serif\" font-size=\"13\" fill=\"#222\">\n"
                    "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  svg += text_at(left, 28, "font-size=\"16\" font-weight=\"bold\"", p.title);
  for (double const t : ys.ticks()) {
    svg += line(left, py(t), width - right, py(t), "stroke=\"#e6e6e6\"");
    svg += text_at(left - 8, py(t) + 4, "text-anchor=\"end\"", ys.label(t));
  }
  for (double const t : xs.ticks()) {
    svg += line(px(t), top, px(t), top + plot_height, "stroke=\"#f2f2f2\"");
    svg += text_at(px(t), top + plot_height + 20, "text-anchor=\"middle\"", xs.label(t));
  }
  svg += line(left, top + plot_height, width - right, top + plot_height, "stroke=\"#888\"");
  svg += text_at((left + width - right) / 2, top + plot_height + 42, "text-anchor=\"middle\"", p.x_label);
  svg += text_at(0, 0,
                 "text-anchor=\"middle\" transform=\"translate(20 " + number(top + plot_height / 2) + ") rotate(-90)\"",
                 p.y_label);

  std::size_t entry = 0;
  for (std::size_t n = 0; n < p.lines.size(); ++n) {
    auto const& s = p.lines[n];
    std::string const colour = colours[n % colours.size()];
    std::string const stroke =
        "stroke=\"" + colour + "\" fill=\"none\" stroke-width=\"2\"" + (s.dashed ? " stroke-dasharray=\"6 5\"" : "");
    std::string path;
    std::string marks;
    bool drawing = false;
    for (std::size_t i = 0; i < std::min(s.x.size(), s.y.size()); ++i) {
      if (!is_finite(s.x[i]) || !is_finite(s.y[i])) {
        drawing = false;
        continue;
      }
      double const x = px(s.x[i]), y = py(s.y[i]);
      path += drawing ? 'L' : 'M';
      path += number(x) + ' ' + number(y);
      drawing = true;
      if (i < s.error.size() && is_finite(s.error[i]) && s.error[i] > 0) {
        double const low = py(s.y[i] - s.error[i]), high = py(s.y[i] + s.error[i]);
        marks += "<path d=\"M" + number(x) + ' ' + number(low) + 'V' + number(high) + 'M' + number(x - 4) + ' ' +
                 number(low) + "h8M" + number(x - 4) + ' ' + number(high) + "h8\" stroke=\"" + colour +
                 "\" fill=\"none\"/>\n";
      }
      if (s.points)
        marks += "<circle cx=\"" + number(x) + "\" cy=\"" + number(y) + "\" r=\"3.2\" fill=\"" +
                 (s.dashed ? "#fff" : colour) + "\" stroke=\"" + colour + "\"/>\n";
    }
    svg += "<path d=\"" + path + "\" " + stroke + " stroke-linejoin=\"round\"/>\n" + marks;
    if (s.name.empty()) continue;
    double const x = left + (entry % 2 == 0 ? 0 : (width - left - right) / 2);
    double const y = legend_top + 20 * static_cast<double>(entry / 2);
    svg += line(x, y - 4, x + 26, y - 4, stroke) + text_at(x + 34, y, "", s.name);
    ++entry;
  }
  return svg + "</svg>\n";
}

/// Writes a plot, a bar chart or a heat map to a file.  Throws data_error on failure.
template <class Picture>
void write_svg(std::string const& path, Picture const& picture) {
  first_writes(path, to_svg(picture));
}

}  // namespace triad::programs
