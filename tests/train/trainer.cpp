// Tests the training of a whole model: it learns, an update does not allocate memory, and a seed always has the same
// result, in whatever way it is computed.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "tests/allocations.hpp"
#include "tests/catch.hpp"
#include "tests/distance.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/train/initialize.hpp"

namespace train_trainer_tests {

using namespace triad;
using test::allocations;

constexpr index_t labels = 9, targets = 6;

// A backend that counts calls, and operands whose layout the kernels of the cpu backend cannot read.
struct spy : cpu::backend {
  using cpu::backend::backend;
  int triangles = 0, gradients = 0, products = 0, unfit = 0;
};
void do_triangle(spy& ex, triangle_options const& t, triangle_projections<float const> const& x, graph_batch const& g,
                 triangle_statistics<float> const& s, matrix<float> o, workspace ws) {
  ++ex.triangles;
  ex.unfit += cpu::triangles::rows_are_contiguous(t.form, x) && o.stride(1) == 1 ? 0 : 1;
  cpu::do_triangle(ex, t, x, g, s, o, ws);
}
void do_triangle_grad(spy& ex, triangle_options const& t, triangle_projections<float const> const& x,
                      graph_batch const& g, triangle_statistics<float const> const& s, matrix<float const> o,
                      matrix<float const> d_o, triangle_projections<float> const& dx, workspace ws) {
  ++ex.gradients;
  ex.unfit += cpu::triangles::rows_are_contiguous(t.form, x) && o.stride(1) == 1 && d_o.stride(1) == 1 ? 0 : 1;
  cpu::do_triangle_grad(ex, t, x, g, s, o, d_o, dx, ws);
}
void do_matmul(spy& ex, matrix<float const> a, matrix<float const> b, matrix<float> c, bool accumulate,
               epilogue<float> const& e) {
  ++ex.products;
  ex.unfit +=
      cpu::detail::blas_layout(a).fits && cpu::detail::blas_layout(b).fits && cpu::detail::blas_layout(c).fits ? 0 : 1;
  cpu::do_matmul(ex, a, b, c, accumulate, e);
}

edge_transformer_options sizes(double dropout, bool prune = true) {
  edge_transformer_options z;
  z.labels = labels;
  z.targets = targets;
  z.layers = 3;
  z.prune = prune;
  z.layer = {16, 2, 32, dropout, triangle_form::full, false};
  return z;
}

template <class T>
using model = edge_transformer<T>;

// Trains a model on batches of graphs. Some graphs are computed by the kernels for whole graphs, and others by the
// kernels for tiles.
template <class Ex, class T = float>
struct run {
  Ex ex;
  trainer<model<T>, Ex> train;
  graph_loader<Ex> loader;

  static trainer_options options(keep kept) {
    trainer_options o;
    o.max_norm = 1;
    o.key = 5;
    o.memory = kept;
    o.capacity = {8, 2200, 130, 2200 * 34, 34};
    return o;
  }
  explicit run(int threads, edge_transformer_options const& z, keep kept = keep::everything)
      : ex(threads), train(ex, model<T>(z), options(kept)), loader(options(kept).capacity) {
    initialize(train.parameters(), 3);
  }
  run(run const&) = delete;
  run& operator=(run const&) = delete;

