// Tests decoding that computes only new edges. For any hypotheses, its results must equal those of passes over all
// tokens. It must compute less and not allocate memory.
// SPDX-License-Identifier: Apache-2.0
#include "triad/decoding/edge_decoder.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/allocation_count.hpp"
#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/decoding/by_passes.hpp"
#include "tests/distance.hpp"
#include "tests/ragged.hpp"
#include "triad/batches/edge_pair_loader.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"

namespace decoding_edge_decoder_tests {

using namespace triad;

constexpr index_t width = 12, heads = 3, begin_token = 1, end_token = 2, vocabulary = 9, beam = 3, longest = 6;

using test::tokens;

std::vector<tokens> const sources{{3, 4, 5, 8}, {6}, {7, 7, 3}};

edge_pair_dims room_of(std::size_t count, index_t target) {
  edge_pair_dims z;
  for (std::size_t i = 0; i < count; ++i)
    z = z + edge_pair_dims_of(static_cast<index_t>(sources[i].size()) + 1, target);
  return z;
}

edge_transformer_seq2seq_options sizes_of(int which) {
  edge_transformer_seq2seq_options z;
  z.tokens = vocabulary;
  z.reach = 2;  // hypotheses become longer than the relative positions reach
  z.layers = which == 4 ? 1 : which == 5 ? 2 : 3;
  z.layer = {width, heads, 20, 0.3, triangle_form::full, true};
  z.encoding = which % 2 == 1 ? sequence_encoding::positional : sequence_encoding::relational;
  z.readout = which / 2 % 2 == 1 ? edge_readout::from_begin : edge_readout::diagonal;
  z.tied = which == 2;
  if (which == 6) z.layer.variant = triangle_form::both_ablations, z.layer.attention_bias = false;
  if (which == 7) z.layer.variant = triangle_form::value_ablation;
  return z;
}
constexpr int models = 8;  // every encoding with every readout

/// The passes over all tokens run on the reference backend. The results of other backends are compared with them.
template <class Ex, class T = double, class Model = edge_transformer_seq2seq<T>>
struct decoding {
  using whole_model = edge_transformer_seq2seq<double>;
  using reference_trainer = trainer<whole_model, reference::backend>;

  Ex ex;
  reference::backend plain;
  reference_trainer net;
  parameter_set<Model, Ex> parameters;
  edge_pair_loader<Ex, T> loader;
  edge_decoder<Model, Ex> decoder;

