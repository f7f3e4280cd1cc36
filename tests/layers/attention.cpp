// Tests self-attention with its projections. Compares it with its definition, also with relative positions, and tests
// the cache of keys and values.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/attention.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"
#include "tests/layers/sentences.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/layers/residual.hpp"

namespace layers_attention_tests {

using namespace triad;

constexpr index_t width = 6, heads = 2;

struct sentences : test::sentences {
  sentences() : test::sentences(6) {}
};

// Computes self-attention with relative positions by the definition, with the parameters of a layer.
std::vector<double> written_out(sentences const& s, self_attention<double> const& layer,
                                self_attention<double>::fields<double const> const& w) {
  index_t const k = width / heads;
  auto const affine = [](std::vector<double> const& x, index_t rows, tensor<double const, dyn, dyn> weight, auto bias) {
    std::vector<double> y(static_cast<std::size_t>(rows * width));
    for (index_t r = 0; r < rows; ++r)
      for (index_t f = 0; f < width; ++f) {
        double sum = bias(f);
        for (index_t e = 0; e < width; ++e) sum += x[static_cast<std::size_t>(r * width + e)] * weight(f, e);
        y[static_cast<std::size_t>(r * width + f)] = sum;
      }
    return y;
  };
  auto projections = w.projections;
  std::vector<std::vector<double>> qkv;
  tensor<double const, dyn, dyn> weight(nullptr, 0, 0);
  walk(projections, [&](std::string const&, auto view) {  // query, key and value, each with weight and bias
    if constexpr (decltype(view)::rank() == 2)
      weight = tensor<double const, dyn, dyn>(view);
    else
      qkv.push_back(affine(s.x, s.rows, weight, view));
  });
  REQUIRE(qkv.size() == 3);
  std::vector<double> c(s.x.size());
  for (std::size_t g = 0; g < s.graphs.size.size(); ++g)
    for (index_t h = 0; h < heads; ++h)
      for (index_t i = 0; i < s.graphs.size[g]; ++i) {
        auto const at = [&](std::size_t which, index_t token, index_t f) {
          return qkv[which][static_cast<std::size_t>((s.graphs.node_begin[g] + token) * width + h * k + f)];
        };
        double total = 0;
        for (int pass = 0; pass < 2; ++pass)
          for (index_t j = 0; j < (layer.causal ? i + 1 : s.graphs.size[g]); ++j) {
            index_t const r = std::clamp(j - i, -layer.reach, layer.reach) + layer.reach;
            double score = 0;
            for (index_t f = 0; f < k; ++f) score += at(0, i, f) * (at(1, j, f) + w.relative_key(r, f));
            double const e = std::exp(score / std::sqrt(static_cast<double>(k)));
            if (pass == 0) total += e;
            for (index_t f = 0; pass == 1 && f < k; ++f)
              c[static_cast<std::size_t>((s.graphs.node_begin[g] + i) * width + h * k + f)] +=
                  e / total * (at(2, j, f) + w.relative_value(r, f));
          }
      }
  return affine(c, s.rows, w.output.weight, w.output.bias);
}

TEMPLATE_TEST_CASE("self-attention with relative positions is what Shaw et al. write", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  sentences const s;
  for (index_t reach : {1, 2, 7})
    for (bool causal : {false, true}) {
      CAPTURE(reach, causal);
      self_attention<double> const layer{extents<dyn, dyn>(width, heads), 0, causal, reach};
      test::spoiled_memory const memory([&](arena& a) {
        (void)layer.plan_params(a);
        (void)layer.plan_saved(a, row_dims(s.rows));
        return a.make<tensor<double, dyn, dyn>>(s.rows, width);
      });
      auto place = memory.place(), again = memory.place();
      auto const w = layer.plan_params(place);
      auto const values = plan<double const>(layer, again);
      random_stream random(4, 5);
      walk(w, [&](std::string const&, auto view) {
        for (std::size_t i = 0; i < view.size(); ++i) view.data_handle()[i] = random.uniform(-0.9, 0.9);
      });
      auto const saved = layer.plan_saved(place, row_dims(s.rows));
      auto const y = place.template make<tensor<double, dyn, dyn>>(s.rows, width);
      test::with_scratch(
          ex, {}, [&](auto& backend, call const& use) { layer.forward(backend, use, values, s.input(), saved, y); });
      auto const expected = written_out(s, layer, values);
      for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK_THAT(y.data_handle()[i], test::WithinAbs(expected[i], 1e-13));
    }
}

TEMPLATE_TEST_CASE("self-attention takes the residual on its last product", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  sentences const s;
  using layer = self_attention<double>;
  CHECK_GRADIENT(gradient_check(ex, residual<layer>(layer{extents<dyn, dyn>(width, heads), 0.3}), row_dims(s.rows),
                                s.input(true), {s.rows, width}, {.elements = 10}));
}

TEST_CASE("self-attention of static and of dynamic shape computes the same bits, without tokens too") {
  sentences const s;
  using fixed = self_attention<double, width, heads>;
  using free = self_attention<double>;
  test::expect_same(test::outcome_of(fixed{{}, 0.3, true, 2}, row_dims(s.rows), s.input<width>(true), {s.rows, width}),
                    test::outcome_of(free{extents<dyn, dyn>(width, heads), 0.3, true, 2}, row_dims(s.rows),
                                     s.input(true), {s.rows, width}));
  sequence_input<double, dyn> const none{tensor<double const, dyn, dyn>(nullptr, 0, width), {}};
  auto const empty = test::outcome_of(free{extents<dyn, dyn>(width, heads)}, row_dims(0), none, {0, width});
  CHECK(empty.value == 0);
  for (auto const& part : empty.gradient)
    for (double v : part.values) CHECK(v == 0);
}

// Computes one token after another with the cached keys and values of earlier tokens, like a decoder.
TEST_CASE("a causal layer says of the newest token with a cache what it says of the whole sequence without") {
  reference::backend ex;
  index_t const n = 5;
  test::ragged const one({n});
  auto const x = test::random_values(n * width, 3);
  self_attention<double> const layer{extents<dyn, dyn>(width, heads), 0, true};
  parameter_set<self_attention<double>, reference::backend> p(layer, holding::values);
  auto const flat = p.flat_values();
  auto const values = test::random_values(flat.extent(0), 4);
  std::copy(values.begin(), values.end(), flat.data_handle());
  std::vector<double> whole(x.size()), memory(2 * x.size()), newest(width);
  auto const view = [](auto& v, index_t rows) {
    return tensor<std::remove_reference_t<decltype(v[0])>, dyn, dyn>(v.data(), rows, width);
  };
  auto const run = [&](index_t rows, auto&& forward) {
    test::spoiled_memory const held([&](arena& a) { return layer.plan_saved(a, row_dims(rows)); });
    auto place = held.place();
    auto const saved = layer.plan_saved(place, row_dims(rows));
    test::with_scratch(ex, {}, [&](auto& backend, call const& c) { forward(backend, c, saved); });
  };
  run(n, [&](auto& backend, call const& c, auto const& saved) {
    layer.forward(backend, c, p.values(), {view(x, n), nodes_of(one.batch())}, saved, view(whole, n));
  });
  index_t const zero = 0, single = 1;
  for (index_t t = 0; t < n; ++t) {
    index_t const length = t + 1;
    sequence_batch const query{1, 1, 1, make_vec(&single, 1), make_vec(&zero, 1)},
        keys{1, n, n, make_vec(&length, 1), make_vec(&zero, 1)};
    attention_cache<double> cache{tensor<double, dyn, dyn, dyn>(memory.data(), 1, n, 2 * width), length, {query, keys}};
    tensor<double const, dyn, dyn> const now(x.data() + t * width, 1, width);
    run(1, [&](auto& backend, call const& c, auto const& saved) {
      layer.forward(backend, c, p.values(), {now, query}, saved, view(newest, 1), {}, cache);
    });
    for (index_t f = 0; f < width; ++f)
      CHECK_THAT(newest[static_cast<std::size_t>(f)],
                 test::WithinAbs(whole[static_cast<std::size_t>(t * width + f)], 1e-14));
    if (t + 1 < n) continue;
    cache.length = n + 1;
    run(1, [&](auto& backend, call const& c, auto const& saved) {
      CHECK_THROWS_WITH(
          layer.forward(backend, c, p.values(), {now, query}, saved, view(newest, 1), {}, cache),
          test::contains("self_attention: the cache has " + std::to_string(n + 1) + " tokens, expected 1 to "));
      CHECK_THROWS_WITH(layer.forward(backend, c, p.values(), {view(x, n), query}, saved, view(newest, 1), {}, cache),
                        test::contains("rows of x, expected 1"));
    });
  }
}

}  // namespace layers_attention_tests
