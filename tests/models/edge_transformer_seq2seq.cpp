// Tests the encoder-decoder Edge Transformer: its gradient for all combinations of options, that padding does not
// change results, and that the decoder's results do not depend on future tokens.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/edge_transformer_seq2seq.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/distance.hpp"
#include "tests/models/model_use.hpp"
#include "triad/batches/edge_pair_loader.hpp"
#include "triad/batches/position_waves.hpp"
#include "triad/cpu/cpu.hpp"

namespace models_edge_transformer_seq2seq_tests {

using namespace triad;

constexpr index_t width = 6, heads = 2, hidden = 8, tokens = 8, begin_token = 1, end_token = 2, reach = 2;

using loader = edge_pair_loader<reference::backend, double>;
using list = std::vector<index_t>;
struct pair {
  list source, target;
};

std::vector<pair> const three{{{3, 4, 5}, {6, 3}}, {{6}, {7, 5, 3}}, {{4, 4}, {}}};

edge_pair_dims room_for(std::vector<pair> const& pairs) {
  edge_pair_dims z;
  for (auto const& p : pairs)
    z = z + edge_pair_dims_of(static_cast<index_t>(p.source.size()) + 1, static_cast<index_t>(p.target.size()) + 1);
  return z;
}

loader loaded(edge_pair_layout const& layout, std::vector<pair> const& pairs = three) {
  loader l(room_for(pairs), layout, width, begin_token, end_token);
  for (auto const& p : pairs) l.add(p.source, p.target);
  return l;
}

edge_transformer_seq2seq_options sizes(sequence_encoding encoding = sequence_encoding::relational,
                                       edge_readout readout = edge_readout::diagonal, bool tied = false,
                                       double dropout = 0) {
  edge_transformer_seq2seq_options z;
  z.tokens = tokens;
  z.reach = reach;
  z.layers = 2;
  z.tied = tied;
  z.layer = {width, heads, hidden, dropout, triangle_form::full, true};
  z.encoding = encoding;
  z.readout = readout;
  z.positional_dropout = dropout;
  return z;
}

struct arrangement {
  char const* name;
  edge_transformer_seq2seq_options sizes;
  keep kept = keep::everything;
};

std::vector<arrangement> arrangements() {
  auto const relational = sequence_encoding::relational, positional = sequence_encoding::positional;
  auto const own = edge_readout::diagonal, from_begin = edge_readout::from_begin;
  std::vector<arrangement> all{
      {"relational, own", sizes(relational, own)},
      {"relational, from begin, tied, dropout, recomputed", sizes(relational, from_begin, true, 0.3), keep::inputs},
      {"positional, own, tied, dropout", sizes(positional, own, true, 0.3)},
      {"positional, from begin, recomputed", sizes(positional, from_begin), keep::inputs}};
  auto whole = sizes(relational, from_begin, false, 0.2);
  whole.prune = false;
  whole.layer.attention_bias = false;
  whole.smoothing = {0.1};
  all.push_back({"not pruned, smoothed", whole});
  auto one = sizes(relational, own, true, 0.2);
  one.layers = 1;
  all.push_back({"one layer", one});
  auto left = sizes(positional, own, false, 0.2);
  left.layer.variant = triangle_form::value_ablation;
  all.push_back({"value ablation", left});
  return all;
}

template <class Model, class Ex>
test::model_use<Model, Ex, loader> use_of(arrangement const& a, std::vector<pair> const& pairs = three) {
  Model const m(a.sizes);
  return {m, a.kept, loaded(m.layout, pairs)};
}

TEMPLATE_TEST_CASE("an encoder and decoder of edges have the gradient of their loss", "", TRIAD_TEST_BACKENDS) {
  for (auto const& a : arrangements()) {
    CAPTURE(a.name);
    test::check_gradient_of(use_of<edge_transformer_seq2seq<double>, TestType>(a), true);
  }
  using fixed = edge_transformer_seq2seq<double, width, heads, hidden, form::paper>;
  test::check_gradient_of(use_of<fixed, TestType>({"paper", sizes(), keep::inputs}), true);
}

// The same pairs in graphs of equal size. Unused nodes and future nodes are masked.
struct padded_pairs {
  static constexpr index_t s = 5, t = 5, n = s + t, filler = 3;
  edge_pair_layout layout;
  test::ragged source{list(three.size(), s)}, whole{list(three.size(), n)};
  list source_token, source_position, source_self, source_relation, source_row, token, position, relation, origin,
      target_token, target_self, read, next;
  std::vector<std::uint8_t> source_shut, masked;
  std::vector<double> waves;

