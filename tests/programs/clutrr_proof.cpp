// Tests the proof path that is found from attention weights.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "graphs/proof.hpp"
#include "tests/catch.hpp"

namespace programs_clutrr_proof_tests {

namespace graphs = triad::programs::graphs;

// The story 0 -brother-> 1 -father-> 2 -mother-> 3 has the proof ((0 1) (1 2)) (2 3). The last layer only copies the
// edge.
graphs::proof_input story() {
  graphs::proof_input input;
  input.people = {"Ann", "Bob", "Carl", "Dora <3"};
  input.facts = {{0, 1, "brother"}, {1, 2, "father"}, {2, 3, "mother"}};
  input.from = 0;
  input.to = 3;
  input.answer = "grandmother";
  input.layers.resize(3);
  input.layers[2][{0, 3}] = {0.9, 0.0, 0.1, 0.0};
  input.layers[1][{0, 3}] = {0.0, 0.2, 0.8, 0.0};
  input.layers[0][{0, 2}] = {0.0, 1.0, 0.0, 0.0};
  return input;
}

TEST_CASE("a proof is followed from the answer to the facts") {
  auto const input = story();
  auto const steps = graphs::find_proof(input);
  REQUIRE(steps.size() == 2);
  CHECK((steps[0].layer == 2 && steps[0].from == 0 && steps[0].middle == 2 && steps[0].to == 3));
  CHECK((steps[0].second == 1 && steps[0].second_weight == 0.2));
  CHECK((steps[1].layer == 1 && steps[1].from == 0 && steps[1].middle == 1 && steps[1].to == 2 && steps[1].depth == 1));
  CHECK(graphs::proof_text(input, steps) ==
        "Ann -grandmother-> Dora <3, because\n"
        "  Ann - Dora <3 by way of Carl  (layer 2, weight 0.8; then Bob, 0.2)\n"
        "    Carl -mother-> Dora <3 (given)\n"
        "    Ann - Carl by way of Bob  (layer 1, weight 1)\n"
        "      Ann -brother-> Bob (given)\n"
        "      Bob -father-> Carl (given)\n");
  auto const svg = graphs::proof_svg(input, steps);
  CHECK(svg.find("Dora &lt;3") != std::string::npos);
  CHECK(svg.find("stroke-opacity=\"0.8\"") != std::string::npos);
  CHECK(graphs::find_proof(input, 1).size() == 1);
}

TEST_CASE("a proof without weights or people is empty, not an error") {
  graphs::proof_input const nothing;
  auto const steps = graphs::find_proof(nothing);
  CHECK(steps.empty());
  CHECK_FALSE(graphs::proof_text(nothing, steps).empty());
  CHECK_FALSE(graphs::proof_svg(nothing, steps).empty());
}

}  // namespace programs_clutrr_proof_tests