  /// Loads batch `number`. A batch always has the same graphs.
  void load(std::uint64_t number, std::vector<index_t> const& nodes) {
    loader.clear();
    for (auto const n : nodes) {
      random_stream random(7, number * 100 + static_cast<std::uint64_t>(n));
      auto* const label = loader.add(n, 0, n - 1, static_cast<index_t>(random.below(targets)));
      for (index_t e = 0; e < n * n; ++e) label[e] = random.below(labels);
    }
  }
  void load(std::uint64_t number) {
    static std::vector<index_t> const batches[] = {
        {5, 3, 17, 20, 1, 4}, {34, 2, 12, 13}, {6}, {3, 4, 5, 6, 7, 8, 9, 10}};
    load(number, batches[number % 4]);
  }
  T update(double rate = 0.01) {
    auto const [in, answers] = loader.upload();
    train.update(in, answers, rate);
    return train.loss();
  }
  /// Makes an update on batch `number` in parts. Each part has graphs with these numbers of nodes.
  T update_in_parts(std::uint64_t number, std::vector<std::vector<index_t>> const& parts, double rate = 0.01) {
    std::size_t all = 0;
    for (auto const& nodes : parts) all += nodes.size();
    for (auto const& nodes : parts) {
      load(number, nodes);
      accumulate(static_cast<double>(nodes.size()) / static_cast<double>(all));
    }
    train.finish(rate);
    return train.loss();
  }
  /// Adds the gradient of the loaded graphs.
  void accumulate(double fraction) {
    auto const [in, answers] = loader.upload();
    train.accumulate(in, answers, fraction);
  }
  /// Computes the gradient of the loaded batch without a step.
  void gradient() {
    auto const [in, answers] = loader.upload();
    train.compute_gradient(in, answers);
  }
  std::vector<T> flat(vec<T> v) const { return {v.data_handle(), v.data_handle() + v.extent(0)}; }

