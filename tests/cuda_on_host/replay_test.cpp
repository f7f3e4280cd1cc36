// Tests training that is recorded and replayed. Replayed training must have the same bits as training that is not
// recorded. It must not allocate memory, and must not wait.
// Tests cuda/device/replay.cuh.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "tests/catch.hpp"
#include "tests/ragged_data.hpp"
#include "tests/train/small_graphs.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/batches/room_for.hpp"
#include "triad/batches/sentence_loader.hpp"
#include "triad/core/with_backend.hpp"
#include "triad/cuda.cuh"
#include "triad/models/edge_transformer.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/evaluate.hpp"
#include "triad/train/fit.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/runner.hpp"
#include "triad/train/trainer.hpp"

namespace cuda_on_host_replay_tests {

using namespace triad;
#if defined(TRIAD_CUDA_DOUBLE)
using triad::cuda_on_host::counted;
using triad::cuda_on_host::leaks;
using triad::cuda_on_host::with_settings;
#endif
using triad::test::contains;

using model = edge_transformer<float>;
using nodes = std::vector<index_t>;  // the number of nodes in each graph of a batch

// Trains a small model on a device, with dropout.
struct training {
  static constexpr index_t labels = 5, targets = 4;
  static constexpr graph_dims capacity{4, 80, 20, 400, 6};

  triad::cuda::backend ex;
  trainer<model, triad::cuda::backend> train;
  graph_loader<triad::cuda::backend> loader;
  std::uint64_t drawn = 0;

  static edge_transformer_options sizes() {
    edge_transformer_options z;
    z.labels = labels;
    z.targets = targets;
    z.layers = 2;
    z.layer = {8, 2, 12, 0.2, triangle_form::full, false};
    return z;
  }
  static trainer_options options() {
    trainer_options o;
    o.max_norm = 1;
    o.key = 5;
    o.capacity = padded_room_for<triad::cuda::backend>(capacity);
    return o;
  }
  explicit training(bool recorded) : train(ex, model(sizes()), options()), loader(capacity, memory_of(ex)) {
    ex.record(recorded);
    initialize(train.parameters(), 3);
  }
  training(training const&) = delete;

