// Tests the recipes of trees: which options a recipe sets, and the values that change from update to update, which are
// evenness and the weight of empty positions.
// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <utility>

#include "tests/catch.hpp"
#include "trees/models.hpp"
#include "trees/transforms/options.hpp"
#include "trees/trees.hpp"
#include "triad/core/errors.hpp"

namespace programs_trees_recipe_tests {

namespace transforms = triad::programs::transforms;
namespace trees = triad::programs::trees;

using triad::test::contains, triad::test::WithinAbs;

TEST_CASE("the robust recipe decides what is not given, and the published one nothing") {
  transforms::options published, robust, told;
  auto const before = published.rate;
  published.settle();
  CHECK(published.loss == "squared");
  CHECK(published.rate == before);
  CHECK(published.updates == 20000);
  CHECK(published.warmup == 10000);
  CHECK(published.attempts == 1);
  CHECK(published.first_rows == 0);
  CHECK(published.evenness == 0);
  CHECK(published.empty_weight == 1);
  CHECK(published.temperature == 1);
  CHECK(published.cooling == 0);
  robust.recipe = "robust";
  robust.settle();
  CHECK(robust.loss == "divergence");
  CHECK(robust.rate == 1e-3);
  CHECK(robust.warmup == 200);
  CHECK(robust.updates == 2000);
  CHECK(robust.batch == 8);
  CHECK(robust.attempts == 10);
  CHECK(robust.first_rows == 0.5);
  CHECK(robust.evenness == 1);
  CHECK(robust.even_updates == 1500);
  CHECK(published.recency == 0);
  CHECK(robust.empty_weight == 1);
  CHECK(robust.empty_updates == 0);
  CHECK(robust.temperature == 1);
  CHECK(robust.cooling == 0);
  CHECK(robust.steps == published.steps);
  told.recipe = "robust";
  told.loss = "squared", told.updates = 100, told.evenness = 0, told.empty_updates = 40;
  told.given = {"loss", "evenness"}, told.configured = {"updates", "empty-updates"};
  told.settle();
  CHECK(told.loss == "squared");
  CHECK(told.updates == 100);
  CHECK(told.even_updates == 0);
  CHECK(told.empty_weight == 0.2);
  CHECK(told.empty_updates == 40);
  CHECK(told.rate == 1e-3);
}

TEST_CASE("the long recipe is the robust one with what many steps need, and what is said counts") {
  transforms::options robust, o, told;
  robust.recipe = "robust", o.recipe = told.recipe = "long";
  robust.settle();
  o.settle();
  CHECK(robust.root == "scores");
  CHECK_FALSE(robust.empty_tree);
  CHECK(robust.recency == 0);
  CHECK(o.root == "distribution");
  CHECK(o.empty_tree);
  CHECK(o.loss == robust.loss);
  CHECK(o.rate == robust.rate);
  CHECK(o.batch == robust.batch);
  CHECK(o.attempts == robust.attempts);
  CHECK(o.updates == 4000);
  CHECK(o.evenness == 0.3);
  CHECK(o.even_updates == 2000);
  CHECK(o.recency == 4);
  CHECK(o.first_rows == 0.4);
  told.given = {"root", "empty-tree", "updates"}, told.updates = 100;
  told.settle();
  CHECK(told.root == "scores");
  CHECK_FALSE(told.empty_tree);
  CHECK(told.even_updates == 50);
  transforms::options even, recent, neither;
  even.recipe = "long", even.given = {"recency"};
  even.settle();
  CHECK(even.recency == 0);
  CHECK(even.even_updates == 2000);
  neither.recipe = "long", neither.given = {"evenness"};
  neither.settle();
  CHECK(neither.recency == 0);
  CHECK(neither.even_updates == 0);
  neither.given.insert("recency"), neither.recency = 3;
  neither.settle();
  CHECK(neither.recency == 3);
  CHECK(neither.evenness == 0);
  CHECK(neither.even_updates == 2000);
  transforms::options released;
  released.recipe = "long", released.choice = "gumbel-released", released.given = {"choice"};
  released.settle();
  CHECK(released.recency == 0);
  CHECK_FALSE(released.empty_tree);
  released.given.insert("empty-tree"), released.empty_tree = true;
  CHECK_THROWS_WITH(released.settle(), contains("are about choices among trees"));
  recent.recency = 2;
  CHECK_THROWS_WITH(recent.settle(), contains("--evenness or --recency above 0 and --even-updates"));
  recent.even_updates = 100;
  recent.settle();
  CHECK(recent.evenness == 0);
}

TEST_CASE("of your own data the robust recipe is the same, and the defaults cool choices that it does not") {
  trees::own_options own, preset;
  preset.settle();
  CHECK(preset.loss == "squared");
  CHECK(preset.updates == 2000);
  CHECK(preset.temperature == 10);
  CHECK(preset.cooling == 1200);
  CHECK(preset.evenness == 0);
  own.recipe = "robust";
  own.settle();
  CHECK(own.loss == "divergence");
  CHECK(own.temperature == 1);
  CHECK(own.cooling == 0);
  CHECK(own.evenness == 1);
  CHECK(own.even_updates == 1500);
  CHECK(own.updates == 2000);
  for (auto const* o : {&own, &preset}) {
    CHECK(o->rate == 1e-3);
    CHECK(o->warmup == 100);
  }
}

TEST_CASE("where one of temperature and cooling is said, or a preset has them, the robust recipe has a run that fits") {
  auto const settled = [](std::set<std::string> said, double temperature, int cooling, std::string choice = "softmax") {
    transforms::options o;
    o.preset = "small";
    apply_preset(o);
    CHECK(o.cooling == 8000);  // longer than the run of the recipe
    o.recipe = "robust", o.given = std::move(said), o.choice = std::move(choice);
    if (o.given.contains("temperature")) o.temperature = temperature;
    if (o.given.contains("cooling")) o.cooling = cooling;
    o.settle();
    CHECK(o.updates == 2000);
    return std::pair(o.temperature, o.cooling);
  };
  CHECK(settled({}, 0, 0) == std::pair(1.0, 0));
  CHECK(settled({"temperature"}, 30, 0) == std::pair(30.0, 1500));
  CHECK(settled({"temperature"}, 1, 0) == std::pair(1.0, 0));
  CHECK(settled({"cooling"}, 0, 1800) == std::pair(10.0, 1800));
  CHECK(settled({"cooling"}, 0, 0) == std::pair(1.0, 0));
  CHECK(settled({"temperature", "cooling"}, 5, 1900) == std::pair(5.0, 1900));
  CHECK(settled({"choice"}, 0, 0, "gumbel") == std::pair(1.0, 0));
}

TEST_CASE("the robust recipe sees the choice of the command line, not the config file's of one of the two") {
  trees::options o;
  o.recipe = "robust", o.choice = "softmax", o.operation_choice = o.argument_choice = "gumbel";
  o.given = {"choice"}, o.configured = {"operation-choice", "argument-choice"};
  o.settle();
  CHECK(o.operation_choice.empty());
  CHECK(o.argument_choice.empty());
  CHECK(o.temperature == 1);
}

TEST_CASE("over other roles, and with noise, the recipe trains on all rows at once, and short rows first are refused") {
  auto const refuses = [](trees::options o, char const* why) {
    o.recipe = "robust";
    o.settle();
    CHECK(o.first_rows == 0);
    o.given = {"first-rows"}, o.first_rows = 0.3;
    CHECK_THROWS_WITH(o.settle(), contains(why));
  };
  trees::options other, noisy;
  other.interpreter = "matrices", noisy.choice = "gumbel";
  refuses(other, "--first-rows is about --interpreter rows");
  refuses(noisy, "--first-rows is about --choice softmax");
}

TEST_CASE("a run of so few updates that nothing can fall in them has the recipe without that") {
  trees::options o;
  o.recipe = "robust", o.updates = 3, o.given = {"updates"};
  o.settle();
  CHECK(o.evenness == 0);
  CHECK(o.empty_weight == 1);
}

TEST_CASE("what falls in the updates of a run falls in those of every attempt") {
  trees::options o;
  o.updates = 2000;
  CHECK(trees::update_of_attempt(o, 1999) == 1999);
  CHECK(trees::update_of_attempt(o, 2000) == 0);
  CHECK(trees::update_of_attempt(o, 4001) == 1);
}

TEST_CASE("weights of empty positions rise to 1, evenness and recency fall to 0, by as much every update") {
  trees::options o;
  CHECK(trees::empty_weight_at(o, 0) == 1);
  CHECK(trees::evenness_at(o, 0) == 0);
  CHECK(trees::recency_at(o, 0) == 0);
  o.empty_weight = 0.2, o.empty_updates = 4, o.evenness = 8, o.recency = 4, o.even_updates = 10;
  CHECK(trees::empty_weight_at(o, 0) == 0.2);
  CHECK_THAT(trees::empty_weight_at(o, 2), WithinAbs(0.6, 1e-15));
  CHECK(trees::empty_weight_at(o, 4) == 1);
  CHECK(trees::evenness_at(o, 0) == 8);
  CHECK_THAT(trees::evenness_at(o, 5), WithinAbs(4, 1e-15));
  CHECK(trees::evenness_at(o, 10) == 0);
  o.even_updates = 0;
  CHECK_THROWS_WITH(o.settle(), contains("--evenness or --recency above 0 and --even-updates"));
  o.even_updates = 10;
  CHECK_NOTHROW(o.settle());
  o.empty_updates = 0;
  CHECK_THROWS_WITH(o.settle(), contains("--empty-weight other than 1 and --empty-updates"));
  o.empty_weight = 1, o.empty_updates = 4;
  CHECK_THROWS_WITH(o.settle(), contains("--empty-weight other than 1 and --empty-updates"));
  CHECK(trees::recency_at(o, 0) == 4);
  CHECK_THAT(trees::recency_at(o, 5), WithinAbs(2, 1e-15));
  CHECK(trees::recency_at(o, 10) == 0);
}

TEST_CASE("a weight of empty positions without the updates until it is 1 is refused, below 1 and above") {
  for (double weight : {0.0, 0.5, 2.0}) {
    trees::options o;
    o.empty_weight = weight;
    CHECK_THROWS_WITH(o.settle(), contains("--empty-weight other than 1 and --empty-updates"));
    o.empty_updates = 5;
    CHECK_NOTHROW(o.settle());
  }
}

TEST_CASE("options that would decide nothing are refused") {
  auto const refused = [](char const* name, char const* reason, auto const& change) {
    CAPTURE(name);
    trees::options o;
    o.given = {name};
    CHECK_THROWS_WITH(o.settle(), contains(reason));
    change(o);
    CHECK_NOTHROW(o.settle());
  };
  refused("role-seed", "--role-seed draws the roles of --interpreter matrices or learned",
          [](trees::options& o) { o.interpreter = "matrices"; });
  refused("floor", "--floor is about --loss divergence", [](trees::options& o) { o.loss = "divergence"; });
  for (auto const* name : {"last-updates", "last-learning-rate"})
    refused(name, "is about the training after that of --first-rows, which is 0",
            [](trees::options& o) { o.first_rows = 0.5; });
}

TEST_CASE("of evenness a batch gives each sample its part, counted in positions") {
  triad::tree_batch<float> in;
  in.sizes.batch = 4, in.positions = 8;
  CHECK(in.choice(0).evenness == 0);
  in.evenness = 16;
  CHECK(in.choice(0).evenness == 0.5);
  CHECK(in.choice(1).recency == 0);
  in.recency = 0.25, in.empty_tree = true;
  CHECK(in.choice(1).recency == 0.25);
  CHECK(in.choice(1).choices_at(1) == 3);
}

TEST_CASE("what scores choices has first values of its own where that is asked for, and each agent its number") {
  trees::options o;
  using triad::initializer;
  auto const is = [&](char const* path, initializer const& what) {
    auto const found = trees::first_values_of(o, path);
    CAPTURE(path);
    CHECK(found.how == what.how);
    CHECK(found.low == what.low);
    CHECK(found.high == what.high);
  };
  is("agents.1.operation.weight", initializer::linear_uniform());
  o.choice_deviation = 0.02;
  is("agents.1.operation.weight", initializer::normal(0.02));
  is("agents.1.operation.bias", initializer::constant(0));
  is("agents.1.arguments.weight", initializer::normal(0.02));
  is("agents.1.root.weight", initializer::linear_uniform());
  CHECK(trees::step_of("agents.11.root.weight") == 11);
  CHECK(trees::step_of("shrink.weight") == -1);
}

}  // namespace programs_trees_recipe_tests