  /// Returns the loss and the gradient norm of each update in [first, last), and then every parameter.
  std::vector<T> trace(std::uint64_t first, std::uint64_t last) {
    std::vector<T> all;
    for (auto u = first; u < last; ++u) {
      load(u);
      all.push_back(update());
      all.push_back(train.norm());
    }
    auto const values = flat(train.parameters().flat_values());
    all.insert(all.end(), values.begin(), values.end());
    return all;
  }
};

TEST_CASE("a tied model at another depth has the bits of the model that was made so deep, and goes back") {
  auto const of_depth = [](index_t layers) {
    auto z = sizes(0.2);
    z.layers = layers;
    return z;
  };
  for (auto const kept : {keep::everything, keep::inputs}) {
    run<cpu::backend> r(1, of_depth(4), kept);
    r.load(0);
    std::vector<float> of_four;
    for (index_t const layers : {4, 1, 3, 2, 4}) {
      run<cpu::backend> made(1, of_depth(layers), kept);
      made.load(0);
      r.train.set_depth(layers);
      r.gradient();
      made.gradient();
      CHECK(r.train.loss() == made.train.loss());
      auto const found = r.flat(r.train.parameters().flat_gradients());
      CHECK(found == made.flat(made.train.parameters().flat_gradients()));
      auto const [in, answers] = r.loader.upload();
      auto const [in_made, right_made] = made.loader.upload();
      CHECK(r.train.loss_of(in, answers) == made.train.loss_of(in_made, right_made));
      if (layers == 4 && of_four.empty()) of_four = found;
      CHECK((found == of_four) == (layers == 4));
    }
    CHECK(r.train.bytes().total() == run<cpu::backend>(1, of_depth(4), kept).train.bytes().total());
    CHECK(r.train.model().layers.count() == 4);
    for (index_t const layers : {0, 5})
      CHECK_THROWS_WITH(r.train.set_depth(layers), test::contains("expected 1 to 4, which memory is planned for"));
    auto untied = sizes(0);
    untied.tied = false;
    run<cpu::backend> own(1, untied, kept);
    CHECK_THROWS_WITH(own.train.set_depth(2), test::contains("the layers are not tied"));
    CHECK_NOTHROW(own.train.set_depth(3));
  }
}

TEST_CASE("without dropout a trainer has the bits of one whose model has none, and with it again its own") {
  for (auto const kept : {keep::everything, keep::inputs}) {
    run<cpu::backend> drops(1, sizes(0.2), kept), never(1, sizes(0), kept);
    auto const gradient_of = [](run<cpu::backend>& r) {
      r.load(0);
      r.gradient();
      return r.flat(r.train.parameters().flat_gradients());
    };
    auto const dropped = gradient_of(drops), whole = gradient_of(never);
    CHECK(dropped != whole);
    drops.train.set_dropout(false);
    CHECK(gradient_of(drops) == whole);
    CHECK(drops.train.loss() == never.train.loss());
    drops.train.set_dropout(true);
    CHECK(gradient_of(drops) == dropped);
  }
}

TEST_CASE("eight samples are learned by heart") {
  run<cpu::backend> r(1, sizes(0));
  r.load(0, {3, 4, 5, 6, 7, 8, 9, 10});
  float const before = r.update(0.003);
  for (int i = 0; i < 150; ++i) r.update(0.003);
  CHECK(before > 1);
  CHECK(r.update(0.003) < 0.01f);
  auto const& best = r.train.classes(r.loader.upload().first);
  REQUIRE(best.size() == 8);
  for (std::size_t g = 0; g < 8; ++g) CHECK(best[g] == r.loader.answers()[g]);
}

TEST_CASE("one seed gives the same bits for one, two and three threads, with dropout and graphs of all sizes") {
  auto const one = run<cpu::backend>(1, sizes(0.2)).trace(0, 6);
  for (float v : one) REQUIRE(std::isfinite(v));
  CHECK(one == run<cpu::backend>(2, sizes(0.2)).trace(0, 6));
  CHECK(one == run<cpu::backend>(3, sizes(0.2)).trace(0, 6));
}

TEST_CASE("training that goes on from parameters, moments and step makes the bits of training that never stopped") {
  auto const whole = run<cpu::backend>(2, sizes(0.2)).trace(0, 6);
  run<cpu::backend> first(2, sizes(0.2));
  auto begun = first.trace(0, 3);
  run<cpu::backend> second(1, sizes(0.2));
  second.train.restore(first.train.snapshot());
  // Other work between a load and the first update has no effect.
  second.load(1);
  second.gradient();
  second.train.infer(second.loader.upload().first);
  auto const rest = second.trace(3, 6);
  begun.resize(6);
  begun.insert(begun.end(), rest.begin(), rest.end());
  CHECK(begun == whole);
}

TEST_CASE("without moments training goes on as from a snapshot whose moments are zero, and not as with them") {
  auto const rest = [](bool forget, bool clear) {
    run<cpu::backend> r(1, sizes(0.2));
    (void)r.trace(0, 3);
    if (forget) r.train.forget_moments();
    auto then = r.train.snapshot();
    if (clear) then.first_moments.assign(then.first_moments.size(), 0);
    if (clear) then.second_moments.assign(then.second_moments.size(), 0);
    r.train.restore(then);
    CHECK(r.train.step() == 3);
    return r.trace(3, 6);
  };
  CHECK(rest(true, false) == rest(false, true));
  CHECK_FALSE(rest(true, false) == rest(false, false));
}

TEST_CASE("keeping inputs alone gives the bits of keeping everything") {
  CHECK(run<cpu::backend>(2, sizes(0.2)).trace(0, 4) == run<cpu::backend>(2, sizes(0.2), keep::inputs).trace(0, 4));
}

// If sums are computed in another order, the last bits of gradients differ. The largest element of the gradients is
// about 0.1.
constexpr double rounding = 2e-6;

template <class Ex>
void expect_same_gradient(run<Ex>& a, run<Ex>& b) {
  CHECK_THAT(a.train.loss(), test::WithinAbs(static_cast<double>(b.train.loss()), rounding));
  auto const x = a.flat(a.train.parameters().flat_gradients()), y = b.flat(b.train.parameters().flat_gradients());
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    worst = test::worse(worst, std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i])));
    largest = std::max(largest, std::abs(static_cast<double>(x[i])));
  }
  CHECK(largest > 0.01);
  CHECK(worst < rounding);
}

TEST_CASE("a pruned last layer, and another order of the graphs, give the same loss and gradient") {
  run<cpu::backend> plain(2, sizes(0)), whole(2, sizes(0, false)), turned(2, sizes(0));
  plain.load(0, {5, 3, 17, 4});
  whole.load(0, {5, 3, 17, 4});
  turned.load(0, {17, 4, 3, 5});
  for (auto* r : {&plain, &whole, &turned}) r->gradient();
  expect_same_gradient(plain, whole);
  expect_same_gradient(plain, turned);
}

