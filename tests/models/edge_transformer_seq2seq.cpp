// The encoder-decoder Edge Transformer: its gradient in every arrangement, padding that changes nothing, and a decoder that sees no future.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/edge_transformer_seq2seq.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/models/model_use.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/models/edge_pair_loader.hpp"

namespace {

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
  for (auto const& p : pairs) z = z + edge_pair_dims_of(static_cast<index_t>(p.source.size()) + 1, static_cast<index_t>(p.target.size()) + 1);
  return z;
}

loader loaded(edge_pair_layout const& layout, std::vector<pair> const& pairs = three) {
  loader l(room_for(pairs), layout, width, begin_token, end_token);
  for (auto const& p : pairs) l.add(p.source, p.target);
  return l;
}

edge_transformer_seq2seq_sizes sizes(sequence_encoding encoding = sequence_encoding::relational, edge_reading reading = edge_reading::own,
                                     bool tied = false, double dropout = 0) {
  edge_transformer_seq2seq_sizes z;
  z.tokens = tokens;
  z.reach = reach;
  z.layers = 2;
  z.tied = tied;
  z.layer = {width, heads, hidden, dropout, triangle_form::full, true};
  z.encoding = encoding;
  z.reading = reading;
  z.positional_dropout = dropout;
  return z;
}

struct arrangement {
  char const* name;
  edge_transformer_seq2seq_sizes sizes;
  keep kept = keep::everything;
};

std::vector<arrangement> arrangements() {
  auto const relational = sequence_encoding::relational, positional = sequence_encoding::positional;
  auto const own = edge_reading::own, from_begin = edge_reading::from_begin;
  std::vector<arrangement> all{{"relational, own", sizes(relational, own)},
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

}  // namespace
