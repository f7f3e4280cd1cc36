// Shows the proof path of one answer as an HTML page. The page has the steps of the proof, and the attention weights of
// every edge by layer and head.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "proof.hpp"
#include "shared/report/page.hpp"

namespace triad::programs::graphs {

/// The page's content apart from the proof.
struct proof_details {
  // For each layer, head and edge (i, j), row by row: the attention weight of each middle node in thousandths.
  std::vector<std::vector<std::vector<int>>> weights;
  std::vector<std::pair<std::string, double>> answers;  // the likeliest first, with their probabilities
  std::string right;                                    // the right answer, or empty if it is unknown
};

inline nlohmann::ordered_json proof_page(proof_input const& input, std::vector<proof_step> const& steps,
                                         proof_details const& more) {
  using json = nlohmann::ordered_json;
  json facts = json::array(), taken = json::array(), answers = json::array(), lead = json::array();
  for (auto const& f : input.facts) facts.push_back({{"from", f.from}, {"to", f.to}, {"label", f.label}});
  for (auto const& s : steps)
    taken.push_back({{"layer", s.layer},
                     {"from", s.from},
                     {"middle", s.middle},
                     {"to", s.to},
                     {"weight", s.weight},
                     {"depth", s.depth}});
  for (auto const& [name, weight] : more.answers) answers.push_back({{"name", name}, {"weight", weight}});
  if (!more.right.empty()) lead.push_back("The right answer: " + more.right);
  json view{{"kind", "triangles"},
            {"names", input.people},
            {"facts", std::move(facts)},
            {"from", input.from},
            {"to", input.to},
            {"answers", std::move(answers)},
            {"attention", attention_view(more.weights, static_cast<int>(input.people.size()))},
            {"steps", std::move(taken)}};
  return {{"title", detail::name_of_person(input, input.from) + " -" + input.answer + "-> " +
                        detail::name_of_person(input, input.to)},
          {"lead", std::move(lead)},
          {"views", json::array({std::move(view)})}};
}

}  // namespace triad::programs::graphs
