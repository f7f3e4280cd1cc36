// Finds the proof path of an answer, and shows it as text and as a picture.  A proof path consists of the middle people
// with the largest attention weights.
// SPDX-License-Identifier: Apache-2.0
//
// Layer t computes edge (i, j) from the pairs (i, l), (l, j) of the layer before, with weights alpha(l) that sum to 1
// over l.  The proof is found from the last layer to the first.  In the last layer, the l with the largest weight
// splits the edge of the question into two halves.  In the layer before, each half is split in the same way, until a
// half is a fact of the story.  If the l with the largest weight is i or j, the layer copied the edge.  Then the search
// continues with the same edge in the layer before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "shared/report/printed.hpp"
#include "shared/report/svg_plot.hpp"

namespace triad::programs::graphs {

struct named_fact {
  int from;
  int to;
  std::string label;
};

/// The input of a proof.  `layers[t]` maps an edge (i, j) to its weights over all people, averaged or summed over heads
/// by the caller.  layers[0] is the first layer.  An edge that is not in the map is not split.
struct proof_input {
  std::vector<std::string> people;  // their names
  std::vector<named_fact> facts;
  int from = 0;
  int to = 0;
  std::string answer;
  std::vector<std::map<std::pair<int, int>, std::vector<double>>> layers;
};

/// One split of the proof.  The largest weight of edge (from, to) is that of the pair (from, middle), (middle, to).
struct proof_step {
  int layer;  // from 1
  int from;
  int middle;
  int to;
  double weight;  // weight of `middle`
  int depth;      // number of splits above this one; 0: it splits the edge of the question
  int second;     // the node with the second largest weight, or -1
  double second_weight;
};

/// Returns the splits from the answer down to the facts.  Each split is followed by the splits of its first half, then
/// by the splits of its second half.
inline std::vector<proof_step> find_proof(proof_input const& input, int deepest = 32) {
  std::vector<proof_step> steps;
  auto const told = [&](int i, int j) {
    return std::any_of(input.facts.begin(), input.facts.end(),
                       [&](named_fact const& f) { return f.from == i && f.to == j; });
  };
  auto const follow = [&](auto const& self, int layer, int i, int j, int depth) -> void {
    for (; layer > 0 && depth < deepest; --layer) {
      auto const& edges = input.layers[static_cast<std::size_t>(layer) - 1];
      auto const at = edges.find({i, j});
      if (at == edges.end() || at->second.empty()) return;
      auto const& weights = at->second;
      int best = 0;
      int second = -1;
      for (int l = 1; l < static_cast<int>(weights.size()); ++l) {
        auto const weight = [&](int person) { return weights[static_cast<std::size_t>(person)]; };
        if (weight(l) > weight(best)) {
          second = best;
          best = l;
        } else if (second < 0 || weight(l) > weight(second)) {
          second = l;
        }
      }
      if (best == i || best == j) continue;  // the edge was copied, not split
      steps.push_back({layer, i, best, j, weights[static_cast<std::size_t>(best)], depth, second,
                       second < 0 ? 0 : weights[static_cast<std::size_t>(second)]});
      if (!told(i, best)) self(self, layer - 1, i, best, depth + 1);
      if (!told(best, j)) self(self, layer - 1, best, j, depth + 1);
      return;
    }
  };
  follow(follow, static_cast<int>(input.layers.size()), input.from, input.to, 0);
  return steps;
}

namespace detail {

inline std::string const& name_of_person(proof_input const& input, int person) {
  static std::string const unknown = "?";
  auto const i = static_cast<std::size_t>(person);
  return person >= 0 && i < input.people.size() ? input.people[i] : unknown;
}

inline std::string const* told_label(proof_input const& input, int from, int to) {
  std::string const* label = nullptr;
  for (auto const& f : input.facts)
    if (f.from == from && f.to == to) label = &f.label;  // if there are several facts, the last counts
  return label;
}

}  // namespace detail

/// Returns the proof as indented lines, from the answer down to the facts.  Edges have the form "0 -left-> 1".
inline std::string proof_text(proof_input const& input, std::vector<proof_step> const& steps) {
  auto const name = [&](int person) { return printable_name(detail::name_of_person(input, person)); };
  auto const edge = [&](int from, std::string const& label, int to) {
    return name(from) + " -" + printable_name(label) + "-> " + name(to);
  };
  std::string text = edge(input.from, input.answer, input.to) + ", because\n";
  auto const fact = [&](int from, int to, int depth) {
    if (auto const* label = detail::told_label(input, from, to))
      text += std::string(2 * static_cast<std::size_t>(depth) + 4, ' ') + edge(from, *label, to) + " (given)\n";
  };
  for (std::size_t s = 0; s < steps.size(); ++s) {
    auto const& step = steps[s];
    text += std::string(2 * static_cast<std::size_t>(step.depth) + 2, ' ') + name(step.from) + " - " + name(step.to) +
            " by way of " + name(step.middle) + "  (layer " + std::to_string(step.layer) + ", weight " +
            programs::detail::number(step.weight);
    if (step.second_weight >= 0.1)
      text += "; then " + name(step.second) + ", " + programs::detail::number(step.second_weight);
    text += ")\n";
    fact(step.from, step.middle, step.depth);
    fact(step.middle, step.to, step.depth);
  }
  if (steps.empty()) text += "  no node between stands out: the edge was never split\n";
  return text;
}

/// Draws the proof.  The people stand in a row.  The facts are drawn below the row, and each half of a split is an arc
/// above the row.  The larger the weight of the split, the darker the arc.
inline std::string proof_svg(proof_input const& input, std::vector<proof_step> const& steps) {
  using programs::detail::number;
  using programs::detail::text_at;
  double const gap = 104, margin = 64, radius = 17;
  int const people = static_cast<int>(input.people.size());
  auto const x = [&](int person) { return margin + gap * person; };
  auto const lift = [&](int from, int to) { return 26.0 + 22.0 * std::abs(from - to); };  // height of the top of an arc
  int widest = std::abs(input.from - input.to);
  for (auto const& s : steps) widest = std::max({widest, std::abs(s.from - s.middle), std::abs(s.middle - s.to)});
  double longest_fact = 1;
  for (auto const& f : input.facts) longest_fact = std::max(longest_fact, static_cast<double>(std::abs(f.from - f.to)));
  double const row = 64 + lift(0, widest);
  double const width = 2 * margin + gap * std::max(people - 1, 1);
  double const height = row + 70 + 22 * longest_fact;

  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(width) + ' ' + number(height) +
      "\" width=\"" + number(width) + "\" height=\"" + number(height) +
      "\" font-family=\"Helvetica, Arial, DejaVu Sans, sans-serif\" font-size=\"12\" fill=\"#222\">\n"
      "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
      "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#888\"/></marker></defs>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  svg += text_at(margin - radius, 26, "font-size=\"15\" font-weight=\"bold\"",
                 detail::name_of_person(input, input.from) + " -" + input.answer + "-> " +
                     detail::name_of_person(input, input.to));
  // Draws an arc above (side = -1) or below (side = 1) the row.  A quadratic curve reaches half the height of its
  // control point.
  auto const arc = [&](int from, int to, int side, double height_of_arc, std::string const& attributes) {
    double const y = row + side * radius;
    return "<path d=\"M" + number(x(from)) + ' ' + number(y) + 'Q' + number((x(from) + x(to)) / 2) + ' ' +
           number(y + side * 2 * height_of_arc) + ' ' + number(x(to)) + ' ' + number(y) + "\" fill=\"none\" " +
           attributes + "/>\n";
  };
  svg += arc(input.from, input.to, -1, lift(input.from, input.to),
             "stroke=\"#d55e00\" stroke-width=\"2\" stroke-dasharray=\"6 5\"");
  std::map<std::pair<int, int>, double> halves;  // the largest weight of a split that uses the half
  for (auto const& s : steps)
    for (auto const& half : {std::pair{s.from, s.middle}, std::pair{s.middle, s.to}})
      halves[half] = std::max(halves[half], s.weight);
  for (auto const& [half, weight] : halves)
    svg +=
        arc(half.first, half.second, -1, lift(half.first, half.second),
            "stroke=\"#0072b2\" stroke-width=\"2.5\" stroke-opacity=\"" + number(std::clamp(weight, 0.08, 1.0)) + "\"");
  for (auto const& f : input.facts) {
    double const drop = 22.0 * std::abs(f.from - f.to);
    svg += arc(f.from, f.to, 1, drop, "stroke=\"#888\" marker-end=\"url(#tip)\"");
    svg += text_at((x(f.from) + x(f.to)) / 2, row + radius + drop + 14, "text-anchor=\"middle\"", f.label);
  }
  for (int person = 0; person < people; ++person) {
    bool const asked = person == input.from || person == input.to;
    svg += "<circle cx=\"" + number(x(person)) + "\" cy=\"" + number(row) + "\" r=\"" + number(radius) + "\" fill=\"" +
           (asked ? "#fde3d3" : "#eef4f9") + "\" stroke=\"" + (asked ? "#d55e00" : "#0072b2") + "\"/>\n";
    svg += text_at(x(person), row + 4, "text-anchor=\"middle\"", detail::name_of_person(input, person));
  }
  return svg + "</svg>\n";
}

/// Writes the picture to a file.  Throws data_error if this fails.
inline void write_proof_svg(std::string const& path, proof_input const& input, std::vector<proof_step> const& steps) {
  first_writes(path, proof_svg(input, steps));
}

}  // namespace triad::programs::graphs
