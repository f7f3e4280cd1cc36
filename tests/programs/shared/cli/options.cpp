// Tests the list of options: which options are stored, which a resumed run must share, and which determine the shape of
// a model. Also tests the seeds of generated test data.
// SPDX-License-Identifier: Apache-2.0
#include "shared/cli/options.hpp"

#include <cstdint>
#include <string>

#include "shared/cli/record.hpp"
#include "tests/catch.hpp"

namespace programs_options_tests {

using namespace triad::programs;
using triad::test::contains;

struct small_options : stack_options {
  bool one_way = false, late = false;
  int near = 16;
  std::string kind = "none";

  small_options() { model = "plain", layers = 2; }
  void each(option_list& f) override {
    f("model", &model, "").one_of({"plain", "other"}).shapes();
    stack_options::each(f);
    f("one-way", &one_way, "").shapes_as("direction", "both", "one");
    f("late", &late, "").newer().shapes();
    f("near", &near, "").newer("16").shapes();
    f("kind", &kind, "").newer("none").shapes();
    f("sentence", &kind, "").only({"predict"});
  }
};

TEST_CASE("one list says what is kept in config.toml, what a resumed run must have, and what shapes a model") {
  small_options o;
  auto const toml = to_toml(o), settings = training_settings(o);
  CHECK_THAT(toml, contains("model = \"plain\"\n") && contains("threads = 0\n") && contains("late = false\n"));
  CHECK_THAT(toml, !contains("preset") && !contains("kind") && !contains("sentence") && !contains("\nout"));
  CHECK_THAT(settings, contains("layers = 2\n") && !contains("threads") && !contains("late") && !contains("near"));
  CHECK(configuration_of(o) == nlohmann::json{{"model", "plain"},
                                              {"direction", "both"},
                                              {"layers", 2},
                                              {"width", 64},
                                              {"heads", 4},
                                              {"hidden_factor", 4},
                                              {"tied", false}});
  o.late = o.one_way = true, o.kind = "new", o.near = 0;
  CHECK_THAT(training_settings(o), contains("late = true\n") && contains("kind = \"new\"\n"));
  CHECK(configuration_of(o)["direction"] == "one");
  CHECK(configuration_of(o)["kind"] == "new");
  CHECK(configuration_of(o)["near"] == 0);
}

TEST_CASE("no option has the name that version 0.1 had for another one, which config files are read by") {
  option_list list;
  int value = 0;
  CHECK_THROWS_WITH(list("longest", &value, ""), contains("option --longest: ") && contains("--max-length"));
  CHECK(list("max-length", &value, "").name == "max-length");
}

TEST_CASE("a seed that draws what a model is measured on trains none of the runs") {
  small_options o;
  o.seed = 5, o.seeds = 3;
  refuse_seed(o, 4, "tests"), refuse_seed(o, 8, "tests");
  for (std::uint64_t const seed : {5, 7})
    CHECK_THROWS_WITH(refuse_seed(o, seed, "tests"), contains("the tests are drawn by it, and would be trained on"));
  o.seed = 0, o.seeds = 1;
  refuse_seed(o, std::uint64_t(-1), "tests");
}

}  // namespace programs_options_tests
