// Tests the attention between words that explain shows: its weights against sums written out, against what the layers
// of models computed, and its views in a page.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sequences/attention_maps.hpp"
#include "sequences/attention_page.hpp"
#include "tests/catch.hpp"
#include "triad/batches/pair_loader.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/models/fused_transformer.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"

namespace programs_seq2seq_attention_tests {

using namespace triad;
using namespace triad::programs::sequences;
using test::WithinAbs;
using numbers = std::vector<double>;

matrix<double const> rows_of(numbers const& v, index_t columns) {
  return make_matrix<double const>(v.data(), static_cast<index_t>(v.size()) / columns, columns, columns);
}

numbers some(index_t n, double seed) {
  numbers v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = 2 * std::sin(seed + 1.7 * static_cast<double>(i));
  return v;
}

TEST_CASE("two queries and two keys have the weights that are worked out by hand") {
  // One head of width 4: scores are dot products by 2. ln 3 makes weights of 1/4 and 3/4.
  double const a = 2 * std::log(3.0);
  numbers const query{1, 0, 0, 0, 0, 1, 0, 0}, key{0, 0, 5, 0, a, 0, 0, 7};
  attention_options options;
  auto const all = attention_weights(options, attended_sequence<double>{rows_of(query, 4), rows_of(key, 4)});
  CHECK_THAT(all(0, 0, 0), WithinAbs(0.25, 1e-12));
  CHECK_THAT(all(0, 0, 1), WithinAbs(0.75, 1e-12));
  CHECK_THAT(all(0, 1, 0), WithinAbs(0.5, 1e-12));
  options.causal = true;
  auto const causal = attention_weights(options, attended_sequence<double>{rows_of(query, 4), rows_of(key, 4)});
  CHECK(causal(0, 0, 0) == 1);
  CHECK(causal(0, 0, 1) == 0);
  CHECK_THAT(causal(0, 1, 1), WithinAbs(0.5, 1e-12));
}

TEST_CASE("with relative positions, weights are those of keys with the vectors of their offsets") {
  constexpr index_t n = 6, heads = 2, k = 3, d = heads * k, reach = 2, offsets = 2 * reach + 1;
  auto const query = some(n * d, 0.3), key = some(n * d, 1.1), table = some(offsets * k, 2.9);
  numbers bias(static_cast<std::size_t>(n * heads * offsets));
  auto const of = [](numbers const& v, index_t columns, index_t i, index_t j) {
    return v[static_cast<std::size_t>(i * columns + j)];
  };
  for (index_t i = 0; i < n; ++i)
    for (index_t h = 0; h < heads; ++h)
      for (index_t r = 0; r < offsets; ++r)
        for (index_t f = 0; f < k; ++f)
          bias[static_cast<std::size_t>((i * heads + h) * offsets + r)] +=
              of(query, d, i, h * k + f) * of(table, k, r, f);
  attention_options options;
  options.heads = heads, options.reach = reach, options.causal = true;
  auto const found = attention_weights(
      options, attended_sequence<double>{rows_of(query, d), rows_of(key, d), rows_of(bias, heads * offsets)});
  for (index_t h = 0; h < heads; ++h)
    for (index_t i = 0; i < n; ++i) {
      numbers e;
      double sum = 0;
      for (index_t j = 0; j <= i; ++j) {
        double score = 0;
        for (index_t f = 0; f < k; ++f)
          score += of(query, d, i, h * k + f) *
                   (of(key, d, j, h * k + f) + of(table, k, std::max(j - i, -reach) + reach, f));
        sum += e.emplace_back(std::exp(score / std::sqrt(double{k})));
      }
      for (index_t j = 0; j < n; ++j) {
        CAPTURE(h, i, j);
        CHECK_THAT(found(h, i, j), WithinAbs(j <= i ? e[static_cast<std::size_t>(j)] / sum : 0.0, 1e-12));
      }
    }
}

constexpr index_t width = 8, heads = 2, end_token = 2;

fused_transformer_options sizes(index_t reach, bool fused) {
  transformer_layer_options layer{width, heads, 12};
  layer.reach = reach;
  fused_transformer_options z;
  z.source_tokens = 7, z.target_tokens = 8;
  z.encoder = {.layer = layer, .layers = 2};
  z.decoder = {.layer = layer, .layers = 3};
  z.positions = reach == 0;
  if (fused) z.encoder.fused = all_fused(2), z.decoder.fused = all_fused(3);
  return z;
}

// Checks that every query's weights add up to 1, and that they are the weights of the values in `context` (queries, d).
// `value` is (keys, d). With relative positions, weights(i, h (2R + 1)) has the sums by offset, and only these are
// checked, because the layer adds vectors of offsets to the values.
void check(attention_map const& map, matrix<double> value, matrix<double> context, index_t reach,
           matrix<double> by_offset) {
  index_t const k = width / heads;
  for (index_t h = 0; h < map.heads; ++h)
    for (index_t i = 0; i < map.queries; ++i) {
      CAPTURE(h, i);
      double sum = 0;
      for (index_t j = 0; j < map.keys; ++j) sum += map(h, i, j);
      CHECK_THAT(sum, WithinAbs(1, 1e-12));
      if (map.causal)
        for (index_t j = i + 1; j < map.keys; ++j) CHECK(map(h, i, j) == 0);
      if (reach > 0) {
        numbers sums(static_cast<std::size_t>(relative_offsets(reach)));
        for (index_t j = 0; j < map.keys; ++j)
          sums[static_cast<std::size_t>(std::clamp(j - i, -reach, reach) + reach)] += map(h, i, j);
        for (index_t r = 0; r < relative_offsets(reach); ++r)
          CHECK_THAT(by_offset(i, h * relative_offsets(reach) + r), WithinAbs(sums[static_cast<std::size_t>(r)], 1e-9));
        continue;
      }
      for (index_t f = h * k; f < (h + 1) * k; ++f) {
        double mixed = 0;
        for (index_t j = 0; j < map.keys; ++j) mixed += map(h, i, j) * value(j, f);
        CHECK_THAT(context(i, f), WithinAbs(mixed, 1e-9));
      }
    }
}

TEST_CASE("the attention of a pair is what the layers of its forward pass used") {
  struct one {
    char const* name;
    fused_transformer_options sizes;
  };
  std::vector<one> models{{"plain", sizes(0, false)}, {"fused", sizes(0, true)}, {"relative", sizes(2, true)}};
  models.push_back({"tied", sizes(0, false)});
  models.back().sizes.encoder.tied = models.back().sizes.decoder.tied = true;
  models.push_back({"weighted sums, norms before", sizes(0, false)});
  models.back().sizes.encoder.link = layer_link::weighted;
  models.back().sizes.decoder.layer.norms = norm_position::before;
  models.push_back({"biases by distance", sizes(0, false)});
  models.back().sizes.encoder.distance_bias = true;
  for (auto const& [name, z] : models) {
    CAPTURE(name);
    using model = fused_transformer<double>;
    cpu::backend ex;
    typename trainer<model, cpu::backend>::options_type o;
    o.capacity = {1, 8, 8, 8, 8};
    trainer<model, cpu::backend> work(ex, model(z), o);
    initialize(work.parameters(), 3);
    pair_loader<cpu::backend, double> loader(o.capacity, width, end_token, end_token);
    loader.add(std::vector<index_t>{3, 4, 5, 3}, std::vector<index_t>{6, 3});
    auto const in = loader.upload().first;
    (void)work.infer(in);
    auto const kept = work.saved(in.dims());
    auto const& m = work.model();
    auto const found = attention_of(m.encoder, kept.encoder, m.decoder, kept.decoder,
                                    [](auto* v, index_t n) { return numbers(v, v + n); });
    REQUIRE(found.encoder.size() == 2);
    REQUIRE(found.decoder.size() == 3);
    REQUIRE(found.cross.size() == 3);
    auto const check_self = [&](attention_map const& map, auto const& saved) {
      check(map, column_block(as_matrix(saved.projected), 2 * width, width), as_matrix(saved.context),
            z.encoder.layer.reach, as_matrix(saved.offset_weights));
    };
    for (index_t k = 0; k < 2; ++k) {
      auto const& map = found.encoder[static_cast<std::size_t>(k)];
      CHECK((map.heads == heads && map.queries == 5 && map.keys == 5 && !map.causal));
      check_self(map, kept.encoder.at(k).attention.branch);
    }
    for (index_t k = 0; k < 3; ++k) {
      auto const& map = found.decoder[static_cast<std::size_t>(k)];
      CHECK((map.queries == 3 && map.keys == 3 && map.causal));
      check_self(map, kept.decoder.at(k).attention.branch);
      auto const& cross = found.cross[static_cast<std::size_t>(k)];
      CHECK((cross.queries == 3 && cross.keys == 5 && !cross.causal));
      auto const saved = kept.decoder.at(k).cross.branch;
      check(cross, column_block(as_matrix(saved.source), width, width), as_matrix(saved.context), 0,
            no_matrix<double>());
    }
  }
}

TEST_CASE("a page shows the mean of the heads and each head, and leaves keys after a causal query blank") {
  attention_map const square{2, 2, 2, true, {1, 0, 0.5, 0.5, 1, 0, 0.25, 0.75}};
  attention_map const encoder{1, 3, 3, false, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  attention_map const cross{2, 2, 3, false, {1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1}};
  std::vector<std::string> const source{"go", "left", "</s>"}, target{"LEFT", "</s>"};
  auto const views = attention_views({{encoder}, {square}, {cross}}, source, target);
  REQUIRE(views.size() == 3);
  auto const& map = views[0]["maps"][0];
  CHECK(map["name"] == "layer 1");
  CHECK(map["rows"] == nlohmann::ordered_json(target));
  CHECK(map["columns"] == nlohmann::ordered_json(source));
  REQUIRE(map["choices"].size() == 3);
  CHECK(map["choices"][0]["name"] == "mean of 2 heads");
  CHECK(map["choices"][0]["values"].dump() == "[[0.5,0.5,0.0],[0.0,0.5,0.5]]");
  CHECK(map["choices"][2]["name"] == "head 2");
  CHECK(map["choices"][2]["values"].dump() == "[[0.0,1.0,0.0],[0.0,0.0,1.0]]");
  CHECK(views[1]["maps"][0]["choices"].size() == 1);  // the mean of one head is the head
  CHECK(views[2]["maps"][0]["columns"].dump() == R"(["<s>","LEFT"])");
  CHECK(views[2]["maps"][0]["choices"][0]["values"].dump() == "[[1.0,null],[0.375,0.625]]");
  CHECK(attention_views({}, source, target).empty());
}

}  // namespace programs_seq2seq_attention_tests
