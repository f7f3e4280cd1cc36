// The attention weights between the words of one pair, for each layer and head of an encoder and a decoder.
// SPDX-License-Identifier: Apache-2.0
//
// Layers do not store these weights.  A forward pass that keeps everything stores queries, keys and, with relative
// positions or a bias by distance, the bias of each offset.  attention_weights() computes the weights from them, as
// ops/attention.hpp defines them:
//
//   p(i, j) = softmax over j of (query(i) . key(j) + bias(i, r(i, j))) / sqrt(k);  with a causal mask 0 for j > i
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "triad/core/views.hpp"
#include "triad/ops/attention.hpp"
#include "triad/ops/distance_bias.hpp"

namespace triad::programs::sequences {

/// The weights of one attention for one pair.  The weights of each head and query add up to 1.
struct attention_map {
  index_t heads = 0, queries = 0, keys = 0;
  bool causal = false;          // the weights of keys after the query are 0
  std::vector<double> weights;  // (heads, queries, keys)

  double operator()(index_t head, index_t i, index_t j) const {
    return weights[static_cast<std::size_t>((head * queries + i) * keys + j)];
  }
  /// Returns the mean of the weight of key j over all heads.
  double mean(index_t i, index_t j) const {
    double sum = 0;
    for (index_t h = 0; h < heads; ++h) sum += (*this)(h, i, j);
    return sum / static_cast<double>(heads);
  }
};
inline auto tied_parts(attention_map& m) { return std::tie(m.heads, m.queries, m.keys, m.causal, m.weights); }

/// The attention of each layer: of source words to source words, of target words to target words, and of target words
/// to source words.  A model that does not have attention between words has empty lists.
struct pair_attention {
  std::vector<attention_map> encoder, decoder, cross;
};
inline auto tied_parts(pair_attention& a) { return std::tie(a.encoder, a.decoder, a.cross); }

/// Queries and keys of one sequence, in host memory.
template <class T>
struct attended_sequence {
  matrix<T const> query;                        // (queries, d), heads side by side
  matrix<T const> key;                          // (keys, d)
  matrix<T const> bias = no_matrix<T const>();  // (queries, h (2R + 1)); empty without relative positions
};

/// Returns the weights of a sequence, computed in double.  Of the options, reads heads, causal and reach.
template <class T>
attention_map attention_weights(attention_options const& options, attended_sequence<T> const& x) {
  index_t const queries = x.query.extent(0), keys = x.key.extent(0), width = x.query.extent(1) / options.heads;
  attention_map map{options.heads, queries, keys, options.causal, {}};
  map.weights.resize(static_cast<std::size_t>(map.heads * queries * keys));
  auto const number = [](T v) { return static_cast<double>(v); };
  auto* row = map.weights.data();
  for (index_t h = 0; h < map.heads; ++h)
    for (index_t i = 0; i < queries; ++i, row += keys) {
      index_t const seen = std::min(keys, keys_before(options.causal, queries, keys, i));
      for (index_t j = 0; j < seen; ++j) {
        double score = 0;
        for (index_t f = h * width; f < (h + 1) * width; ++f) score += number(x.query(i, f)) * number(x.key(j, f));
        if (options.reach > 0)
          score += number(
              x.bias(i, h * relative_offsets(options.reach) + relative_offset(options.reach, queries, keys, i, j)));
        row[j] = score / std::sqrt(static_cast<double>(width));
      }
      if (seen == 0) continue;
      double const most = *std::max_element(row, row + seen);
      double sum = 0;
      for (index_t j = 0; j < seen; ++j) sum += row[j] = std::exp(row[j] - most);
      for (index_t j = 0; j < seen; ++j) row[j] /= sum;
    }
  return map;
}

namespace detail {

/// A copy of a matrix in host memory.
template <class T>
struct host_matrix {
  std::vector<T> values;
  index_t rows, columns;
  /// Returns `count` columns from column `first` on.
  matrix<T const> block(index_t first, index_t count) const {
    return make_matrix<T const>(values.data() + first, rows, count, columns);
  }
  matrix<T const> all() const { return make_matrix<T const>(values.data(), rows, columns, columns); }
};

/// Copies a contiguous view (rows, columns).  host(data, n) returns a vector with n elements of the backend's memory.
template <class V, class Host>
auto copy_of(V const& v, Host const& host) {
  auto values = host(v.data_handle(), v.extent(0) * v.extent(1));
  return host_matrix<typename decltype(values)::value_type>{std::move(values), v.extent(0), v.extent(1)};
}

}  // namespace detail

/// Returns the attention of a forward pass over a batch of one pair, which must have kept everything.  `encoder` and
/// `decoder` are fused_stacks, and `of_encoder` and `of_decoder` are what they saved.
template <class Encoder, class OfEncoder, class Decoder, class OfDecoder, class Host>
pair_attention attention_of(Encoder const& encoder, OfEncoder const& of_encoder, Decoder const& decoder,
                            OfDecoder const& of_decoder, Host const& host) {
  auto const self = [&](auto const& stack, auto const& of_stack, index_t k) {
    auto const layer = stack.layer(k);
    auto const& branch = layer.attention.branch;
    auto const saved = of_stack.at(k).attention.branch;
    auto const projected = detail::copy_of(saved.projected, host),
               bias = detail::copy_of(stack.distances ? of_stack.bias : saved.bias, host);
    index_t const d = branch.width();
    attention_options options;
    options.heads = branch.heads(), options.causal = branch.causal;
    options.reach = stack.distances ? distance_reach : branch.reach;
    return attention_weights(options, attended_sequence{projected.block(0, d), projected.block(d, d), bias.all()});
  };
  pair_attention all;
  for (index_t k = 0; k < encoder.count; ++k) all.encoder.push_back(self(encoder, of_encoder, k));
  for (index_t k = 0; k < decoder.count; ++k) {
    auto const layer = decoder.layer(k);
    auto const saved = of_decoder.at(k);
    all.decoder.push_back(self(decoder, of_decoder, k));
    auto const& branch = layer.cross.branch;
    auto const query = detail::copy_of(saved.cross.branch.query, host),
               source = detail::copy_of(saved.cross.branch.source, host);
    attention_options options;
    options.heads = branch.heads();
    all.cross.push_back(attention_weights(options, attended_sequence{query.all(), source.block(0, branch.width())}));
  }
  return all;
}

}  // namespace triad::programs::sequences