using parts = std::vector<std::vector<index_t>>;

TEST_CASE(
    "an update in parts of any size is the update of the whole batch, clipped by the norm of the whole gradient") {
  for (auto kept : {keep::everything, keep::inputs}) {
    run<cpu::backend, double> whole(2, sizes(0), kept), split(2, sizes(0), kept), wrong(2, sizes(0), kept);
    parts const some{{5, 3, 17}, {4}, {34, 2}};
    auto const expect_same = [](double a, double b) { CHECK_THAT(a, test::WithinRel(b, 1e-12)); };
    for (std::uint64_t u = 0; u < 3; ++u) {
      whole.load(u, {5, 3, 17, 4, 34, 2});
      whole.update();
      split.update_in_parts(u, some);
      expect_same(split.train.loss(), whole.train.loss());
      expect_same(split.train.norm(), whole.train.norm());
      CHECK(whole.train.norm() > 1);  // so the gradient was clipped
    }
    CHECK(split.train.step() == 3);
    auto const values = whole.flat(whole.train.parameters().flat_values()),
               found = split.flat(split.train.parameters().flat_values());
    double worst = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      worst = test::worse(worst, std::abs(static_cast<double>(values[i] - found[i])));
    CHECK(worst < 1e-9);  // allows for steps of 0.01 with gradients that differ in their last bits
    std::vector<update_record> of_whole, of_parts;
    whole.train.records(of_whole);
    split.train.records(of_parts);
    REQUIRE(of_parts.size() == 3);
    for (std::size_t u = 0; u < 3; ++u) {
      CHECK(of_parts[u].step == u);
      expect_same(of_parts[u].loss, of_whole[u].loss);
      expect_same(of_parts[u].norm, of_whole[u].norm);
    }
    // If parts had equal weights, the update would differ.
    for (auto const& nodes : some) {
      wrong.load(0, nodes);
      wrong.accumulate(1.0 / 3);
    }
    wrong.train.finish(0.01);
    CHECK(std::abs(wrong.train.loss() - of_parts[0].loss) > 1e-3);
  }
}

TEST_CASE("every part has dropout of its own, and one part is the whole batch") {
  run<cpu::backend> one(1, sizes(0.2)), part(2, sizes(0.2)), twice(1, sizes(0.2)), again(3, sizes(0.2), keep::inputs);
  for (std::uint64_t u = 0; u < 3; ++u) {
    one.load(0, {5, 17});
    one.update();
    CHECK(part.update_in_parts(0, {{5, 17}}) == one.train.loss());
    CHECK(part.train.norm() == one.train.norm());
    // The batch has the same graphs twice. If both had the same dropout masks, the loss would equal that of the graphs
    // alone.
    auto const loss = twice.update_in_parts(0, {{5, 17}, {5, 17}});
    if (u == 0) CHECK(std::abs(loss - one.train.loss()) > 1e-3f);
    CHECK(again.update_in_parts(0, {{5, 17}, {5, 17}}) == loss);
  }
  CHECK(part.flat(part.train.parameters().flat_values()) == one.flat(one.train.parameters().flat_values()));
  CHECK(again.flat(again.train.parameters().flat_values()) == twice.flat(twice.train.parameters().flat_values()));
}

