// SPDX-License-Identifier: Apache-2.0
#include "page.hpp"

#include <algorithm>
#include <cmath>

#include "shared/processes/first_writes.hpp"
#include "svg_plot.hpp"
#include "triad/core/finite.hpp"

namespace triad::programs {
namespace {

constexpr char style[] =
#include "page_style.inc"
    ;
// The script, in this order.
constexpr char script_parts[] =
#include "page_parts.inc"
    ;
constexpr char script_triangles_steps[] =
#include "page_triangles_steps.inc"
    ;
constexpr char script_arcs_graph_maps[] =
#include "page_arcs_graph_maps.inc"
    ;
constexpr char script_start[] =
#include "page_start.inc"
    ;

/// Returns JSON that can be put into a script element.  It has no '<', so no text in the data can end the element or
/// begin a comment.
std::string within_script(nlohmann::ordered_json const& data) {
  std::string safe;
  for (char const c : data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) {
    if (c == '<')
      safe += "\\u003c";
    else if (c == '>')
      safe += "\\u003e";
    else if (c == '&')
      safe += "\\u0026";
    else
      safe += c;
  }
  return safe;
}

}  // namespace

std::string to_page(nlohmann::ordered_json const& data) {
  // The content security policy forbids the page to load anything, so it shows only what is in the file.
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
         "script-src 'unsafe-inline'\">\n<title>" +
         detail::escaped(data.value("title", "triad")) + "</title>\n<style>" + style +
         "</style>\n</head>\n<body>\n<header><h1 id=\"title\"></h1><div id=\"lead\"></div>"
         "<div id=\"tabs\" role=\"tablist\"></div></header>\n<main id=\"views\"></main>\n"
         "<footer><p>Point at a line, a node or a cell to see its weights, or tap it; a click or <kbd>Enter</kbd> "
         "keeps "
         "it. <kbd>Tab</kbd> goes from one to the next, <kbd>\u2190</kbd> <kbd>\u2192</kbd> step, <kbd>\u2191</kbd> "
         "<kbd>\u2193</kbd> choose.</p><noscript><p>This page needs JavaScript.</p></noscript></footer>\n"
         "<script type=\"application/json\" id=\"data\">" +
         within_script(data) + "</script>\n<script>" + script_parts + script_triangles_steps + script_arcs_graph_maps +
         script_start + "</script>\n</body>\n</html>\n";
}

void write_page(std::string const& path, nlohmann::ordered_json const& data) { first_writes(path, to_page(data)); }

int thousandths(double weight) {
  return is_finite(weight) ? static_cast<int>(std::lround(1000 * std::clamp(weight, 0.0, 1.0))) : 0;
}

nlohmann::ordered_json attention_view(std::vector<std::vector<std::vector<int>>> const& weights, int nodes) {
  return {{"layers", weights.size()},
          {"heads", weights.empty() ? 0 : weights.front().size()},
          {"nodes", nodes},
          {"weights", weights}};
}

}  // namespace triad::programs