  explicit padded_pairs(edge_pair_layout const& l) : layout(l) {
    bool const relational = layout.encoding == sequence_encoding::relational;
    index_t const places = relational ? layout.relative.count() : whole.dims.rows;
    for (float const v : position_waves(n, width)) waves.push_back(v);
    for (std::size_t p = 0; p < three.size(); ++p) {
      auto const given = static_cast<index_t>(three[p].source.size()) + 1,
                 asked = static_cast<index_t>(three[p].target.size());
      auto const first = source.edge_begin[p], all = whole.edge_begin[p];
      auto const at = [](index_t i) { return static_cast<std::size_t>(i); };
      auto const is_padding = [&](index_t i) { return i < s && i >= given; };
      for (index_t i = 0; i < n; ++i) {
        index_t const k = i - s;  // position in the target
        index_t const from = i < given - 1 ? three[p].source[at(i)] : i == given - 1 ? end_token : filler;
        index_t const word = i < s ? from : k == 0 ? begin_token : k <= asked ? three[p].target[at(k - 1)] : filler;
        token.push_back(word);
        position.push_back(i < s ? i : k);
        if (i < s) {
          source_token.push_back(word);
          source_position.push_back(i);
          source_self.push_back(first + i * s + i);
        } else {
          target_token.push_back(word);
          target_self.push_back(all + i * n + i);
          read.push_back(all + (layout.readout == edge_readout::diagonal ? i : s) * n + i);
          next.push_back(k < asked ? three[p].target[at(k)] : k == asked ? end_token : -1);
        }
        for (index_t j = 0; j < n; ++j) {
          bool const known = i < s && j < s;
          index_t const within =
              (i == 0 && j == 0) || (i == s && j == s) ? layout.relative.begin() : layout.relative.within(i, j);
          index_t const place = i < s && j >= s   ? layout.relative.to_target()
                                : i >= s && j < s ? layout.relative.to_source()
                                                  : within;
          index_t const own = relational ? place : all + i * n + j;
          relation.push_back(known ? places : own);
          origin.push_back(known ? places + first + i * s + j : own);
          if (known) source_relation.push_back(within), source_row.push_back(all + i * n + j);
        }
      }
      for (index_t i = 0; i < n; ++i)
        for (index_t m = 0; m < n; ++m)
          for (index_t j = 0; j < n; ++j) {
            bool const padding = is_padding(i) || is_padding(m) || is_padding(j);
            masked.push_back(padding || (m >= s && i < m && j < m));
            if (i < s && m < s && j < s) source_shut.push_back(padding);
          }
    }
  }
  std::pair<edge_pair_batch<double>, pair_answers> upload() const {
    auto const view = [](auto const& v) { return make_vec(v.data(), static_cast<index_t>(v.size())); };
    tensor<double const, dyn, dyn> const table(waves.data(), n, width);
    edge_pair_batch<double> in;
    in.sizes = {source.dims.graphs, source.dims, whole.dims, static_cast<index_t>(next.size())};
    in.source = {source.batch(),        view(source_token), view(source_relation),
                 view(source_position), view(source_self),  table};
    in.whole = {whole.batch(), view(token), view(relation), view(position), vec<index_t const>(nullptr, 0), table};
    in.target_token = view(target_token);
    in.target_self = view(target_self);
    in.wanted = view(read);
    in.origin = view(origin);
    in.source_row = view(source_row);
    in.source_mask = {view(source_shut), -1e3};
    in.mask = {view(masked), -1e3};
    return {in, {view(next)}};
  }
};

double distance(std::vector<double> const& a, std::vector<double> const& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = test::worse(most, std::abs(a[i] - b[i]));
  return most;
}

arrangement without_dropout(arrangement a) {
  a.sizes.layer.dropout = a.sizes.positional_dropout = 0;
  return a;
}

TEMPLATE_TEST_CASE("pairs side by side have the loss and the gradient of pairs with padding and a mask", "",
                   TRIAD_TEST_BACKENDS) {
  for (auto const& each : arrangements()) {
    CAPTURE(each.name);
    auto const a = without_dropout(each);  // with dropout, padding would change which elements are dropped
    using model = edge_transformer_seq2seq<double>;
    auto ragged = use_of<model, TestType>(a);
    test::model_use<model, TestType, padded_pairs> padded(model(a.sizes), a.kept, padded_pairs(ragged.model.layout));
    auto const at = ragged.values();
    std::vector<double> g(at.size()), h(at.size());
    CHECK_THAT(padded.run(at, &h), test::WithinAbs(ragged.run(at, &g), 1e-12));
    CHECK(distance(g, h) < 1e-12);
  }
}

// Returns the distance between the gradients of two models that compute the same function in different ways.
template <class Ex>
double distance_of_gradients(arrangement const& a, arrangement const& b) {
  using model = edge_transformer_seq2seq<double>;
  auto one = use_of<model, Ex>(a), other = use_of<model, Ex>(b);
  auto const at = one.values();
  std::vector<double> g(at.size()), h(at.size());
  double const apart = std::abs(one.run(at, &g) - other.run(at, &h));
  CHECK(distance(g, std::vector<double>(g.size())) > 1e-3);
  return std::max(apart, distance(g, h));
}

TEMPLATE_TEST_CASE("layers that run again in backward give every bit of the gradient", "", TRIAD_TEST_BACKENDS) {
  for (auto a : arrangements()) {
    CAPTURE(a.name);
    auto b = a;
    a.kept = keep::everything;
    b.kept = keep::inputs;
    CHECK(distance_of_gradients<TestType>(a, b) == 0);
  }
}

TEMPLATE_TEST_CASE("what is not read may be left out: loss and gradient are the same", "", TRIAD_TEST_BACKENDS) {
  for (auto const& each : arrangements()) {
    CAPTURE(each.name);
    auto a = without_dropout(each), b = a;
    a.sizes.prune = true;
    b.sizes.prune = false;
    CHECK(distance_of_gradients<TestType>(a, b) < 1e-12);
  }
}

TEST_CASE("widths known at compile time change nothing between edges of pairs") {
  using open = edge_transformer_seq2seq<double>;
  using fixed = edge_transformer_seq2seq<double, width, heads, hidden>;
  for (auto const& a : arrangements()) {
    CAPTURE(a.name);
    auto one = use_of<open, reference::backend>(a);
    auto other = use_of<fixed, reference::backend>(a);
    auto const at = one.values();
    std::vector<double> g(at.size()), h(at.size());
    CHECK(one.run(at, &g) == other.run(at, &h));
    CHECK(g == h);
  }
}

// Returns the logits (targets, v) of a batch, without dropout.
template <class Ex>
std::vector<double> logits_of(arrangement const& a, std::vector<pair> const& pairs) {
  auto use = use_of<edge_transformer_seq2seq<double>, Ex>(a, pairs);
  auto const in = use.loader.upload().first;
  auto const& m = use.model;
  test::spoiled_memory const memory([&](arena& place) {
    (void)m.plan_output(place, in.sizes);
    return m.plan_saved(place, in.sizes, keep::nothing);
  });
  auto place = memory.place();
  auto const logits = m.plan_output(place, in.sizes);
  auto const saved = m.plan_saved(place, in.sizes, keep::nothing);
  test::with_scratch(use.ex, call{}, [&](auto& backend, call const& c) {
    m.forward(backend, c, use.parameters.values(), in, saved, logits);
  });
  return {logits.data_handle(), logits.data_handle() + logits.size()};
}
std::vector<double> rows_of(std::vector<double> const& logits, index_t first, index_t count) {
  auto const at = logits.begin() + first * tokens;
  return {at, at + count * tokens};
}

TEMPLATE_TEST_CASE("what edges say of a pair depends on its source and on the tokens so far, and on nothing else", "",
                   TRIAD_TEST_BACKENDS) {
  for (auto const& a : arrangements()) {
    CAPTURE(a.name);
    auto const& one = three[1];           // three tokens, and so four answers
    bool const far = a.sizes.layers > 1;  // with one layer, states do not depend on other tokens
    auto const alone = logits_of<TestType>(a, {one});
    CHECK(distance(rows_of(logits_of<TestType>(a, three), 3, 4), alone) < 1e-12);
    for (std::size_t k = 0; k < 3; ++k) {
      CAPTURE(k);
      auto prefix = one;
      prefix.target.resize(k);
      CHECK(distance(logits_of<TestType>(a, {prefix}), rows_of(alone, 0, static_cast<index_t>(k) + 1)) < 1e-12);
    }
    auto later = one;
    later.target[1] = 6;  // the third position reads it
    auto const changed = logits_of<TestType>(a, {later});
    for (index_t i = 0; i < 4; ++i) {
      CAPTURE(i);
      double const apart = distance(rows_of(changed, i, 1), rows_of(alone, i, 1));
      if (i < 2) CHECK(apart < 1e-12);
      if (i == 2 || (i > 2 && far)) CHECK(apart > 1e-6);
    }
    auto other = one;
    other.source = {5};
    auto const moved = logits_of<TestType>(a, {other});
    for (index_t i = 0; i < 4; ++i) CHECK((distance(rows_of(moved, i, 1), rows_of(alone, i, 1)) > 1e-6) == far);
  }
}

TEST_CASE("sources alone are encoded as with their targets, and nothing is asked of them") {
  for (auto const& a : arrangements()) {
    CAPTURE(a.name);
    auto use = use_of<edge_transformer_seq2seq<double>, reference::backend>(a);
    auto const& m = use.model;
    loader sources(room_for(three), m.layout, width, begin_token, end_token);
    for (auto const& p : three) sources.add_source(p.source);
    std::vector<double> found[2];
    for (int k = 0; k < 2; ++k) {
      auto const in = (k == 0 ? use.loader : sources).upload().first;
      test::spoiled_memory const memory([&](arena& place) { return m.plan_saved(place, in.sizes, keep::nothing); });
      auto place = memory.place();
      auto const saved = m.plan_saved(place, in.sizes, keep::nothing);
      tensor<double, dyn, dyn> const none(nullptr, in.sizes.targets, tokens);
      test::with_scratch(use.ex, call{}, [&](auto& backend, call const& c) {
        if (k == 0) m.encode(backend, c, use.parameters.values(), in, saved.encoder);
        if (k == 1) m.forward(backend, c, use.parameters.values(), in, saved, none);
      });
      found[k].assign(saved.encoder.y.data_handle(), saved.encoder.y.data_handle() + saved.encoder.y.size());
    }
    CHECK(found[0] == found[1]);
    CHECK(static_cast<index_t>(found[0].size()) == (16 + 4 + 9) * width);
  }
}

TEMPLATE_TEST_CASE("the padding's vector has no gradient, and the others theirs", "", TRIAD_TEST_BACKENDS) {
  for (auto encoding : {sequence_encoding::relational, sequence_encoding::positional}) {
    arrangement const learned{"", sizes(encoding)};
    arrangement fixed = learned;
    fixed.sizes.fixed_token = 3;  // a word of both sources and targets
    using model = edge_transformer_seq2seq<double>;
    auto one = use_of<model, TestType>(learned), other = use_of<model, TestType>(fixed);
    auto const at = one.values();
    std::vector<double> a(at.size()), b(at.size());
    one.run(at, &a);
    other.run(at, &b);
    double moved = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      bool const inside = i >= 3 * width && i < 4 * width;  // the table comes first in the buffer
      CHECK(b[i] == (inside ? 0 : a[i]));
      if (inside) moved += std::abs(a[i]);
    }
    CHECK(moved > 1e-6);
  }
}

