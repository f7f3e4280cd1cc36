// The algorithms of CUB that the backend uses, and plain versions for a host compiler, which cannot compile CUB.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "triad/core/arena.hpp"
#include "triad/cuda/device/launch.cuh"

#if defined(__CUDACC__)
#include <cub/device/device_radix_sort.cuh>
#endif

namespace triad::cuda {

/// Keys, and the row number of each key.
struct keyed_rows {
  std::uint32_t *key, *row;
};

// These functions are templates.  So a unit that uses compiled kernels does not compile CUB.
#if defined(__CUDACC__)

/// The number of bytes that sort_rows needs in addition to the pairs.
template <class Count>
std::size_t sort_rows_bytes(backend const& ex, Count count, int bits) {
  check(cudaSetDevice(ex.device()), "choosing a device");
  ::cub::DoubleBuffer<std::uint32_t> keys, rows;
  std::size_t bytes = 0;
  check(::cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, rows, static_cast<int>(count), 0, bits, ex.stream()),
        "asking for the memory of a sort");
  return bytes;
}

/// Sorts the pairs by the lowest `bits` bits of the keys.  Pairs with equal keys keep their order.  Returns the buffer
/// that has the result, which is `from` or `other`.  The other buffer is overwritten.
template <class Count>
keyed_rows sort_rows(backend const& ex, keyed_rows from, keyed_rows other, Count count, int bits, workspace ws) {
  check(cudaSetDevice(ex.device()), "choosing a device");
  ::cub::DoubleBuffer<std::uint32_t> keys(from.key, other.key), rows(from.row, other.row);
  std::size_t bytes = ws.bytes;
  check(::cub::DeviceRadixSort::SortPairs(ws.data, bytes, keys, rows, static_cast<int>(count), 0, bits, ex.stream()),
        "sorting rows by their index");
  return {keys.Current(), rows.Current()};
}

#else

namespace detail {

/// Computes the place of each pair by counting the pairs that come before it.
struct rank_sort {
  static constexpr char const* name = "sort by rank";
  static constexpr int threads = 256;

  TRIAD_DEVICE void operator()(block const& b, keyed_rows from, keyed_rows to, index_t count) const {
    index_t const i = b.index() * threads + b.thread();
    if (i >= count) return;
    index_t rank = 0;
    for (index_t k = 0; k < count; ++k) rank += from.key[k] < from.key[i] || (from.key[k] == from.key[i] && k < i);
    to.key[rank] = from.key[i];
    to.row[rank] = from.row[i];
  }
};

}  // namespace detail

template <class Count>
std::size_t sort_rows_bytes(backend const&, Count, int) {
  return 0;
}

template <class Count>
keyed_rows sort_rows(backend const& ex, keyed_rows from, keyed_rows other, Count count, int, workspace) {
  launch(ex, detail::rank_sort{}, blocks_for(count, detail::rank_sort::threads), from, other, index_t{count});
  return other;
}

#endif

}  // namespace triad::cuda
