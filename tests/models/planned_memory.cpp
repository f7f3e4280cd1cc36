// Tests how much memory the Edge Transformer plans. On no backend may an array have the size of all triangles times the
// width.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/cpu/products/loop_engine.hpp"
#include "tests/ragged.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/ops/cross_entropy.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"

namespace models_planned_memory_tests {

using namespace triad;
using test::WithinRel;

constexpr index_t d = 32, heads = 4;

edge_transformer_layer_options layer_options(triangle_form variant = triangle_form::full) {
  return {d, heads, 4 * d, 0.2, variant, false};
}
edge_transformer_options sizes(index_t layers) { return {19, 21, layers, true, layer_options()}; }

graph_dims batch_of(index_t b, index_t n) { return {b, b * n * n, b * n, b * n * n * n, n}; }

// Each view of a plan begins at a cache line and ends with slack.
constexpr std::size_t per_view = arena_slack + arena_alignment;

template <class Plan>
void expect_bytes(Plan&& plan, index_t floats, std::size_t views) {
  auto const bytes = planned_bytes(plan), exact = static_cast<std::size_t>(floats) * sizeof(float);
  CHECK(bytes >= exact);
  CHECK(bytes <= exact + views * per_view);
}

TEST_CASE("triangular attention keeps five values a column of an edge, and two numbers a head") {
  for (auto const dims : {batch_of(1, 64), batch_of(1, 128), batch_of(7, 5)}) {
    CAPTURE(dims.graphs, dims.max_nodes);
    triangular_attention<float> const full{extents<dyn, dyn>(d, heads)};
    expect_bytes([&](arena& a) { (void)full.plan_saved(a, dims); }, dims.rows * (5 * d + 2 * heads), 4);
    triangular_attention<float> const left{extents<dyn, dyn>(d, heads), triangle_form::value_ablation};
    expect_bytes([&](arena& a) { (void)left.plan_saved(a, dims); }, dims.rows * (4 * d + 2 * heads), 4);
  }
}

TEST_CASE("a layer keeps thirteen values a column of an edge with its input, and its statistics") {
  for (auto const dims : {batch_of(1, 64), batch_of(1, 128), batch_of(7, 5)}) {
    CAPTURE(dims.graphs, dims.max_nodes);
    repeat<float, edge_transformer_layer<float>> const stack{edge_transformer_layer<float>(layer_options()),
                                                             extents<dyn>(8), true};
    index_t const statistics = 2 * heads + 4, layer = 12 * d + statistics;
    expect_bytes([&](arena& a) { (void)stack.plan_saved(a, dims); }, 8 * dims.rows * (layer + d), 8 * 14);
    expect_bytes([&](arena& a) { (void)stack.plan_saved(a, dims, keep::inputs); }, dims.rows * (layer + 8 * d), 8 + 14);
    expect_bytes([&](arena& a) { (void)stack.plan_saved(a, dims, keep::nothing); }, dims.rows * (layer + 2 * d),
                 2 + 14);
  }
}

TEST_CASE("a pruned last layer keeps rows for what is read alone after its triangle") {
  auto const dims = batch_of(10, 20);
  edge_transformer_layer<float> const layer(layer_options());
  index_t const statistics = 2 * heads + 2, before = dims.rows * (6 * d + statistics),
                after = 10 * (2 * d + d + 2 + d + 4 * d);
  expect_bytes([&](arena& a) { (void)layer.plan_saved(a, dims, keep::everything, 10); }, before + after, 13);
}

template <class Ex>
trainer_bytes planned(Ex& ex, index_t layers, graph_dims const& dims, keep kept) {
  using model = edge_transformer<float>;
  trainer_options o;
  o.capacity = dims;
  o.memory = kept;
  return trainer<model, Ex>::plan(ex, model(sizes(layers)), o);
}

TEMPLATE_TEST_CASE("twice the nodes take four times the memory of a training step, not eight", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (auto kept : {keep::everything, keep::inputs, keep::nothing}) {
    auto const one = planned(ex, 8, batch_of(1, 128), kept), two = planned(ex, 8, batch_of(1, 256), kept);
    CAPTURE(static_cast<int>(kept), one.saved, one.scratch, two.saved, two.scratch);
    CHECK_THAT(static_cast<double>(two.saved) / static_cast<double>(one.saved), WithinRel(4.0, 0.01));
    // Returns the size of the dropout bits of the cpu backend, which are n^3 bits for each head. The limit below does
    // not count them. The size of the remaining scratch memory depends on the processor's vectors.
    auto const masks = [](std::size_t n) {
      return std::is_same_v<TestType, cpu::backend> ? heads * n * n * n / 8 : std::size_t{0};
    };
    CHECK(two.scratch - masks(256) < 6 * (one.scratch - masks(128)));
    CHECK(two.total() < 5 * one.total());
    CHECK(two.total() < std::size_t{256} * 256 * 256 * d * sizeof(float) / 8 * (kept == keep::everything ? 8 : 2));
    CHECK(two.parameters == one.parameters);
  }
}

TEST_CASE(
    "inference of eight layers takes the saved memory of little more than one, recomputation of less than three") {
  cpu::backend ex;
  auto const dims = batch_of(100, 5);
  auto const everything = planned(ex, 8, dims, keep::everything), inputs = planned(ex, 8, dims, keep::inputs),
             nothing = planned(ex, 8, dims, keep::nothing);
  auto const layer = static_cast<double>(everything.saved) / 8;
  CHECK(static_cast<double>(inputs.saved) < 3.2 * layer);   // memory of two layers, one of them pruned, and 8 of 13 d
  CHECK(static_cast<double>(nothing.saved) < 2.2 * layer);  // the states above, and two more
  CHECK(nothing.parameters * 4 == everything.parameters);
  CHECK(nothing.scratch < everything.scratch);
}

/// Numbers that a pass computes: logits, gradients, and attention weights of one edge.
struct outcome {
  std::vector<float> logits, gradients, weights;
  std::size_t saved = 0;
  friend bool operator==(outcome const&, outcome const&) = default;
};

/// Computes a pass with memory for factors that are rounded from extents of `rounds_from` on.
outcome pass_of(cpu::backend& ex, edge_transformer_options const& z, keep kept, index_t rounds_from) {
  constexpr index_t graphs = 40;  // products with fewer than 32 rows have float factors
  edge_transformer<float> const model(z);
  parameter_set<edge_transformer<float>, cpu::backend> parameters(model, holding::gradients);
  initialize(parameters, 3);
  graph_dims dims;
  for (index_t g = 0; g < graphs; ++g) dims = dims + dims_of(3 + g % 8);
  graph_loader<cpu::backend> loader(dims, {});
  for (index_t g = 0; g < graphs; ++g) {
    index_t const n = 3 + g % 8;
    auto* const label = loader.add(n, 0, n - 1, g % z.targets);
    for (index_t i = 0; i < n * n; ++i) label[i] = (i * 7 + g) % z.labels;
  }
  auto const batch = loader.upload();
  auto const& in = batch.first;
  auto const plan = [&](arena& a) { return model.plan_saved(a, dims, kept); };
  outcome found;
  found.saved = planned_bytes([&](arena& a) { (void)plan(a); }, rounds_from);
  buffer<> const memory(found.saved);
  auto place = memory.place();
  place.set_rounds_from(rounds_from);
  auto const saved = plan(place);
  found.logits.resize(static_cast<std::size_t>(graphs * z.targets));
  found.weights.resize(static_cast<std::size_t>(heads * 10));
  std::vector<float> d_logits(found.logits.size());
  tensor<float, dyn, dyn> const y(found.logits.data(), graphs, z.targets), dy(d_logits.data(), graphs, z.targets);
  float loss = 0;
  std::uint64_t const step = 6;
  call c;
  c.train = true;
  c.step = &step;
  test::with_scratch(ex, c, [&](auto& here, call const& use) {
    model.forward(here, use, parameters.values(), in, saved, y);
    cross_entropy(here, y, batch.second, make_vec(&loss, 1), dy);
    model.backward(here, use, parameters.values(), in, saved, dy, parameters.gradients());
    if (kept == keep::everything)
      model.attention_weights(here, use, parameters.values(), in, saved, 1, 7, 2, 5,
                              make_matrix(found.weights.data(), heads, 10, 10));
  });
  auto const all = parameters.flat_gradients();
  found.gradients.assign(all.data_handle(), all.data_handle() + all.size());
  return found;
}

TEST_CASE("factors that are kept in bfloat16 change no bit of a pass in bf16, and take less memory") {
  test::loop_engine const engine(true);
  for (bool const pruned : {true, false})
    for (auto const kept : {keep::everything, keep::inputs}) {
      auto z = sizes(3);
      z.prune = pruned;
      cpu::backend one(1, &engine, cpu::arithmetic::bf16), three(3, &engine, cpu::arithmetic::bf16);
      auto floats = pass_of(one, z, kept, 0), halves = pass_of(one, z, kept, one.rounds_from()),
           threads = pass_of(three, z, kept, three.rounds_from());
      CAPTURE(pruned, static_cast<int>(kept));
      CHECK(halves == threads);
      CHECK(static_cast<double>(halves.saved) <
            (kept == keep::everything ? 0.5 : 0.95) * static_cast<double>(floats.saved));
      floats.saved = halves.saved;
      CHECK(floats == halves);
      CHECK(std::any_of(halves.gradients.begin(), halves.gradients.end(), [](float g) { return g != 0; }));
      CHECK(engine.outside == 0);
    }
}

TEST_CASE("a training step of eight layers takes 0.65 of the memory if products round their factors to bf16") {
  test::loop_engine const engine(true);
  cpu::backend rounding(2, &engine, cpu::arithmetic::bf16), plain(2, &engine);
  auto const dims = batch_of(400, 4);
  auto const halves = planned(rounding, 8, dims, keep::everything), floats = planned(plain, 8, dims, keep::everything);
  CHECK(static_cast<double>(halves.total()) < 0.65 * static_cast<double>(floats.total()));
  CHECK(halves.parameters == floats.parameters);
}

}  // namespace models_planned_memory_tests