TEST_CASE("an encoder and decoder of edges list their parameters by name") {
  auto const paths_of = [](edge_transformer_seq2seq_options const& z) {
    std::vector<std::string> paths;
    arena measure;
    walk(edge_transformer_seq2seq<double>(z).plan_params(measure),
         [&](std::string const& path, auto) { paths.push_back(path); });
    return paths;
  };
  auto const has = [](std::vector<std::string> const& paths, std::string const& path) {
    return std::count(paths.begin(), paths.end(), path) == 1;
  };
  auto const relational = paths_of(sizes()),
             positional = paths_of(sizes(sequence_encoding::positional, edge_readout::diagonal, true));
  for (auto const* path : {"tokens", "output.weight", "encoder.layers.0.attention.query.weight",
                           "decoder.layers.0.attention.output.bias"}) {
    CAPTURE(path);
    CHECK(has(relational, path));
    CHECK(has(positional, path));
  }
  for (std::string const side : {"encoder", "decoder"}) {
    CAPTURE(side);
    for (auto const* part : {".edges.relations", ".edges.begin", ".layers.1.norm1.gain"}) {
      CHECK(has(relational, side + part));
      CHECK_FALSE(has(positional, side + part));
    }
    for (auto const* part : {".edges.left.weight", ".edges.right.bias"}) {
      CHECK(has(positional, side + part));
      CHECK_FALSE(has(relational, side + part));
    }
  }
}

