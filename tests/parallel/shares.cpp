// Tests batches that are divided into shares: which process computes which share, and that results do not depend on the
// number of processes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/parallel/shares.hpp"

#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/allocation_count.hpp"
#include "tests/catch.hpp"
#include "tests/threads_as_processes.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"

namespace parallel_shares_tests {

using namespace triad;
using test::allocations;
using test::contains;
using test::in_threads;
using test::one_of_threads;

TEST_CASE("shares of a batch cover its examples once, and processes cover the shares once") {
  for (index_t const shares : {1, 2, 4, 8, 64})
    for (std::size_t const count : {0u, 1u, 3u, 8u, 37u, 400u}) {
      std::size_t next = 0;
      for (index_t s = 0; s < shares; ++s) {
        auto const r = examples_of_share(s, shares, count);
        CHECK(r.first == next);
        CHECK(r.last - r.first <= count / static_cast<std::size_t>(shares) + 1);
        next = r.last;
      }
      CHECK(next == count);
    }
  for (int const processes : {1, 2, 4, 8}) {
    index_t next = 0;
    for (int rank = 0; rank < processes; ++rank) {
      auto const own = shares_of(8, rank, processes);
      CHECK(own.first == next);
      CHECK(own.count() == 8 / processes);
      next = own.last;
    }
    CHECK(next == 8);
  }
  CHECK_THROWS_WITH(shares_of(6, 0, 1), contains("shares: shares are 6, expected a power of two"));
  CHECK_THROWS_WITH(shares_of(8, 0, 3), contains("shares: processes are 3, expected a power of two"));
  CHECK_THROWS_WITH(shares_of(2, 0, 4), contains("4 processes, expected at most 2"));
}

TEST_CASE("rows that come one after another are added along the tree") {
  reference::backend ex;
  // In float, ((1e8 + 1) + (-1e8 + 1)) is 0, but a sum from left to right is 1.
  share_sums<float, reference::backend> sums(1, 4);
  float row = 0;
  float const each[] = {1e8f, 1.0f, -1e8f, 1.0f};
  for (int again = 0; again < 2; ++again) {
    sums.begin();
    for (float const x : each) row = x, sums.add(ex, make_vec(&row, 1));
    CHECK(row == (each[0] + each[1]) + (each[2] + each[3]));
    CHECK(row != ((each[0] + each[1]) + each[2]) + each[3]);
  }
  CHECK_THROWS_WITH(sums.add(ex, make_vec(&row, 1)), contains("a share after all "));
}

TEST_CASE(
    "a gradient and its loss are summed over shares together, and no bytes are planned where there are no values") {
  reference::backend ex;
  alone nobody_else;
  using sums = gradient_sums<float, reference::backend, alone>;
  sums all(2, 2, nobody_else);
  CHECK(all.processes() == 1);
  std::vector<float> gradient(2), loss(1);
  for (int again = 0; again < 2; ++again) {
    all.begin();
    for (float const x : {1.0f, 4.0f}) {
      gradient = {x, 10 * x}, loss = {-x};
      all.add(ex, make_vec(gradient.data(), 2), make_vec(loss.data(), 1));
    }
    all.sum_over_processes(ex, make_vec(gradient.data(), 2), make_vec(loss.data(), 1));
    CHECK(gradient == std::vector<float>{5, 50});
    CHECK(loss == std::vector<float>{-5});
  }
  CHECK(sums::bytes(2, 2, 1) == 2 * sizeof(float));  // one share waits until the second is complete
  CHECK(sums::bytes(2, 2, 4) > sums::bytes(2, 2, 1));
  CHECK(sums::bytes(0, 2, 4) == 0);
}

constexpr index_t labels = 7, targets = 5;
using model = edge_transformer<float>;

edge_transformer_options sizes() {
  edge_transformer_options z;
  z.labels = labels;
  z.targets = targets;
  z.layers = 2;
  z.layer = {32, 2, 64, 0.1, triangle_form::full, false};
  return z;
}
trainer_options settings(index_t shares) {
  trainer_options o;
  o.max_norm = 1;
  o.key = 5;
  o.capacity = {11, 600, 90, 600 * 8, 8};
  o.shares = shares;
  return o;
}

struct outcome {
  std::vector<float> values, losses;
  friend bool operator==(outcome const&, outcome const&) = default;
};

/// Adds graph i of update u. It is the same in every process.
template <class Loader>
void add_graph(Loader& loader, std::uint64_t update, std::size_t i) {
  random_stream random(7, update * 100 + i);
  auto const n = static_cast<index_t>(2 + random.below(6));
  auto* const label = loader.add(n, 0, n - 1, static_cast<index_t>(random.below(targets)));
  for (index_t e = 0; e < n * n; ++e) label[e] = random.below(labels);
}

/// Makes three updates, of 11, 3 and 8 graphs. In the second update, there are fewer graphs than shares. A share with
/// more than one graph is added in two parts.
template <class Processes>
outcome run(Processes& me, index_t shares, int threads, long* allocated = nullptr) {
  cpu::backend ex(threads);
  trainer<model, cpu::backend, Processes> learner(ex, model(sizes()), settings(shares), me);
  initialize(learner.parameters(), 3);
  graph_loader<cpu::backend> loader(settings(shares).capacity);
  outcome found;
  std::uint64_t number = 0;
  for (std::size_t const count : {11u, 3u, 8u}) {
    auto const before = allocations.load();
    auto const own = learner.shares();
    for (auto s = own.first; s < own.last; ++s) {
      learner.begin_share(s);
      auto const r = examples_of_share(s, shares, count);
      auto const middle = r.last - r.first > 1 ? r.first + 1 : r.last;
      for (auto const& [first, last] : {std::pair(r.first, middle), std::pair(middle, r.last)}) {
        if (first == last) continue;
        loader.clear();
        for (auto i = first; i < last; ++i) add_graph(loader, number, i);
        auto const [in, answers] = loader.upload();
        learner.accumulate(in, answers, static_cast<double>(last - first) / static_cast<double>(count));
      }
    }
    learner.finish(0.01);
    if (allocated && number > 0) *allocated += allocations - before;
    found.losses.push_back(learner.loss());
    found.losses.push_back(learner.norm());
    ++number;
  }
  auto const all = learner.parameters().flat_values();
  found.values.assign(all.data_handle(), all.data_handle() + all.extent(0));
  return found;
}

TEST_CASE("one, two, four and eight processes learn the same, bit by bit") {
  alone one;
  long allocated = 0;
  auto const right = run(one, 8, 1, &allocated);
  CHECK(allocated == 0);
  CHECK(run(one, 8, 3) == right);
  CHECK(run(one, 4, 1) != right);  // with another number of shares, rounding and dropout differ
  for (int const size : {1, 2, 4, 8}) {
    CAPTURE(size);
    std::vector<outcome> found(static_cast<std::size_t>(size));
    in_threads(size, [&](one_of_threads& me) { found[static_cast<std::size_t>(me.rank())] = run(me, 8, 1); });
    for (auto const& o : found) CHECK(o == right);
  }
}

TEST_CASE("an update sends the sums of its gradient and its loss, and nothing else") {
  // communicator.cpp counts the messages of a sum. bench/cluster_costs.py computes with both numbers.
  using traffic = std::pair<long long, long long>;
  for (int const size : {1, 2, 4, 8}) {
    std::vector<traffic> sent(static_cast<std::size_t>(size)), right(sent);
    std::vector<index_t> gradient(sent.size());
    in_threads(size, [&](one_of_threads& me) {
      auto const rank = static_cast<std::size_t>(me.rank());
      gradient[rank] = std::ssize(run(me, 8, 1).values);
      sent[rank] = {me.messages, me.values};
    });
    in_threads(size, [&](one_of_threads& me) {
      auto const rank = static_cast<std::size_t>(me.rank());
      reference::backend ex;
      for (int update = 0; update < 3; ++update)
        for (index_t const n : {gradient[rank], index_t{1}}) {
          std::vector<float> row(static_cast<std::size_t>(n)), scratch(row);
          all_reduce(ex, me, make_vec(row.data(), n), make_vec(scratch.data(), n));
        }
      right[rank] = {me.messages, me.values};
    });
    CHECK(gradient[0] > detail::short_row);
    CHECK(sent == right);
    CHECK((sent[0].first > 0) == (size > 1));
  }
}

TEST_CASE("a batch in shares has the gradient of the whole batch, up to rounding") {
  auto const trained = [](index_t shares) {
    cpu::backend ex(1);
    auto z = sizes();
    z.layer.dropout = 0;
    trainer<model, cpu::backend> learner(ex, model(z), settings(shares));
    initialize(learner.parameters(), 3);
    graph_loader<cpu::backend> loader(settings(shares).capacity);
    auto const fill = [&](std::size_t first, std::size_t last) {
      loader.clear();
      for (auto i = first; i < last; ++i) add_graph(loader, 0, i);
      return loader.upload();
    };
    if (shares == 1) {
      auto const [in, answers] = fill(0, 11);
      learner.update(in, answers, 0);
    } else {
      learner.update_in_shares(11, fill, 0);
    }
    auto const g = learner.parameters().flat_gradients();
    return std::tuple(learner.loss(), learner.norm(),
                      std::vector<float>(g.data_handle(), g.data_handle() + g.extent(0)));
  };
  auto const [loss, norm, gradient] = trained(1);
  for (index_t const shares : {2, 4, 8}) {
    CAPTURE(shares);
    auto const [l, n, g] = trained(shares);
    CHECK(std::abs(l - loss) < 1e-5f);
    CHECK(std::abs(n - norm) < 1e-5f * norm);
    REQUIRE(g.size() == gradient.size());
    double apart = 0, size = 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
      apart += std::pow(g[i] - gradient[i], 2), size += std::pow(gradient[i], 2);
    }
    REQUIRE(size > 0);
    CHECK(apart < 1e-10 * size);
  }
}

