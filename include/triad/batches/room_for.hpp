// Computes the capacity of a batch from your data or from numbers.  Loaders and trainers are constructed with this
// capacity.
// SPDX-License-Identifier: Apache-2.0
//
//   graph_dims const room = room_for(data, 100);                      for samples with a member `nodes`
//   graph_dims const room = room_for_graphs(100, 7, 12);              for 100 graphs of about 7 and at most 12 nodes
//   pair_dims const pairs = room_for(data, 100, [](auto const& s) { return dims_of(s.source + 1, s.target + 1); });
//
// For a size that adds up over samples, such as the number of edges, the capacity is the sum of the `most` largest
// values in the data.  So any `most` samples fit, and no memory is wasted on impossible batches.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/core/graphs.hpp"

namespace triad {

/// Returns the number of nodes of a sample, from its member `nodes`.
struct nodes_of_sample {
  template <class Sample>
  index_t operator()(Sample const& s) const {
    static_assert(
        requires { s.nodes; },
        "room_for: a sample has no member `nodes`; say how large one is: "
        "room_for(data, most, [](auto const& s) { return s.n; }), or the dims of it");
    return static_cast<index_t>(s.nodes);
  }
};

namespace detail {
template <class Size>
constexpr auto dims_of_size(Size const& size) {
  if constexpr (std::is_integral_v<Size>)
    return triad::dims_of(static_cast<index_t>(size));
  else
    return size;
}

/// Collects the sizes of many samples, with one list for each field of the sizes.
struct counts_of_samples {
  std::vector<std::vector<index_t>>& lists;
  std::size_t k = 0;

  void sum(index_t count, char const* = nullptr) {
    if (k == lists.size()) lists.emplace_back();
    lists[k++].push_back(count);
  }
  void largest(index_t count, char const* = nullptr) { sum(count); }
  void maybe(index_t count, char const* = nullptr) { sum(count); }
};
/// Sets each field of the sizes to the largest value that `most` samples can need.
struct counts_of_room {
  std::vector<std::vector<index_t>>& lists;
  std::size_t most, k = 0;

  void sum(index_t& count, char const* = nullptr) {
    auto& all = lists[k++];
    auto const end = all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size()));
    std::partial_sort(all.begin(), end, all.end(), std::greater<>());
    count = std::accumulate(all.begin(), end, index_t{0});
  }
  void maybe(index_t& count, char const* = nullptr) { sum(count); }
  void largest(index_t& count, char const* = nullptr) {
    auto const& all = lists[k++];
    count = *std::max_element(all.begin(), all.end());
  }
};
}  // namespace detail

/// Returns a capacity into which any `most` samples of the data fit.  size_of(sample) returns the number of nodes of
/// the sample, or the sizes of a batch of this sample alone.  dims_of(n), dims_of(source, target) and edge_pair_dims_of
/// return such sizes.
template <class Data, class SizeOf = nodes_of_sample>
  requires requires(Data const& data) {
    std::size(data);
    data[0];
  }
auto room_for(Data const& data, index_t most, SizeOf size_of = {}) {
  TRIAD_EXPECTS(std::size(data) > 0 && most > 0, "room_for: " + std::to_string(most) + " of " +
                                                     std::to_string(std::size(data)) +
                                                     " samples, expected 1 or more of 1 or more");
  std::vector<std::vector<index_t>> lists;
  auto room = detail::dims_of_size(size_of(data[0]));
  for (std::size_t i = 0; i < std::size(data); ++i) {
    auto one = detail::dims_of_size(size_of(data[i]));
    each_count(one, detail::counts_of_samples{lists});
  }
  each_count(room, detail::counts_of_room{lists, static_cast<std::size_t>(most)});
  return room;
}

/// Returns the capacity for `batch` graphs of `usual` nodes on average, or for fewer graphs with up to `largest` nodes.
constexpr graph_dims room_for_graphs(index_t batch, index_t usual, index_t largest) {
  index_t const rows = std::max(batch * usual * usual, largest * largest);
  return {batch, rows, std::max(batch * usual, largest), rows * largest, largest};
}

}  // namespace triad
