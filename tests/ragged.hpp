// A ragged batch of graphs for tests, random values, and scratch memory for one use of a backend.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "triad/core/buffer.hpp"
#include "triad/core/graphs.hpp"
#include "triad/core/random.hpp"
#include "triad/core/scratch.hpp"
#include "triad/core/views.hpp"

namespace triad::test {

/// Graphs with these numbers of nodes, stored one after another.
struct ragged {
  std::vector<index_t> size, node_begin, edge_begin, triangle_begin;
  graph_dims dims;

  explicit ragged(std::vector<index_t> sizes) : size(std::move(sizes)) {
    for (auto n : size) {
      node_begin.push_back(dims.nodes);
      edge_begin.push_back(dims.rows);
      triangle_begin.push_back(dims.triangles);
      ++dims.graphs;
      dims.nodes += n;
      dims.rows += n * n;
      dims.triangles += n * n * n;
      dims.max_nodes = std::max(dims.max_nodes, n);
    }
  }
  graph_batch batch() const {
    return {dims, make_vec(size.data(), dims.graphs), make_vec(node_begin.data(), dims.graphs),
            make_vec(edge_begin.data(), dims.graphs), make_vec(triangle_begin.data(), dims.graphs)};
  }
};

/// Returns random values that a float stores exactly, so that tests in float and in double begin with the same values.
template <class T = double>
std::vector<T> random_values(index_t count, std::uint64_t stream, double range = 1) {
  random_stream random(11, stream);
  std::vector<T> v(static_cast<std::size_t>(count));
  for (auto& e : v) e = static_cast<T>(static_cast<float>(random.uniform(-range, range)));
  return v;
}

/// Runs work(backend, call) with the scratch memory that the work plans. The memory is filled with NaN.
template <class Ex, class Work>
void with_scratch(Ex& ex, call c, Work&& work) {
  buffer<> memory(planned_scratch(ex, c, work));
  std::memset(memory.data(), 0xff, memory.bytes());
  auto scratch = memory.place();
  c.scratch = &scratch;
  work(ex, static_cast<call const&>(c));
}

/// Memory for plan(arena&), filled with NaN.
struct spoiled_memory {
  buffer<> bytes;

  template <class Plan>
  explicit spoiled_memory(Plan&& plan) : bytes(planned_bytes([&](arena& a) { (void)plan(a); })) {
    std::memset(bytes.data(), 0xff, bytes.bytes());
  }
  arena place() const { return bytes.place(); }
};

}  // namespace triad::test
