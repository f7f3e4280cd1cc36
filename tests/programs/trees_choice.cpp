// Tests the two options of trees that say how operations and how arguments are chosen: their text, and how they are
// stored.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "trees/models.hpp"
#include "trees/trained.hpp"
#include "triad/reference/reference.hpp"

namespace programs_trees_choice_tests {

using namespace triad::programs::trees;

TEST_CASE("one choice is for operations and arguments, unless one has its own, and a run's settings say so") {
  options o;
  auto const says = [&](std::string const& operations, std::string const& arguments, std::string const& both) {
    CAPTURE(o.choice, o.operation_choice, o.argument_choice);
    CHECK(choice_of_operations(o) == operations);
    CHECK(choice_of_arguments(o) == arguments);
    CHECK(choice_of_both(o) == both);
    auto const toml = to_toml(o), settings = training_settings(o);
    std::string const one = "\nchoice = \"" + both + "\"\ninterpreter = ";
    auto const two =
        "\noperation-choice = \"" + operations + "\"\nargument-choice = \"" + arguments + "\"\ninterpreter = ";
    for (auto const* text : {&toml, &settings}) {
      CHECK((text->find(one) != std::string::npos) == !both.empty());
      CHECK((text->find(two) != std::string::npos) == both.empty());
    }
    auto const kept = triad::programs::configuration_of(o)["choice"];  // the form in a checkpoint
    if (both.empty())
      CHECK(kept == nlohmann::json{{"operations", operations}, {"arguments", arguments}});
    else
      CHECK(kept == both);
    options read;
    read.operation_choice = choice_in(kept, "operations");
    read.argument_choice = choice_in(kept, "arguments");
    CHECK(choice_of_operations(read) == operations);
    CHECK(choice_of_arguments(read) == arguments);
  };
  says("softmax", "softmax", "softmax");
  o.choice = "gumbel";
  says("gumbel", "gumbel", "gumbel");
  o.choice = "gumbel-released";
  says("gumbel", "gumbel-released", "gumbel-released");
  o.operation_choice = "softmax";
  says("softmax", "gumbel-released", "");
  o.argument_choice = "gumbel";
  says("softmax", "gumbel", "");
  o.argument_choice = "softmax";
  says("softmax", "softmax", "softmax");
  o.operation_choice = "gumbel";
  says("gumbel", "softmax", "");
  o.argument_choice = "gumbel-released";
  says("gumbel", "gumbel-released", "gumbel-released");
}

TEST_CASE("what a checkpoint says of choices is a name for both, or a name for each") {
  for (auto const* text : {"null", "1", "\"hard\"", "\"\"", "[]", "{}", "{\"operations\": \"hard\"}",
                           "{\"operations\": null}", "{\"operations\": \"gumbel-released\"}"}) {
    CAPTURE(text);
    CHECK(choice_in(nlohmann::json::parse(text), "operations").empty());
  }
  CHECK(choice_in("gumbel-released", "operations") == "gumbel-released");
  CHECK(choice_in("hard", "arguments").empty());
  CHECK(choice_in({{"operations", "softmax"}}, "arguments").empty());
}

TEST_CASE("the command line's choice for both is above a file's for one, and one for one above a file's for both") {
  options o;
  o.choice = "softmax", o.argument_choice = "gumbel";
  o.given = {"choice"}, o.configured = {"argument-choice"};
  o.settle();
  CHECK(choice_of_arguments(o) == "softmax");
  o.argument_choice = "gumbel";
  o.given = {"choice", "argument-choice"}, o.configured = {};
  o.settle();
  CHECK(choice_of_arguments(o) == "gumbel");
  o.given = {"argument-choice"}, o.configured = {"choice"};
  o.settle();
  CHECK(choice_of_arguments(o) == "gumbel");
  CHECK(choice_of_operations(o) == "softmax");
}

TEST_CASE("noise is the same for operations whether arguments have some or not, and the other way") {
  using noise = gumbel_noise<triad::reference::backend>;
  auto const drawn = [](std::string const& operations, std::string const& arguments, bool empty_tree = false) {
    options o;
    o.empty_tree = empty_tree;
    o.operation_choice = operations, o.argument_choice = arguments;
    noise made(2, 3, o, {});
    triad::tree_batch<float> in;
    in.sizes.batch = 3;
    in.empty_tree = empty_tree;
    made.add(in, 5);
    auto const values = [](auto const& view) {
      return std::vector<float>(view.data_handle(), view.data_handle() + view.size());
    };
    return std::pair(values(in.operation_noise), values(in.argument_noise));
  };
  auto const both = drawn("gumbel", "gumbel");
  CHECK(both.first.size() == 2 * 3 * 3);
  CHECK(both.second.size() == 2 * 3 * 8);
  auto const more = drawn("gumbel", "gumbel", true).second;  // with one more tree to choose from
  REQUIRE(more.size() == 2 * 3 * 12);
  CHECK(more[7] != 0);
  CHECK(more[8] == 0);  // in the first step, which has two choices
  CHECK(more.back() != 0);
  CHECK(drawn("gumbel", "softmax") == std::pair(both.first, std::vector<float>()));
  CHECK(drawn("softmax", "gumbel-released") == std::pair(std::vector<float>(), both.second));
}

}  // namespace programs_trees_choice_tests