TEST_CASE("sizes that make no model are refused in a sentence") {
  auto const refused = [](auto&& change, char const* why) {
    auto z = sizes();
    change(z);
    CHECK_THROWS_WITH(edge_transformer_seq2seq<double>(z), test::contains(why));
  };
  refused([](auto& z) { z.layers = 0; }, "edge_transformer_seq2seq: layers is 0, expected 1 to 255");
  refused([](auto& z) { z.tokens = 1; }, "tokens are 1, expected 2 or more");
  refused([](auto& z) { z.layer.heads = 4; }, "heads that divide the width");
  refused([](auto& z) { z.layer.variant = triangle_form::flat; }, "not causal");
  refused([](auto& z) { z.fixed_token = tokens; }, "the fixed token is 8, expected below 8, the tokens");
}

TEMPLATE_TEST_CASE("an encoder and decoder of edges learn three pairs by heart", "", TRIAD_TEST_ONE_BACKEND) {
  using model = edge_transformer_seq2seq<float>;
  TestType ex;
  model const m(sizes());
  typename trainer<model, TestType>::options_type o;
  o.capacity = room_for(three);
  trainer<model, TestType> work(ex, m, o);
  initialize(work.parameters(), 3);
  edge_pair_loader<TestType, float> l(o.capacity, m.layout, width, begin_token, end_token);
  for (auto const& p : three) l.add(p.source, p.target);
  auto const batch = l.upload();
  int const updates = test::is_device<TestType> ? 20 : 300;
  work.update(batch.first, batch.second, 0.01);
  float const first = work.loss();
  for (int i = 1; i < updates; ++i) work.update(batch.first, batch.second, 0.01);
  CHECK(work.loss() < (test::is_device<TestType> ? first : 0.02f));
}

}  // namespace models_edge_transformer_seq2seq_tests
