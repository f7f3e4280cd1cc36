// Tests that the first difference of two JSON values is reported with its path and both values.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/json_difference.hpp"

#include "tests/catch.hpp"

namespace io_json_difference_tests {

using nlohmann::json;
using triad::json_difference;

TEST_CASE("values that are equal have no difference, and others are reported by their path") {
  json const a = {{"layers", 4}, {"layer", {{"width", 32}, {"norms", {1, 2}}}}};
  CHECK(json_difference(a, a).empty());
  auto const other = [&](auto const& change) {
    json b = a;
    change(b);
    return json_difference(a, b);
  };
  CHECK(other([](json& b) { b["layers"] = 5; }) == "layers: checkpoint has 4, this program wants 5");
  CHECK(other([](json& b) { b["layer"]["width"] = "x"; }) ==
        "layer.width: checkpoint has 32, this program wants \"x\"");
  CHECK(other([](json& b) { b["layer"]["norms"][1] = 3; }) == "layer.norms[1]: checkpoint has 2, this program wants 3");
  CHECK(other([](json& b) { b["layer"]["norms"].push_back(3); }) ==
        "layer.norms: checkpoint has 2 entries, this program wants 3");
  CHECK(other([](json& b) { b["tied"] = true; }) == "tied: checkpoint has none, this program wants true");
  CHECK(other([](json& b) { b.erase("layers"); }) == "layers: checkpoint has 4, this program wants none");
  CHECK(json_difference(1, 2) == "checkpoint has 1, this program wants 2");
}

}  // namespace io_json_difference_tests