TEST_CASE("the gradient of parts with dropout is that of their loss") {
  // Compares the gradient g with the derivative of the loss along g: (loss(w + h g) - loss(w - h g)) / 2 h = |g|^2,
  // with the masks of both parts.
  run<cpu::backend, double> r(1, sizes(0.3));
  auto const loss_at = [&](std::vector<double> const& values) {
    r.train.set_step(7);  // uses the masks of this update
    std::copy(values.begin(), values.end(), r.train.parameters().flat_values().data_handle());
    r.load(0, {5, 3});
    r.accumulate(0.5);
    r.load(0, {4, 6});
    r.accumulate(0.5);
    return r.train.loss();
  };
  auto const values = r.flat(r.train.parameters().flat_values());
  loss_at(values);
  auto const gradient = r.flat(r.train.parameters().flat_gradients());
  double square = 0;
  for (double g : gradient) square += g * g;
  double const h = 1e-5 / std::sqrt(square);
  auto const moved = [&](double by) {
    auto there = values;
    for (std::size_t i = 0; i < there.size(); ++i) there[i] += by * gradient[i];
    return loss_at(there);
  };
  CHECK_THAT((moved(h) - moved(-h)) / (2 * h), test::WithinRel(square, 1e-5));
}

TEST_CASE("the first update on parameters without values is refused, and zeros that were written are values") {
  auto const options = run<cpu::backend>::options(keep::everything);
  cpu::backend ex(1);
  graph_loader<cpu::backend> loader(options.capacity);
  loader.add(3, 0, 1, 2)[1] = 4;
  auto const [in, answers] = loader.upload();
  auto const learner = [&] {
    return std::make_unique<trainer<model<float>, cpu::backend>>(ex, model<float>(sizes(0)), options);
  };
  auto const refused = test::contains("every parameter is zero");
  CHECK_THROWS_WITH(learner()->update(in, answers, 0.01), refused);
  CHECK_THROWS_WITH(learner()->accumulate(in, answers, 1), refused);
  CHECK_THROWS_WITH(learner()->infer(in), refused);
  CHECK_THROWS_WITH(learner()->evaluate_batch(in, answers), refused);
  CHECK_THROWS_WITH(learner()->loss_of(in, answers), refused);
  CHECK_NOTHROW(learner()->compute_gradient(in, answers));
  auto by_names = learner();
  initialize(by_names->parameters(), 3);
  CHECK_NOTHROW(by_names->update(in, answers, 0.01));
  auto by_rows = learner();
  by_rows->parameters().flat_values()(2000) = 1;
  CHECK_NOTHROW(by_rows->update(in, answers, 0.01));
  auto zeros = learner();
  initialize(zeros->parameters(), 3, [](std::string const&) { return initializer::constant(0); });
  CHECK_NOTHROW(zeros->update(in, answers, 0.01));
}

TEST_CASE("a batch that does not fit is refused with its sizes and those of the capacity") {
  cpu::backend ex(1);
  graph_dims const room{8, 2200, 130, 2200 * 34, 34};
  graph_loader<cpu::backend> loader(room);
  loader.add(5, 0, 1, 2);
  auto const [in, answers] = loader.upload();
  auto forgotten = run<cpu::backend>::options(keep::everything);
  forgotten.capacity = {};
  trainer<model<float>, cpu::backend> learner(ex, model<float>(sizes(0)), forgotten);
  initialize(learner.parameters(), 3);
  CHECK_THROWS_WITH(
      learner.update(in, answers, 0.01),
      test::contains(
          "trainer: a batch of 1 graphs, 25 edges, 5 nodes, 125 triangles, 5 nodes in the largest does not fit") &&
          test::contains("capacity in the trainer's options is 0 graphs, 0 edges"));
  CHECK_THROWS_WITH(learner.infer(in), test::contains("trainer: a batch of 1 graphs"));
}

TEST_CASE("a label that the model does not know is reported with its edge, its graph and the labels that there are") {
  run<cpu::backend> r(1, sizes(0));
  r.load(0, {5, 3});
  r.loader.add(4, 0, 1, 2)[1 * 4 + 2] = labels;
  auto const in = r.loader.upload().first;
  CHECK_THROWS_WITH(r.train.infer(in),
                    test::contains("edge (1, 2) of graph 2 has label 9, and the model knows 0 to 8"));
}

