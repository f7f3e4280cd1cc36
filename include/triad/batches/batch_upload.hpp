// What loaders of batches share: sizes and offsets of graphs, one copy that takes everything to a backend's memory, and
// what stays there.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "triad/batches/padding.hpp"
#include "triad/core/backend.hpp"
#include "triad/core/batch_sizes.hpp"
#include "triad/core/contracts.hpp"
#include "triad/core/graphs.hpp"
#include "triad/core/sizes.hpp"

namespace triad {

/// The dims of one graph of n nodes.
constexpr graph_dims dims_of(index_t n) { return {1, n * n, n, n * n * n, n}; }

constexpr graph_dims operator+(graph_dims a, graph_dims const& b) {
  return {a.graphs + b.graphs,
          a.rows + b.rows,
          a.nodes + b.nodes,
          a.triangles + b.triangles,
          std::max(a.max_nodes, b.max_nodes),
          a.further + b.further};
}

/// The smallest dims that hold either of two batches.
constexpr graph_dims larger(graph_dims a, graph_dims const& b) {
  return {std::max(a.graphs, b.graphs),       std::max(a.rows, b.rows),           std::max(a.nodes, b.nodes),
          std::max(a.triangles, b.triangles), std::max(a.max_nodes, b.max_nodes), std::max(a.further, b.further)};
}

/// Every count of the dims: f.sum(count) of those that add up over a batch, f.largest(count) of the others.
template <class F>
constexpr void each_count(graph_dims& d, F&& f) {
  f.sum(d.graphs);
  f.sum(d.rows);
  f.sum(d.nodes);
  f.sum(d.triangles);
  f.largest(d.max_nodes);
  f.sum(d.further);
}

/// Room for `batch` graphs of `usual` nodes, and for fewer of up to `most`.
constexpr graph_dims room_for(index_t batch, index_t usual, index_t most) {
  index_t const rows = std::max(batch * usual * usual, most * most);
  return {batch, rows, std::max(batch * usual, most), rows * most, most};
}

constexpr bool fits(graph_dims const& d, graph_dims const& capacity) {
  return d.graphs <= capacity.graphs && d.rows <= capacity.rows && d.nodes <= capacity.nodes &&
         d.triangles <= capacity.triangles && d.max_nodes <= capacity.max_nodes && d.further <= capacity.further;
}

/// pad(), which adds to a batch what nobody asks about; upload(), whose batch is returned; then take_back(), which
/// takes away what was added, also where one of both throws.
template <class Pad, class Upload, class TakeBack>
auto upload_with(Pad&& pad, Upload&& upload, TakeBack&& take_back) {
  struct in_scope {
    TakeBack& then;
    ~in_scope() { then(); }
  } const scope{take_back};
  pad();
  return upload();
}

/// Memory of a backend, and beside it the same on the host, where a batch is laid out.
template <backend Ex>
class batch_upload {
 public:
  using memory = typename Ex::memory;

  batch_upload(std::size_t bytes, memory where) : here_(bytes), there_(bytes, where) {}

  /// What `fill(put)` puts, in the backend's memory: put(values, count) gives the view that `count` of the values will
  /// have. Until the next call.
  template <class Fill>
  auto operator()(Fill&& fill) {
    auto here = here_.place(), there = there_.place();
    auto const put = [&]<class V>(std::vector<V> const& values, index_t count) {
      TRIAD_EXPECTS(count >= 0 && count <= static_cast<index_t>(values.size()),
                    "batch_upload: there are not so many values");
      auto const copy = here.template make<vec<V>>(count);
      std::copy_n(values.data(), count, copy.data_handle());
      return vec<V const>(there.template make<vec<V>>(count));
    };
    auto const batch = fill(put);
    there_.memory().from_host(there_.data(), here_.data(), here.used());  // one copy
    return batch;
  }

 private:
  buffer<> here_;
  buffer<memory> there_;
};

/// Numbers in a backend's memory that no batch changes: copied once.
template <class T, class Memory>
class constant_table {
 public:
  /// values: row by row, `columns` a row; kept as T.
  template <class V>
  constant_table(std::vector<V> const& values, index_t columns, Memory where)
      : rows_(columns > 0 ? static_cast<index_t>(values.size()) / columns : 0),
        columns_(columns),
        memory_(values.size() * sizeof(T) + arena_slack, where) {
    std::vector<T> const kept(values.begin(), values.end());
    memory_.memory().from_host(memory_.data(), kept.data(), kept.size() * sizeof(T));
  }
  tensor<T const, dyn, dyn> view() const {
    return tensor<T const, dyn, dyn>(static_cast<T const*>(memory_.data()), rows_, columns_);
  }

