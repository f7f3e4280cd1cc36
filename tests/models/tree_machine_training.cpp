// Tests training of a tree machine: the machine learns, a step does not allocate memory, training uses exactly the
// planned memory, and the number of threads does not change a bit.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/allocations.hpp"
#include "tests/catch.hpp"
#include "tests/models/machine_use.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"

namespace models_tree_machine_training_tests {

using namespace triad;
using test::allocations;

using model = tree_machine<float>;
using machine_trainer = trainer<model, cpu::backend>;

// Batches of random trees. The right answer for a tree is its first child.
struct run {
  static constexpr index_t symbols = 9, steps = 3, batch = 8;
  tree_positions<> where;
  cpu::backend ex;
  machine_trainer train;
  tree_loader<cpu::backend, float> loader;

  static model made(tree_positions<> where, double dropout) {
    tree_machine_options z{
        steps,
        symbols,
        true,
        {{16, 2, 32, dropout, norm_position::before, activation::gelu}, 1, where.branching(), symbols}};
    return {tree_interpreter<float>(where), where.count(), z};
  }
  static machine_trainer::options_type options(keep kept) {
    machine_trainer::options_type o;
    o.max_norm = 1;
    o.key = 5;
    o.memory = kept;
    o.capacity = {batch};
    return o;
  }
  explicit run(int threads, double dropout, keep kept = keep::everything, index_t depth = 4)
      : where(2, depth),
        ex(threads),
        train(ex, made(where, dropout), options(kept)),
        loader({where, steps, symbols, batch}) {
    initialize(train.parameters(), 3, [](std::string const& path) {
      return path.ends_with("_token") ? initializer::normal(1) : initializer::by_name();
    });
  }
  run(run const&) = delete;
  run& operator=(run const&) = delete;