  /// Loads another batch with these sizes, and new random labels and answers.
  void load(nodes const& batch) {
    loader.clear();
    random_stream random(7, ++drawn);
    for (auto const n : batch) {
      auto* const label = loader.add(n, 0, n - 1, static_cast<index_t>(random.below(targets)));
      for (index_t e = 0; e < n * n; ++e) label[e] = random.below(labels);
    }
  }
  void update() {
    auto const [in, answers] = loader.upload();
    train.update(in, answers, 0.01 / static_cast<double>(drawn));
  }
  /// Makes an update in which the batch is padded to a shape that several batches share.
  void update_padded() {
    auto const [in, answers] = loader.upload_padded();
    train.update(in, answers, 0.01 / static_cast<double>(drawn));
  }
  /// Makes one update whose batch is divided into parts with these shapes.
  void update_in_parts(std::vector<nodes> const& parts) {
    std::size_t all = 0;
    for (auto const& part : parts) all += part.size();
    for (auto const& part : parts) {
      load(part);
      auto const [in, answers] = loader.upload();
      train.accumulate(in, answers, static_cast<double>(part.size()) / static_cast<double>(all));
    }
    train.finish(0.01 / static_cast<double>(drawn));
  }
};

// Twenty batches with five shapes. Each shape occurs more than once. One shape first occurs late.
std::vector<nodes> const& batches() {
  static nodes const a{3, 2}, b{4}, c{2, 2, 3}, d{6, 1}, e{1, 1, 5};
  static std::vector<nodes> const all{a, b, a, a, c, b, a, d, c, c, b, a, a, e, b, c, d, a, b, e};
  return all;
}

TEST_CASE("replayed training makes the bits of training that is not recorded, from the second batch of each shape on") {
  for (std::uint64_t const seed : {0u, 7u}) {  // seed 0: all in order
    training plain(false), replayed(true);
    std::vector<nodes> seen;
    std::uint64_t expected = 0;
    for (auto const& batch : batches()) {
      CAPTURE(seed, plain.drawn, batch);
      plain.load(batch);
      plain.update();
      {
#if defined(TRIAD_CUDA_DOUBLE)
        with_settings const other({.shuffled = seed != 0, .seed = seed});
#endif
        replayed.load(batch);
        replayed.update();
        expected += std::find(seen.begin(), seen.end(), batch) != seen.end();
        seen.push_back(batch);
        CHECK(replayed.ex.recordings().replayed() == expected);
        auto const loss = replayed.train.loss();
        REQUIRE(std::isfinite(loss));
        CHECK(loss == plain.train.loss());
        CHECK(replayed.train.norm() == plain.train.norm());
      }
    }
    CHECK(expected == 15);
    CHECK(plain.ex.recordings().replayed() == 0);
    CHECK(replayed.train.snapshot() == plain.train.snapshot());
  }
}

TEST_CASE(
    "updates in parts are replayed part by part, whatever their shares, and make the bits of those that are not "
    "recorded") {
  training plain(false), replayed(true);
  nodes const a{3, 2}, b{4}, c{2, 2, 3};
  std::vector<std::vector<nodes>> const updates{{a, b}, {a, b, b}, {c, b}, {a, c, b}, {b, b, c}, {c, b, a, b}};
  for (auto const& parts : updates) {
    for (auto* t : {&plain, &replayed}) t->update_in_parts(parts);
    for (auto* t : {&plain, &replayed}) {  // two updates in parts, and between them an update of a whole batch
      t->load(a);
      t->update();
    }
    REQUIRE(std::isfinite(replayed.train.loss()));
    CHECK(replayed.train.loss() == plain.train.loss());
    CHECK(replayed.train.norm() == plain.train.norm());
  }
  // There are 17 parts, 6 finishes and 6 whole batches: 29 pieces of work. Eight of them are not replayed, because they
  // occur for the first time: a, b and c as a first part, a, b and c as a later part, one finish and one whole batch.
  CHECK(replayed.ex.recordings().replayed() == 29 - 8);
  CHECK(replayed.train.snapshot() == plain.train.snapshot());
}

TEST_CASE("updates at several depths of a tied model are never taken for each other") {
  training plain(false), replayed(true);
  for (auto* const t : {&plain, &replayed})
    for (int i = 0; i < 12; ++i) {
      t->train.set_depth(1 + i % 3 % 2);
      t->load({3, 2});
      t->update();
    }
  CHECK(replayed.train.snapshot() == plain.train.snapshot());
  CHECK(replayed.ex.recordings().replayed() == 10);  // each depth is recorded once
}

TEST_CASE("updates in parts at several depths share what does not depend on the depth") {
  training plain(false), replayed(true);
  for (auto* const t : {&plain, &replayed})
    for (int i = 0; i < 4; ++i) {
      t->train.set_depth(1 + i % 2);
      t->update_in_parts({{3, 2}, {4}});
    }
  CHECK(replayed.train.snapshot() == plain.train.snapshot());
  CHECK(replayed.ex.recordings().replayed() == 12 - 5);  // two parts for each depth, and one finish for both
}

TEST_CASE("updates with and without dropout are never taken for each other") {
  training plain(false), replayed(true);
  for (auto* const t : {&plain, &replayed})
    for (int i = 0; i < 6; ++i) {
      t->train.set_dropout(i % 2 == 0);
      t->load({3, 2});
      t->update();
    }
  CHECK(replayed.train.snapshot() == plain.train.snapshot());
  CHECK(replayed.ex.recordings().replayed() == 4);
}

TEST_CASE("batches of the same size whose graphs come in another order are never taken for each other") {
  training plain(false), replayed(true);
  for (nodes const& batch : {nodes{3, 2, 4}, {4, 3, 2}, {3, 2, 4}, {2, 4, 3}, {4, 3, 2}, {2, 4, 3}}) {
    for (auto* t : {&plain, &replayed}) {
      t->load(batch);
      t->update();
    }
    CAPTURE(batch);
    CHECK(replayed.train.loss() == plain.train.loss());
  }
  CHECK(replayed.ex.recordings().replayed() > 0);
  CHECK(replayed.train.snapshot() == plain.train.snapshot());
}

// ---- ragged batches -------------------------------------------------------------------------------------------------

TEST_CASE("padded batches of many sizes are replayed, and train as they do without padding and without recordings") {
  training plain(false), padded(true);
  random_stream random(3, 0);
  std::vector<nodes> met;
  for (int update = 0; update < 30; ++update) {
    nodes batch;
    for (int g = 0; g < 4; ++g) batch.push_back(1 + static_cast<index_t>(random.below(4)));
    std::sort(batch.begin(), batch.end());
    if (std::find(met.begin(), met.end(), batch) == met.end()) met.push_back(batch);
    plain.load(batch);
    plain.update();
    padded.load(batch);
    padded.update_padded();
    CAPTURE(update, batch);
    auto const loss = padded.train.loss();
    REQUIRE(std::isfinite(loss));
    CHECK_THAT(static_cast<double>(loss), test::WithinAbs(static_cast<double>(plain.train.loss()), 1e-4));
    CHECK_THAT(static_cast<double>(padded.train.norm()),
               test::WithinAbs(static_cast<double>(plain.train.norm()), 1e-3));
  }
  CHECK(met.size() > 15);
  CHECK(padded.ex.recordings().replayed() >= 20);
}

TEST_CASE("a row of padding that counts changes the loss") {
  training plain(false), padded(false);
  for (auto* t : {&plain, &padded}) t->load({3, 2, 4});
  plain.update();
  auto const [in, answers] = padded.loader.upload_padded();
  REQUIRE(answers.extent(0) > 3);
  index_t const asked = 1;
  padded.ex.where().from_host(const_cast<index_t*>(&answers(3)), &asked, sizeof asked);
  padded.train.update(in, answers, 0.01);
  CHECK(std::abs(padded.train.loss() - plain.train.loss()) > 1e-3f);
  CHECK(std::abs(padded.train.norm() - plain.train.norm()) > 1e-3f);
}

/// The fraction of an epoch's updates that were replayed; the number of edges that padding added, divided by the number
/// of edges in the epoch; and the same for nodes.
struct replayed_epoch {
  double replayed, added_rows, added_nodes;
};

/// load(sizes) must upload the next batch. As in a trainer's update, everything that identifies work on this batch is
/// added to the key. The work is trivial, because this test only counts shapes.
template <class Load>
std::vector<replayed_epoch> replayed_epochs(triad::cuda::backend& ex, test::ragged_data const& data, Load const& load) {
  buffer<triad::cuda::device_memory> const memory(sizeof(float), ex.where());
  auto const x = make_vec(static_cast<float*>(memory.data()), 1);
  std::vector<replayed_epoch> epochs;
  std::set<std::uint64_t> shapes;
  for (std::uint64_t epoch = 1; epoch <= 10; ++epoch) {
    auto const before = ex.recordings().replayed();
    double updates = 0;
    graph_dims without, with;
    test::each_batch(data, epoch, [&](nodes const& batch) {
      replay_key key;
      with = with + load(batch, key);
      for (auto const n : batch) without = without + dims_of(n);
      replay(ex, key.value(), [&] { fill(ex, 1.0f, x); });
      shapes.insert(key.value());
      updates += 1;
    });
    auto const added = [](index_t own, index_t all) {
      return static_cast<double>(all - own) / static_cast<double>(own);
    };
    epochs.push_back({static_cast<double>(ex.recordings().replayed() - before) / updates,
                      added(without.rows, with.rows), added(without.nodes, with.nodes)});
  }
  CHECK(shapes.size() < triad::cuda::recordings::most);
  ex.recordings().clear();  // before the memory of the recordings is freed
  return epochs;
}

void expect_most_replayed(std::vector<replayed_epoch> const& epochs) {
  for (auto const& e : epochs) {
    CAPTURE(&e - epochs.data());
    CHECK((e.added_rows > 0 && e.added_nodes > 0));
    CHECK(e.added_rows < 0.1);
    CHECK(e.added_nodes < 0.1);
    bool const first = &e == epochs.data();  // in the first epoch, all shapes are new
    CHECK(e.replayed >= (first ? 0.9 : 0.95));
  }
}

TEST_CASE("of a shuffled epoch of graphs like CLUTRR's at least 95 % of the updates are replayed") {
  triad::cuda::backend ex;
  auto const data = test::like_clutrr();
  graph_loader<triad::cuda::backend> loader(room_for(data.nodes, data.batch, [](index_t n) { return n; }),
                                            memory_of(ex));
  auto const load = [&](nodes const& batch, replay_key& key) {
    loader.clear();
    for (auto const n : batch) loader.add(n, 0, n - 1, 1);
    auto const [in, answers] = loader.upload_padded();
    add_to_key(key, in);
    add_to_key(key, answers);
    return in.graphs.dims;
  };
  expect_most_replayed(replayed_epochs(ex, data, load));
}

TEST_CASE("of a shuffled epoch of sentences like COGS' at least 95 % of the updates are replayed") {
  triad::cuda::backend ex;
  auto const data = test::like_cogs();
  sentence_loader<triad::cuda::backend, float> loader(room_for(data.nodes, data.batch, [](index_t n) { return n; }), 16,
                                                      8, memory_of(ex));
  auto const load = [&](nodes const& batch, replay_key& key) {
    loader.clear();
    for (auto const n : batch) loader.add(std::vector<labelled_token>(static_cast<std::size_t>(n)));
    auto const [in, answers] = loader.upload_padded();
    add_to_key(key, in);
    add_to_key(key, answers);
    return in.graphs.dims;
  };
  expect_most_replayed(replayed_epochs(ex, data, load));
}

#if defined(TRIAD_CUDA_DOUBLE)  // only the stand-in counts these

TEST_CASE("after its first batch a training run allocates nothing on the device, and an update waits for nothing") {
  for (bool recorded : {false, true}) {
    CAPTURE(recorded);
    training t(recorded);
    t.load(batches()[0]);
    t.update();
    auto const first = counted();
    for (auto const& batch : batches()) {
      auto const before = counted();
      t.load(batch);
      t.update();
      CHECK(counted().waits == before.waits);
    }
    CHECK(std::isfinite(t.train.loss()));
    CHECK(counted().allocations == first.allocations);
    CHECK(counted().waits == first.waits + 1);  // loss() waits once: this shows that waits are counted
  }
}

// ---- the table of recordings ----------------------------------------------------------------------------------------

/// Computes x += 1 on a device, and counts how often the host had to queue this work.
struct counter {
  triad::cuda::backend ex;
  float* x = static_cast<float*>(ex.where().allocate(sizeof(float)));
  int asked = 0, added = 0;

