// A table of the attention weights of one edge, in host memory that the table owns.
// SPDX-License-Identifier: Apache-2.0
//
// A model whose attention weights can be read has three functions:
//
//   attention_heads()                      the number of rows of the table
//   attention_terms(n)                     the number of columns for a graph of n nodes
//   attention_weights(ex, call, values, in, saved, layer, graph, i, j, weights)   writes the table after forward()
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "triad/core/backend.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/call.hpp"
#include "triad/core/fields.hpp"
#include "triad/core/graphs.hpp"
#include "triad/core/views.hpp"

namespace triad {

/// The layer, the graph and the edge to which a table belongs.  All numbers count from 0.
struct attention_place {
  struct edge_ends {
    index_t source = 0, target = 0;
  };
  index_t layer = 0, graph = 0;
  edge_ends edge{};
};

/// A table with one row for each head.  The weights of each row sum to 1.  In triangular attention, a column is a
/// middle node.  In flat attention, the first n columns are the edges (i, z), and the next n columns are the edges (z,
/// j).
template <class T>
class attention_table {
 public:
  attention_table(index_t heads, index_t terms)
      : heads_(heads), terms_(terms), numbers_(static_cast<std::size_t>(heads * terms)) {}

  index_t heads() const { return heads_; }
  index_t terms() const { return terms_; }
  /// Returns the weight of term l in head h.
  T operator()(index_t h, index_t l) const {
    TRIAD_EXPECTS(h >= 0 && h < heads_ && l >= 0 && l < terms_,
                  "attention_table: head " + std::to_string(h) + " and term " + std::to_string(l) + ", expected 0 to " +
                      std::to_string(heads_ - 1) + " and 0 to " + std::to_string(terms_ - 1));
    return numbers_[static_cast<std::size_t>(h * terms_ + l)];
  }
  /// Returns the mean of the weights of term l over all heads.
  T mean(index_t l) const {
    T sum = 0;
    for (index_t h = 0; h < heads_; ++h) sum += (*this)(h, l);
    return sum / static_cast<T>(heads_);
  }
  /// data() returns a pointer to the weights, row by row.  view() returns the table as a matrix.
  T* data() { return numbers_.data(); }
  tensor<T const, dyn, dyn> view() const { return tensor<T const, dyn, dyn>(numbers_.data(), heads_, terms_); }

 private:
  index_t heads_, terms_;
  std::vector<T> numbers_;
};

/// A model that has attention_weights().
template <class Model, class Ex>
concept shows_attention =
    requires(Model const& m, Ex& ex, call const& c, fields_of<Model, typename Model::value_type const> w,
             typename Model::input const& in, typename Model::saved const& s, index_t at,
             matrix<typename Model::value_type> weights) {
      m.attention_heads();
      m.attention_terms(at);
      // A call, as nvcc cannot take the function's address.
      m.attention_weights(ex, c, w, in, s, at, at, at, at, weights);
    };

namespace detail {
/// Returns the attention weights at one place.  `saved` has the values that a forward pass over the batch `in` saved.
template <class T, backend Ex, class Model, class Values, class Input, class Saved>
attention_table<T> attention_at(Ex& ex, Model const& model, call const& c, Values const& values, Input const& in,
                                Saved const& saved, attention_place const& at) {
  auto const text = [](index_t v) { return std::to_string(v); };
  graph_batch const& graphs = in.graphs;
  TRIAD_EXPECTS(at.graph >= 0 && at.graph < graphs.dims.graphs,
                "attention: graph " + text(at.graph) + ", expected 0 to " + text(graphs.dims.graphs - 1));
  auto const where = memory_of(ex);
  index_t n = 0;
  where.to_host(&n, graphs.size.data_handle() + at.graph, sizeof n);
  auto const [i, j] = at.edge;
  TRIAD_EXPECTS(i >= 0 && i < n && j >= 0 && j < n, "attention: edge (" + text(i) + ", " + text(j) + ") of graph " +
                                                        text(at.graph) + ", expected nodes 0 to " + text(n - 1));
  attention_table<T> table(model.attention_heads(), model.attention_terms(n));
  auto const bytes = static_cast<std::size_t>(table.heads() * table.terms()) * sizeof(T);
  buffer<typename Ex::memory> const there(bytes, where);
  tensor<T, dyn, dyn> const weights(static_cast<T*>(there.data()), table.heads(), table.terms());
  model.attention_weights(ex, c, values, in, saved, at.layer, at.graph, i, j, as_matrix(weights));
  where.to_host(table.data(), there.data(), bytes);
  return table;
}
}  // namespace detail

}  // namespace triad