  /// Loads batch `number`. A batch always has the same trees. Batches with odd numbers have fewer trees.
  void load(std::uint64_t number) {
    loader.clear();
    for (std::uint64_t b = 0; b < (number % 2 == 0 ? 8u : 5u); ++b) {
      auto const tree = test::random_tree(where, symbols, 2 + static_cast<index_t>(number % 3), number * 10 + b);
      loader.add(tree, test::child_of(where, tree, 0));
    }
  }
  float update(double rate = 0.003) {
    auto const both = loader.upload();
    train.update(both.first, both.second, rate);
    return train.loss();
  }
  /// Returns the loss and the gradient norm of each update, and then every parameter.
  std::vector<float> trace(std::uint64_t updates) {
    std::vector<float> all;
    for (std::uint64_t u = 0; u < updates; ++u) {
      load(u);
      all.push_back(update());
      all.push_back(train.norm());
    }
    auto const values = train.parameters().flat_values();
    all.insert(all.end(), values.data_handle(), values.data_handle() + values.size());
    return all;
  }
};

TEST_CASE("a tree machine learns the first child of eight trees by heart") {
  run r(1, 0);
  r.load(2);
  float const before = r.update();
  for (int i = 0; i < 400; ++i) r.update();
  CHECK(before > 0.1f);
  CHECK(r.update() < 0.02f);
  auto const both = r.loader.upload();
  auto const scores = r.train.infer(both.first);
  std::vector<index_t> found(static_cast<std::size_t>(scores.extent(0)));
  decode_rows(r.ex, as_matrix(read_only(scores)), 0.1, make_vec(found.data(), scores.extent(0)));
  auto const targets = both.second.symbols;
  CHECK(found == std::vector<index_t>(targets.data_handle(), targets.data_handle() + targets.size()));
  CHECK(std::count(found.begin(), found.end(), index_t{0}) < static_cast<std::ptrdiff_t>(found.size()));
}

TEST_CASE(
    "a tree machine trains to the same bits on one, two and three threads, with dropout and batches of two sizes") {
  auto const one = run(1, 0.2).trace(5);
  for (float v : one) REQUIRE(std::isfinite(v));
  CHECK(one == run(2, 0.2).trace(5));
  CHECK(one == run(3, 0.2).trace(5));
  CHECK(one == run(2, 0.2, keep::inputs).trace(5));
  CHECK(one != run(1, 0.1).trace(5));
}

TEST_CASE("a training step of a tree machine allocates nothing, nor does its loader") {
  for (auto kept : {keep::everything, keep::inputs}) {
    run r(2, 0.2, kept);
    std::vector<std::pair<test::tree_nodes, test::tree_nodes>> trees;
    for (std::uint64_t b = 0; b < 13; ++b) {
      auto const tree = test::random_tree(r.where, run::symbols, 2 + static_cast<index_t>(b % 3), b);
      trees.emplace_back(tree, test::child_of(r.where, tree, 0));
    }
    auto const step = [&](std::size_t first, std::size_t count) {
      r.loader.clear();
      for (std::size_t b = first; b < first + count; ++b) r.loader.add(trees[b].first, trees[b].second);
      return r.update();
    };
    for (int u = 0; u < 2; ++u) step(0, 8), step(8, 5);  // threads start here, and BLAS allocates its buffers
    auto const before = allocations.load();
    float loss = 0;
    for (int u = 0; u < 4; ++u) loss += step(0, 8) + step(8, 5);
    r.train.infer(r.loader.upload().first);
    auto const after = allocations.load();
    CHECK(after - before == 0);
    CHECK(loss > 0);
  }
}

TEST_CASE("a tree machine's plan is what it holds, and a larger batch is refused") {
  run r(1, 0.2);
  auto const bytes = r.train.bytes();
  CHECK(bytes.parameters == r.train.parameters().bytes());
  CHECK(bytes.total() == bytes.parameters + bytes.saved + bytes.scratch);
  // A full batch must use exactly the planned scratch memory.
  r.load(0);
  auto const both = r.loader.upload();
  std::vector<float> loss(1);
  buffer<> saved(bytes.saved), memory(bytes.scratch);
  auto place = saved.place(), scratch = memory.place();
  auto const& m = r.train.model();
  auto const s = m.plan_saved(place, both.first.sizes);
  auto const scores = m.plan_output(place, both.first.sizes), d = m.plan_output(place, both.first.sizes);
  std::uint64_t const step = 0;
  call const c{&scratch, true, 5, &step, 0};
  m.forward(r.ex, c, r.train.parameters().values(), both.first, s, scores);
  m.loss(r.ex, scratch, both.first, scores, both.second, make_vec(loss.data(), 1), d);
  m.backward(r.ex, c, r.train.parameters().values(), both.first, s, d, r.train.parameters().gradients());
  CHECK(place.used() == bytes.saved);
  CHECK(scratch.used() == 0);
  CHECK(scratch.peak() <= bytes.scratch);
  CHECK(scratch.peak() + bytes.scratch / 100 >= bytes.scratch);

  tree_loader<cpu::backend, float> wide({r.where, run::steps, run::symbols, 9});
  for (int b = 0; b < 9; ++b) wide.add(test::tree_nodes{{0, 1}}, test::tree_nodes{});
  auto const nine = wide.upload();
  CHECK_THROWS_WITH(r.train.compute_gradient(nine.first, nine.second),
                    test::contains("more was asked for than was measured"));
}

TEST_CASE("a tree machine for inference holds values alone and says the same") {
  run r(1, 0.2, keep::nothing), learner(1, 0.2);
  CHECK(r.train.bytes().parameters * 4 == learner.train.bytes().parameters);
  r.load(0);
  learner.load(0);
  auto const a = r.train.infer(r.loader.upload().first), b = learner.train.infer(learner.loader.upload().first);
  REQUIRE(a.size() == b.size());
  CHECK(std::equal(a.data_handle(), a.data_handle() + a.size(), b.data_handle()));
}

}  // namespace models_tree_machine_training_tests