  counter() { ex.where().zero(x, sizeof(float)); }
  counter(counter const&) = delete;
  ~counter() { ex.where().deallocate(x); }

  void add() {
    ++asked;
    auto const one = make_vec(x, 1);
    transform(ex, plus_one(), one, one);
  }
  /// Adds 1, and returns whether a recording was replayed.
  bool add(std::uint64_t key) {
    int const before = asked;
    replay(ex, key, [&] { add(); });
    ++added;
    return asked == before;
  }
  float value() const {
    float v = 0;
    ex.where().to_host(&v, x, sizeof v);
    return v;
  }

 private:
  struct plus_one {
    TRIAD_HOST_DEVICE float operator()(float v) const { return v + 1; }
  };
};

TEST_CASE("a new key takes the place of the one that was not used for the longest time") {
  constexpr std::uint64_t most = triad::cuda::recordings::most;
  auto const before = leaks();
  {
    counter c;
    for (std::uint64_t often = 1000, rare = 2000, k = 0; k < 3; ++k) {
      CHECK(c.add(often) == (k == 2));
      CHECK(c.add(rare) == (k == 2));
    }
    for (std::uint64_t key = 0; key < most; ++key) {
      CHECK_FALSE(c.add(key));
      CHECK(c.add(1000));
    }
    CHECK_FALSE(c.add(2000));                                    // forgotten, so it counts as new: run,
    CHECK_FALSE(c.add(2000));                                    // recorded,
    CHECK(c.add(2000));                                          // and replayed
    for (std::uint64_t key = most + 2; key < 3 * most; ++key) {  // these recordings are made, and dropped again
      CHECK_FALSE(c.add(key));
      CHECK_FALSE(c.add(key));
      CHECK(c.add(key));
    }
    CHECK_THAT(leaks(), contains(std::to_string(most) + " graph instances"));
    CHECK(c.value() == static_cast<float>(c.added));
    forget_replays(c.ex);
    CHECK(leaks().find("graph") == std::string::npos);
    CHECK_FALSE(c.add(1000));
  }
  CHECK(leaks() == before);
}

TEST_CASE("replayed work that replays other work is refused with a sentence, and the backend goes on") {
  counter c;
  for (int k = 0; k < 3; ++k)  // runs, is recorded, is recorded again
    CHECK_THROWS_WITH(replay(c.ex, 1, [&] { c.add(2); }), contains("a replay inside recorded work"));
  CHECK(c.value() == 0);
  CHECK_FALSE(c.add(3));
  CHECK_FALSE(c.add(3));
  CHECK(c.add(3));
  CHECK(c.value() == 3);
  c.ex.record(false);  // without recording, work may be nested
  replay(c.ex, 1, [&] { c.add(2); });
  CHECK(c.value() == 4);
}

#endif

TEST_CASE("on a device epochs, evaluations, snapshots, attention and inference are those of the host") {
  test::small_run<triad::cuda::backend> there;
  test::small_run<reference::backend> here;
  auto const close = [](double a, double b) { CHECK_THAT(a, test::WithinAbs(b, 1e-4)); };
  auto const epochs = [](auto& r) {
    return fit(r.learner, [&](std::uint64_t epoch) { return r.pass(epoch); }, {.epochs = 3, .schedule = 0.003});
  };
  auto const before = there.learner.snapshot();
  close(epochs(there).epochs.back().loss, epochs(here).epochs.back().loss);
  CHECK(there.ex.recordings().replayed() > 0);
  auto const after = there.learner.snapshot();
  there.learner.restore(before);
  epochs(there);
  CHECK(there.learner.snapshot() == after);

  auto const judged = [](auto& r) {
    return evaluate(r.learner, r.loader, r.data, test::add_small_graph,
                    {.group = [](auto const& g) { return g.nodes; }});
  };
  auto const a = judged(there), b = judged(here);
  close(a.loss, b.loss);
  CHECK((a.accuracy == b.accuracy && a.by.size() == 3));

  auto const table = [](auto& r) {
    for (r.loader.clear(); auto const& g : r.data) test::add_small_graph(r.loader, g);
    return r.learner.attention(r.loader.upload().first, {.layer = 1, .graph = 7, .edge = {0, 3}});
  };
  auto const x = table(there), y = table(here);
  REQUIRE((x.heads() == 2 && x.terms() == 4));
  for (index_t l = 0; l < 4; ++l) close(static_cast<double>(x(1, l)), static_cast<double>(y(1, l)));

  // The exception leaves the loaded graphs unchanged.
  runner run(there.ex, there.learner.model(), room_for(there.data, 9));
  put_snapshot(after, run.parameters());
  auto const in = there.loader.upload().first;
  auto const where = memory_of(there.ex);
  auto const scores = host_copy(where, run(in));
  CHECK(scores.size() == 27);
  CHECK(scores == host_copy(where, there.learner.infer(in)));
}

TEST_CASE("a device is chosen by its text") {
  auto const device = with_backend<triad::cuda::backend, reference::backend>("cuda:0", [](auto& ex) {
    if constexpr (requires { ex.device(); })
      return ex.device();
    else
      return -1;
  });
  CHECK(device == 0);
}

}  // namespace cuda_on_host_replay_tests