  explicit decoding(int which)
      : net(plain, whole_model(sizes_of(which)), settings()),
        parameters(Model(sizes_of(which)), holding::values, memory_of(ex)),
        loader(room_of(3, longest), Model(sizes_of(which)).layout, width, begin_token, end_token),
        decoder(ex, Model(sizes_of(which)), {room_of(3, 0), beam, longest}) {
    initialize(net.parameters(), 5);
    random_stream random(4, static_cast<std::uint64_t>(which));
    std::vector<double> numbers;  // in the order of the fields, because the layout in float differs
    walk(net.parameters().mutable_values(), [&](std::string const&, auto view) {
      auto const v = as_vec(view);
      for (index_t i = 0; i < v.extent(0); ++i) {
        v(i) = static_cast<double>(
            static_cast<float>(v(i) + random.uniform(-0.2, 0.2)));  // if biases were zero, errors could stay unnoticed
        numbers.push_back(v(i));
      }
    });
    auto next = numbers.begin();
    walk(parameters.mutable_values(), [&](std::string const&, auto view) {
      auto const v = as_vec(view);
      for (index_t i = 0; i < v.extent(0); ++i) v(i) = static_cast<T>(*next++);
    });
    REQUIRE(next == numbers.end());
  }
  static typename reference_trainer::options_type settings() {
    typename reference_trainer::options_type o;
    o.capacity = edge_pair_dims_of(6, longest);
    o.memory = keep::nothing;
    return o;
  }
  edge_pair_batch<T> load(std::size_t count) {
    loader.clear();
    for (std::size_t i = 0; i < count; ++i) loader.add_source(sources[i]);
    return loader.upload().first;
  }
  /// Returns the logits after the last token of `target`, from a pass over all of its tokens.
  std::vector<double> whole(tokens const& source, tokens const& target) {
    edge_pair_loader<reference::backend, double> l(edge_pair_dims_of(6, longest), net.model().layout, width,
                                                   begin_token, end_token);
    l.add(source, target);
    auto const found = net.infer(l.upload().first);
    auto const* const last = found.data_handle() + static_cast<index_t>(target.size()) * vocabulary;
    return {last, last + vocabulary};
  }
};

/// Compares every logit in every step, for random hypotheses.
template <class Decoding>
void expect_whole(Decoding& d, int which, double tolerance) {
  auto const w = d.parameters.values();
  for (std::size_t count : {std::size_t{3}, std::size_t{2}}) {  // the second batch reuses the memory of the first
    auto const in = d.load(count);
    d.decoder.begin(w, in);
    auto const slots = static_cast<index_t>(count) * beam;
    REQUIRE(d.decoder.slots() == slots);
    test::hypotheses all(slots, beam, static_cast<std::uint64_t>(which));
    for (index_t t = 0; t < longest; ++t) {
      all.step(t, begin_token, t % 3 != 0);
      auto const found = d.decoder.step(w, all.next, all.parents);
      for (index_t h = 0; h < slots; h += t % 2 == 0 ? 4 : 1) {
        auto const expected =
            d.whole(sources[static_cast<std::size_t>(h / beam)], all.generated[static_cast<std::size_t>(h)]);
        double worst = 0, largest = 0;
        for (index_t c = 0; c < vocabulary; ++c) {
          double const e = std::abs(static_cast<double>(found(h, c)) - expected[static_cast<std::size_t>(c)]);
          worst = test::worse(worst, e);
          largest = std::max(largest, std::abs(expected[static_cast<std::size_t>(c)]));
        }
        CAPTURE(count, t, h);
        REQUIRE(worst < tolerance * largest);
      }
    }
  }
}

TEMPLATE_TEST_CASE("edges of new tokens say what passes over all tokens say, whatever hypotheses go on", "",
                   TRIAD_TEST_BACKENDS) {
  for (int which = 0; which < models; ++which) {
    CAPTURE(which);
    decoding<TestType> d(which);
    expect_whole(d, which, 1e-12);
  }
  decoding<TestType, double, edge_transformer_seq2seq<double, width, heads, 20>> fixed(0);
  expect_whole(fixed, 0, 1e-12);
}

TEMPLATE_TEST_CASE("edges of new tokens say in single precision what passes say in double", "",
                   TRIAD_TEST_ONE_BACKEND) {
  for (int which = 0; which < models; ++which) {
    CAPTURE(which);
    decoding<TestType, float> d(which);
    expect_whole(d, which, 3e-5);
  }
}

beam_search_options options() {
  beam_search_options o;
  o.beam = beam, o.n_best = beam, o.longest = longest - 1, o.begin = begin_token, o.end = end_token,
  o.length_penalty = 0.6;
  o.forbidden = {0, 1};
  return o;
}

TEMPLATE_TEST_CASE("a beam search over new edges finds what one over passes finds", "", TRIAD_TEST_BACKENDS) {
  for (int which : {0, 3}) {
    decoding<TestType> d(which);
    beam_search with(3, vocabulary, options()), without(3, vocabulary, options());
    d.decoder.find(d.parameters.values(), d.load(3), with);
    test::find_by_passes([&](std::size_t s, tokens const& generated) { return d.whole(sources[s], generated); },
                         vocabulary, beam, without);
    test::expect_same_found(with, without, 3);
  }
}

TEST_CASE("an edge decoder holds what it planned, and allocates nothing afterwards") {
  for (int which : {0, 1, 2, 3}) {
    decoding<cpu::backend, float> d(which);
    CHECK(d.decoder.bytes() ==
          edge_decoder<edge_transformer_seq2seq<float>, cpu::backend>::planned(
              d.ex, edge_transformer_seq2seq<float>(sizes_of(which)), {room_of(3, 0), beam, longest}));
    auto const w = d.parameters.values();
    auto const in = d.load(3);
    beam_search search(3, vocabulary, options());
    d.decoder.find(w, in, search);
    CHECK_THROWS_WITH(d.decoder.find(w, in, search), test::contains("restart() the search for another batch"));
    search.restart(3);
    auto const before = test::allocations.load();
    d.decoder.find(w, in, search);
    CHECK(test::allocations.load() == before);
  }
}

TEST_CASE("an edge decoder computes the triangles that its formula counts, for a beam of one") {
  // Source 5 has the end token in its middle.
  for (int which : {0, 4, 5}) {
    auto const sizes = sizes_of(which);
    edge_transformer_seq2seq<double> const m(sizes);
    cpu::backend ex;
    edge_decoder<edge_transformer_seq2seq<double>, cpu::backend> decoder(ex, m, {edge_pair_dims_of(5, 0), 1, longest});
    decoding<cpu::backend> d(which);
    auto const w = d.parameters.values();
    decoder.begin(w, d.load(1));
    tokens const next{3}, self{0};
    for (index_t t = 0; t < longest; ++t) (void)decoder.step(w, next, self);
    CHECK(decoder.triples() == decoding_triples::of(5, longest, sizes.layers).incremental);
  }
}

TEST_CASE("an edge decoder refuses what it has no room for") {
  using Ex = reference::backend;
  decoding<Ex> d(0);
  auto const w = d.parameters.values();
  edge_decoder<edge_transformer_seq2seq<double>, Ex> small(d.ex, d.net.model(), {room_of(2, 0), beam, 2});
  using test::contains;
  tokens const six(6, begin_token), strange{0, 1, 3, 3, 4, 5};
  CHECK_THROWS_WITH(small.begin(w, d.load(3)), contains("edge_decoder: a batch of 3 pairs"));
  small.begin(w, d.load(2));
  (void)small.step(w, six, {});
  CHECK_THROWS_WITH(small.step(w, six, strange), contains("the parent of a hypothesis is of another source"));
}

}  // namespace decoding_edge_decoder_tests