TEST_CASE("a learning rate that is no number, or goes uphill, is refused") {
  run<cpu::backend> r(1, sizes(0), keep::everything);
  r.load(0, {5, 3});
  auto const [in, answers] = r.loader.upload();
  for (double const rate : {-0.1, std::nan(""), std::numeric_limits<double>::infinity()})
    CHECK_THROWS_WITH(r.train.update(in, answers, rate), test::contains("trainer: the learning rate is "));
  CHECK(r.train.step() == 0);
}

TEST_CASE(
    "attention weights are refused of a layer, a graph or a node that is not there, and of a layer that was not kept") {
  for (auto const kept : {keep::everything, keep::nothing}) {
    run<cpu::backend> r(1, sizes(0), kept);
    r.load(0, {5, 3});
    auto const in = r.loader.upload().first;
    r.train.infer(in);
    std::vector<float> memory(2 * 5);
    auto const weights = make_matrix(memory.data(), 2, 5, 5);
    arena none;
    auto const ask = [&](index_t layer, index_t graph, index_t i, index_t j) {
      r.train.model().attention_weights(r.ex, r.train.inspection_call(none), r.train.parameters().values(), in,
                                        r.train.saved(in.graphs.dims), layer, graph, i, j, weights);
    };
    CHECK_NOTHROW(ask(2, 0, 0, 4));  // the last layer has its own memory
    CHECK_THROWS_WITH(ask(7, 0, 0, 1), test::contains("layer 7, expected 0 to 2"));
    CHECK_THROWS_WITH(ask(-1, 0, 0, 1), test::contains("layer -1"));
    CHECK_THROWS_WITH(ask(2, 2, 0, 1), test::contains("graph 2, expected 0 to 1"));
    CHECK_THROWS_WITH(ask(2, 0, 0, 5), test::contains("edge (0, 5)"));
    if (kept == keep::everything)
      CHECK_NOTHROW(ask(0, 0, 0, 1));
    else
      CHECK_THROWS_WITH(ask(0, 0, 0, 1), test::contains("layer 0 of 3 has no memory of its own"));
  }
}

TEST_CASE("an update in parts that has begun is finished, or forgotten, before anything else is computed") {
  run<cpu::backend> r(1, sizes(0.2));
  r.load(2);
  CHECK_THROWS_WITH(r.train.finish(0.01), test::contains("expected accumulate() before it"));
  CHECK_THROWS_WITH(r.accumulate(1.5), test::contains("expected 0 to 1"));
  r.accumulate(0.5);
  CHECK_THROWS_WITH(r.update(), test::contains("finish() it first"));
  CHECK_THROWS_WITH(r.gradient(), test::contains("finish() it first"));
  r.accumulate(0.5);
  r.train.finish(0.01);
  r.accumulate(0.5);
  CHECK_THROWS_WITH(r.train.finish(0.01), test::contains("sum to 0.500000, expected 1"));
  r.accumulate(1);
  CHECK_THROWS_WITH(r.train.finish(0.01), test::contains("sum to 1.500000, expected 1"));
  r.train.set_step(1);
  r.accumulate(0);  // a batch without questions
  CHECK_NOTHROW(r.train.finish(0.01));
  r.update();
  CHECK(r.train.step() == 3);
}

TEST_CASE("a training step allocates nothing") {
  for (auto kept : {keep::everything, keep::inputs}) {
    run<cpu::backend> r(2, sizes(0.2), kept);
    for (std::uint64_t u = 0; u < 4; ++u) r.load(u), r.update();  // threads start here, and BLAS allocates its buffers
    auto const before = allocations.load();
    float loss = 0;
    for (std::uint64_t u = 4; u < 12; ++u) {
      r.load(u);
      loss += r.update();
    }
    r.load(12);
    for (int p = 0; p < 3; ++p) r.accumulate(1.0 / 3);
    r.train.finish(0.01);
    r.train.infer(r.loader.upload().first);
    auto const after = allocations.load();
    CHECK(after - before == 0);
    CHECK(loss > 0);
  }
  auto const before = allocations.load();
  ::operator delete(::operator new(100));
  CHECK(allocations.load() > before);  // shows that allocations are counted
}