TEST_CASE("shares are begun in order, once an update, each once") {
  cpu::backend ex(1);
  trainer<model, cpu::backend> learner(ex, model(sizes()), settings(2));
  initialize(learner.parameters(), 3);
  graph_loader<cpu::backend> loader(settings(2).capacity);
  add_graph(loader, 0, 0);
  auto const [in, answers] = loader.upload();
  CHECK_THROWS_WITH(learner.update(in, answers, 0.1), contains("begin_share()"));
  CHECK_THROWS_WITH(learner.accumulate(in, answers, 1), contains("a part outside of any share"));
  CHECK_THROWS_WITH(learner.begin_share(1), contains("in order, once an update"));
  learner.begin_share(0);
  CHECK_THROWS_WITH(learner.finish(0.1), contains("the last share of this process"));
  CHECK_THROWS_WITH(learner.begin_share(0), contains("in order, once an update"));
  learner.begin_share(1);
  learner.accumulate(in, answers, 1);
  CHECK_THROWS_WITH(learner.begin_share(2), contains("in order, once an update"));
  learner.finish(0.1);
  CHECK(learner.step() == 1);
  learner.begin_share(0);
  learner.set_step(1);  // discards an update that has begun
  learner.begin_share(0);
}

TEST_CASE("the memory of sums over shares and processes is planned") {
  cpu::backend ex(1);
  auto const bytes = [&](index_t shares, int processes) {
    return trainer<model, cpu::backend>::plan(ex, model(sizes()), settings(shares), processes).shares;
  };
  auto const parameters = trainer<model, cpu::backend>::plan(ex, model(sizes()), settings(1)).parameters / 4;
  CHECK(bytes(1, 1) == 0);
  CHECK(bytes(8, 1) == 3 * parameters);
  CHECK(bytes(8, 8) == (parameters / sizeof(float) + 1) / 2 * sizeof(float));
  CHECK(bytes(8, 2) == 2 * parameters + bytes(8, 8));
}

}  // namespace parallel_shares_tests
