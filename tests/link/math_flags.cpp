// This file is compiled twice with different flags, and both objects are linked into one program. Each object defines a
// function, with its own name, that returns results of the cpu backend.
// SPDX-License-Identifier: Apache-2.0
#include "tests/link/math_flags.hpp"

#include <vector>

#include "triad/core/finite.hpp"
#include "triad/core/random.hpp"
#include "triad/cpu/attention.hpp"
#include "triad/cpu/cross_entropy.hpp"
#include "triad/cpu/elementwise.hpp"
#include "triad/decoding/arborescence.hpp"
#include "triad/ops/attention.hpp"
#include "triad/ops/cross_entropy.hpp"
#include "triad/ops/elementwise.hpp"

#if defined(TRIAD_TEST_OF_TRAINING)
#include "triad/batches/graph_loader.hpp"
#include "triad/batches/room_for.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/train/fit.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"
#endif

using namespace triad;

namespace {

// Returns numbers that a compiler cannot compute at compile time.
std::vector<float> numbers(index_t count) {
  random_stream random(5, static_cast<std::uint64_t>(count));
  std::vector<float> some(static_cast<std::size_t>(count));
  for (float& x : some) x = static_cast<float>(random.below(2001)) / 500.0f - 2.0f;
  return some;
}
float no_number() {
  float volatile zero = 0;
  return zero / zero;
}
vec<float const> view(std::vector<float> const& x) { return make_vec(x.data(), static_cast<index_t>(x.size())); }
vec<float> view(std::vector<float>& x) { return make_vec(x.data(), static_cast<index_t>(x.size())); }
matrix<float const> rows_of(std::vector<float> const& x, index_t width) {
  return make_matrix(x.data(), static_cast<index_t>(x.size()) / width, width, width);
}
matrix<float> rows_of(std::vector<float>& x, index_t width) {
  return make_matrix(x.data(), static_cast<index_t>(x.size()) / width, width, width);
}

// Computes causal attention with masked keys. All keys of the second sequence are masked. In the first sequence, all
// keys that the first query could attend to are masked.
void attend(answers& found) {
  cpu::backend ex(1);
  std::vector<index_t> const size{21, 3}, first{0, 21};
  sequence_batch const rows{2, 24, 21, make_vec(size.data(), 2), make_vec(first.data(), 2)};
  std::vector<std::uint8_t> masked(24, 0);
  for (std::size_t const j : {0u, 7u, 21u, 22u, 23u}) masked[j] = 1;
  attention_options const t{.heads = 2, .causal = true, .masked = make_vec<std::uint8_t const>(masked.data(), 24)};
  constexpr index_t d = 8;
  auto all = numbers(4 * 24 * d);
  auto const part = [&](int i) { return make_matrix<float const>(all.data() + i * 24 * d, 24, d, d); };
  std::vector<float> context(24 * d), dq(24 * d), dk(24 * d), dv(24 * d), lse(48);
  std::vector<std::byte> room(1 << 20);
  arena scratch(room.data(), room.size());
  auto const both = [&] {
    attention(ex, scratch, t, {rows, rows}, {part(0), part(1), part(2)}, view(lse), rows_of(context, d));
    attention_grad(ex, scratch, t, {rows, rows}, {part(0), part(1), part(2)}, vec<float const>(view(lse)),
                   matrix<float const>(rows_of(context, d)), part(3), {rows_of(dq, d), rows_of(dk, d), rows_of(dv, d)});
  };
  both();
  for (auto const* some : {&context, &dq, &dk, &dv}) found.add(*some);
  all[5 * d] = no_number();
  both();
  found.expect(is_nan(context[5 * d]) && is_finite(context[4 * d]), "attention swallows a query that is NaN");
}

void choose(answers& found) {
  cpu::backend ex(1);
  constexpr index_t v = 37;
  auto logits = numbers(3 * v);
  std::vector<float> dlogits(3 * v), loss(1);
  std::vector<index_t> const target{36, 0, 17};
  auto const both = [&] {
    cross_entropy(ex, rows_of(std::as_const(logits), v), make_vec(target.data(), 3), view(loss), rows_of(dlogits, v),
                  {0.1});
  };
  both();
  found.add(loss);
  found.add(dlogits);
  logits[v + 36] = no_number();
  both();
  found.expect(is_nan(loss[0]), "cross_entropy swallows a logit that is NaN");
  bool refused = false;
  try {
    cross_entropy(ex, rows_of(std::as_const(logits), v), make_vec(target.data(), 3), view(loss), rows_of(dlogits, v),
                  {no_number()});
  } catch (contract_violation const&) {
    refused = true;
  }
  found.expect(refused, "cross_entropy takes a smoothing that is NaN");
}

void transform_all(answers& found) {
  cpu::backend ex(1);
  auto x = numbers(50);
  x[3] = x[49] = no_number();
  std::vector<float> y(50);
  for (bool const second : {false, true}) {
    if (second)
      transform(ex, relu{}, view(std::as_const(x)), view(y));
    else
      transform(ex, gelu{}, view(std::as_const(x)), view(y));
    found.expect(is_nan(y[3]) && is_nan(y[49]), "relu or gelu swallows NaN");
    y[3] = y[49] = 0;
    found.add(y);
  }
  std::vector<float> const ones(50, 1.0f);
  transform(ex, relu_grad{}, view(std::as_const(x)), view(ones), view(y));
  found.expect(y[3] == 1 && y[49] == 1, "the gradient of relu takes NaN for 0");
}

void choose_trees(answers& found) {
  std::vector<float> scores{0, 1, 2, 3, 0, 1, 4, 2, 0};
  auto const tree = [&] { return maximum_arborescence(rows_of(std::as_const(scores), 3), roots::one); };
  for (auto const parent : tree()) found.add({static_cast<float>(parent)});
  scores[2] = no_number();
  bool refused = false;
  try {
    tree();
  } catch (contract_violation const&) {
    refused = true;
  }
  found.expect(refused, "maximum_arborescence takes a score that is NaN");
}

#if defined(TRIAD_TEST_OF_TRAINING)
void train(answers& found) {
  cpu::backend ex(1);
  edge_transformer<float> const model(
      {.labels = 5, .targets = 4, .layers = 2, .layer = {.width = 24, .heads = 2, .hidden = 40, .dropout = 0.1}});
  graph_dims const room = room_for_graphs(3, 25, 25);
  graph_loader<cpu::backend> batch(room);
  trainer learner(ex, model, {.max_norm = 1, .key = 7, .capacity = room});
  initialize(learner.parameters(), 1);
  random_stream random(2, 0);
  for (index_t const n : {5, 9, 25}) {  // the small graphs are computed as a whole, the large one in tiles
    auto* const label = batch.add(n, 0, n - 1, random.below(4));
    for (index_t e = 0; e < n * n; ++e) label[e] = random.below(5);
  }
  auto const [questions, answers_to_them] = batch.upload();
  for (int step = 0; step < 3; ++step) {
    learner.update(questions, answers_to_them, 1e-3);
    found.add({static_cast<float>(learner.loss()), static_cast<float>(learner.norm())});
  }
  bool stopped = false;
  try {
    using pair = std::pair<decltype(questions), decltype(answers_to_them)>;
    fit(learner, [&](std::uint64_t) { return std::vector<pair>(3, pair(questions, answers_to_them)); },
        {.epochs = 3, .schedule = constant_rate{1e30}});
  } catch (training_failure const&) {
    stopped = true;
  }
  found.expect(stopped, "fit goes on with a loss that is NaN");
}
#endif

}  // namespace

answers TRIAD_TEST_UNIT() {
  answers found;
  attend(found);
  choose(found);
  transform_all(found);
  choose_trees(found);
#if defined(TRIAD_TEST_OF_TRAINING)
  train(found);
#endif
  return found;
}