TEST_CASE("records are what the updates since the last call found, of which the last 64 are remembered") {
  run<cpu::backend> r(1, sizes(0.2));
  std::vector<update_record> found;
  r.train.records(found);
  CHECK(found.empty());
  std::vector<float> losses, norms;
  auto const update = [&](std::uint64_t count) {
    losses.clear(), norms.clear();
    for (std::uint64_t u = 0; u < count; ++u) {
      r.load(2);
      losses.push_back(r.update());
      norms.push_back(r.train.norm());
    }
    r.train.records(found);
  };
  r.train.set_step(1000);  // as after loading a checkpoint
  for (std::uint64_t count : {1u, 3u, 63u, 70u}) {
    auto const first = r.train.step();
    update(count);
    auto const told = std::min<std::size_t>(count, 64), forgotten = count - told;
    REQUIRE(found.size() == told);
    for (std::size_t i = 0; i < told; ++i) {
      CHECK(found[i].step == first + forgotten + i);
      CHECK(found[i].loss == static_cast<double>(losses[forgotten + i]));
      CHECK(found[i].norm == static_cast<double>(norms[forgotten + i]));
    }
  }
}

TEST_CASE("a training step takes cpu's own triangle and BLAS for all of its products") {
  run<spy> r(1, sizes(0.2));
  r.load(0);
  r.update();
  CHECK(r.ex.triangles == 3);
  CHECK(r.ex.gradients == 3);
  // The forward pass has 4 products in each layer and 2 in the readout. The backward pass has twice as many.
  CHECK(r.ex.products == 3 * (3 * 4 + 2));
  CHECK(r.ex.unfit == 0);
  // The step must equal that of the cpu backend.
  run<cpu::backend> other(1, sizes(0.2));
  other.load(0);
  CHECK(other.update() == r.train.loss());
}

TEST_CASE("a trainer's plan is what it holds, and a batch larger than the capacity is refused") {
  run<cpu::backend> r(1, sizes(0.2));
  auto const bytes = r.train.bytes();
  CHECK(bytes.parameters == r.train.parameters().bytes());
  CHECK(bytes.total() == bytes.parameters + bytes.saved + bytes.scratch);
  CHECK_FALSE(r.loader.has_room(35));
  graph_loader<cpu::backend> wide({8, 5000, 200, 5000 * 60, 60});
  wide.add(60, 0, 1, 0);
  auto const [in, answers] = wide.upload();
  CHECK_THROWS_WITH(r.train.compute_gradient(in, answers), test::contains("more was asked for than was measured"));
}

TEST_CASE("answers that were uploaded stay so while the next batch is filled") {
  graph_loader<reference::backend> loader({4, 40, 10, 100, 4});
  loader.add(3, 0, 2, 5);
  loader.add(2, 0, 1, 7);
  auto const answers = loader.upload().second;
  loader.clear();
  loader.add(4, 0, 3, 9);
  REQUIRE(answers.extent(0) == 2);
  CHECK((answers(0) == 5 && answers(1) == 7));
}

TEST_CASE("a trainer for inference holds values alone") {
  run<cpu::backend> r(1, sizes(0.2), keep::nothing);
  run<cpu::backend> learner(1, sizes(0.2));
  CHECK(r.train.bytes().parameters * 4 == learner.train.bytes().parameters);
  r.load(0);
  learner.load(0);
  auto const a = r.train.infer(r.loader.upload().first);
  auto const b = learner.train.infer(learner.loader.upload().first);
  for (index_t g = 0; g < a.extent(0); ++g)
    for (index_t t = 0; t < targets; ++t) CHECK(a(g, t) == b(g, t));
  CHECK_THROWS_AS(r.gradient(), contract_violation);
  auto const [in, answers] = r.loader.upload();
  CHECK_THROWS_WITH(r.train.update(in, answers, 1e-3), test::contains("options.memory keep::nothing"));
  CHECK_THROWS_WITH(r.train.forget_moments(), test::contains("options.memory keep::nothing"));
}

}  // namespace train_trainer_tests