 private:
  index_t rows_, columns_;
  buffer<Memory> memory_;
};

/// Refuses a loader's capacity in which a count is negative; sums of more than so many would be too large for an index.
inline void expect_capacity(std::initializer_list<named_size> counts) {
  constexpr index_t most = index_t{1} << 60;
  for (auto const& c : counts)
    TRIAD_EXPECTS(c.value >= 0 && c.value <= most, std::string("a loader's capacity: ") + c.name + " is " +
                                                       std::to_string(c.value) + ", expected 0 to " +
                                                       std::to_string(most));
}
namespace detail {
/// Refuses tokens below 0, in the name of a loader.
inline void expect_tokens(char const* loader, std::span<index_t const> tokens) {
  auto const bad = std::find_if(tokens.begin(), tokens.end(), [](index_t token) { return token < 0; });
  TRIAD_EXPECTS(bad == tokens.end(), std::string(loader) + ": token " + std::to_string(bad - tokens.begin()) +
                                         " of a sequence is " + std::to_string(*bad) + ", expected 0 or more");
}
/// The same of a pair, or of a source alone, and refuses it where a batch of these dims has no room.
template <class Dims>
void expect_pair(char const* loader, std::span<index_t const> source, std::span<index_t const> target, bool has_room,
                 Dims const& dims, Dims const& capacity) {
  expect_tokens(loader, source);
  expect_tokens(loader, target);
  TRIAD_EXPECTS(has_room, no_room(loader,
                                  "a pair of " + std::to_string(source.size()) + " and " +
                                      std::to_string(target.size()) + " tokens and their ends",
                                  dims, capacity));
}
template <class Dims>
void expect_source(char const* loader, std::span<index_t const> source, bool has_room, Dims const& dims,
                   Dims const& capacity) {
  expect_tokens(loader, source);
  TRIAD_EXPECTS(has_room, no_room(loader, "a source of " + std::to_string(source.size()) + " tokens and its end", dims,
                                  capacity));
}
}  // namespace detail

/// No graph or sequence is longer: n^3 still fits into a capacity.
inline constexpr index_t most_nodes = index_t{1} << 20;

/// Whose graphs they are, and what a user calls one and its nodes, in messages.
struct graph_words {
  char const* loader = "graph_offsets";
  char const* one = "a graph";
  char const* nodes = "nodes";
};

/// Sizes and offsets of graphs as they are added.
class graph_offsets {
 public:
  explicit graph_offsets(graph_dims const& capacity, graph_words const& words = {})
      : words_(words), capacity_(capacity) {
    expect_capacity({{"graphs", capacity.graphs},
                     {"rows", capacity.rows},
                     {"nodes", capacity.nodes},
                     {"triangles", capacity.triangles},
                     {"max_nodes", capacity.max_nodes},
                     {"further", capacity.further}});
    room_for_graphs(capacity.graphs);
  }
  /// With room for what pads a batch, where the backend replays.  graphs: for so many in all, at least.
  template <backend Ex>
  static graph_offsets padded_for(graph_dims const& capacity, index_t graphs = 0, graph_words const& words = {}) {
    graph_offsets all(capacity, words);
    if constexpr (replays<Ex>) {
      all.padding_.emplace(capacity);
      all.room_for_graphs(std::max(graphs, padded_room(capacity).graphs));
    }
    return all;
  }

  void clear() { dims_ = {}; }
  graph_dims const& dims() const { return dims_; }
  /// Of n nodes, with so many questions beyond one.
  bool has_room(index_t n, index_t further = 0) const {
    if (n < 1 || n > capacity_.max_nodes || n > most_nodes) return false;  // n^3 is an index
    if (further < 0 || further > capacity_.further) return false;
    auto all = dims_ + dims_of(n);
    all.further += further;
    return fits(all, capacity_);
  }
  bool has_room_to_ask() const { return dims_.graphs > 0 && dims_.further < capacity_.further; }
  /// One more question about the last graph; returns how many there were beyond one for each.
  index_t ask() { return dims_.further++; }

  /// One more graph of n nodes; returns the dims before it, which say where its first node, edge and triangle are.
  graph_dims add(index_t n) {
    expect_room(n);
    return append(n);
  }
  /// A contract_violation where one more, with so many questions beyond one, has no room.
  void expect_room(index_t n, index_t further = 0) const {
    TRIAD_EXPECTS(has_room(n, further),
                  detail::no_room(words_.loader,
                                  std::string(words_.one) + " of " + std::to_string(n) + " " + words_.nodes +
                                      (further > 0 ? " with " + std::to_string(further) + " further questions" : ""),
                                  dims_, capacity_));
  }

  /// Fills the batch up to a shape that others have, until take_back(): add(n, dims before it) for each graph of n
  /// nodes behind the others, of which the first has some and the last may have none.  Where the backend does not
  /// replay, or no shape is near, nothing is added.
  /// Returns whether it was filled up.
  template <class Add>
  bool pad(Add const& add) {
    if (!padding_ || !padding_->find(dims_)) return false;
    for (auto const n : padding_->nodes()) add(n, append(n));
    dims_ = padding_->dims();
    return true;
  }
  /// One more graph of n nodes, or of none, beside another batch's padding; returns the dims before it.
  graph_dims add_padding(index_t n) { return append(n); }

  /// What was added since the dims were these.
  void take_back(graph_dims const& before) { dims_ = before; }

  template <class Put>
  graph_batch upload(Put const& put) const {
    index_t const b = dims_.graphs;
    return {dims_, put(nodes_, b), put(node_, b), put(edge_, b), put(triangle_, b)};
  }

 private:
  void room_for_graphs(index_t count) {
    for (auto* v : {&nodes_, &node_, &edge_, &triangle_}) v->resize(static_cast<std::size_t>(count));
  }
  graph_dims append(index_t n) {
    auto const before = dims_;
    auto const g = static_cast<std::size_t>(before.graphs);
    nodes_[g] = n;
    node_[g] = before.nodes;
    edge_[g] = before.rows;
    triangle_[g] = before.triangles;
    dims_ = before + dims_of(n);
    return before;
  }

  graph_words words_;
  graph_dims capacity_, dims_;
  std::vector<index_t> nodes_, node_, edge_, triangle_;
  std::optional<graph_padding> padding_;
};

}  // namespace triad
