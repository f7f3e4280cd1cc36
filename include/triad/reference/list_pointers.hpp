// Pointers between the members of a list, directly from their definition in ops/list_pointers.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "triad/ops/list_pointers.hpp"
#include "triad/reference/backend.hpp"
#include "triad/reference/reduce.hpp"

namespace triad::TRIAD_REFERENCE {

/// Computes L and its powers for one grid with e members.
template <class T>
void list_pointers_of(grid_batch const& g, index_t graph, index_t e, list_pointer_options const& o, vec<T const> score,
                      matrix<T> powers) {
  triad::detail::column_pairs const at(g, graph);
  for (index_t k = 0; k <= o.squarings; ++k)
    for (index_t i = 0; i < at.m; ++i)
      for (index_t j = 0; j < at.m; ++j) powers(k, at(i, j)) = i == j ? T(1) : T(0);
  for (index_t i = 0; i < e; ++i) {
    auto const l = [&](index_t j) {
      return score(at(i, j)) - (j < i ? T(o.distance) * static_cast<T>(i - j - 1) : T(0));
    };
    T maximum = l(0), sum = 0;
    for (index_t j = 1; j <= i; ++j) maximum = l(j) > maximum ? l(j) : maximum;
    for (index_t j = 0; j <= i; ++j) sum += std::exp(l(j) - maximum);
    for (index_t j = 0; j <= i; ++j) powers(0, at(i, j)) = std::exp(l(j) - maximum) / sum;
  }
  for (index_t k = 0; k < o.squarings; ++k)
    for (index_t i = 0; i < e; ++i)
      for (index_t j = 0; j <= i; ++j) {
        T sum = 0;
        for (index_t c = j; c <= i; ++c) sum += powers(k, at(i, c)) * powers(k, at(c, j));
        powers(k + 1, at(i, j)) = sum;
      }
}

/// Computes the gradient of the scores of one grid with e members.  Reads the gradients and the powers only for pairs
/// (i, j) of members with j <= i, because the other elements of the powers do not depend on the scores.
template <class T>
void list_pointers_grad_of(grid_batch const& g, index_t graph, index_t e, list_pointer_options const& o,
                           matrix<T const> powers, vec<T const> d_heads, vec<T const> d_links, vec<T> dscore,
                           matrix<T> d) {
  triad::detail::column_pairs const at(g, graph);
  index_t now = 0;  // the row of d that has the gradient of the present power
  for (index_t i = 0; i < e; ++i)
    for (index_t j = 0; j <= i; ++j) d(now, at(i, j)) = d_heads(at(i, j));
  for (index_t k = o.squarings - 1; k >= 0; --k, now = 1 - now)
    for (index_t i = 0; i < e; ++i)
      for (index_t j = 0; j <= i; ++j) {
        T sum = 0;
        for (index_t c = 0; c <= j; ++c) sum += d(now, at(i, c)) * powers(k, at(j, c));
        for (index_t c = i; c < e; ++c) sum += powers(k, at(c, i)) * d(now, at(c, j));
        d(1 - now, at(i, j)) = sum;
      }
  for (index_t i = 0; i < at.m; ++i)
    for (index_t j = 0; j < at.m; ++j) dscore(at(i, j)) = T(0);
  for (index_t i = 0; i < e; ++i) {
    T dot = 0;
    for (index_t j = 0; j <= i; ++j) dot += powers(0, at(i, j)) * (d(now, at(i, j)) + d_links(at(i, j)));
    for (index_t j = 0; j <= i; ++j)
      dscore(at(i, j)) = powers(0, at(i, j)) * (d(now, at(i, j)) + d_links(at(i, j)) - dot);
  }
}

/// Computes the penalty of each column of one grid with e members, and the gradient of L.
template <class T>
void list_penalty_of(grid_batch const& g, index_t graph, index_t e, vec<T const> links, T weight, vec<T> d_links,
                     vec<T> of_columns) {
  triad::detail::column_pairs const at(g, graph);
  for (index_t i = 0; i < at.m; ++i) {
    for (index_t j = 0; j < at.m; ++j) d_links(at(i, j)) = T(0);
    bool const counts = i > 0 && i < e;
    T const other = counts ? T(1) - links(at(i, i)) + T(list_penalty_offset) : T(1);
    if (counts) d_links(at(i, i)) = weight / other;
    of_columns(g.column_begin(graph) + i) = counts ? -weight * std::log(other) : T(0);
  }
}

template <class T>
void do_list_pointers(backend&, grid_batch const& g, vec<index_t const> members, list_pointer_options const& o,
                      vec<T const> score, matrix<T> powers) {
  triad::detail::expect_members(g, members);
  for (index_t graph = 0; graph < g.dims.graphs; ++graph) list_pointers_of(g, graph, members(graph), o, score, powers);
}

template <class T>
void do_list_pointers_grad(backend&, grid_batch const& g, vec<index_t const> members, list_pointer_options const& o,
                           matrix<T const> powers, vec<T const> d_heads, vec<T const> d_links, vec<T> dscore,
                           matrix<T> d) {
  triad::detail::expect_members(g, members);
  for (index_t graph = 0; graph < g.dims.graphs; ++graph)
    list_pointers_grad_of(g, graph, members(graph), o, powers, d_heads, d_links, dscore, d);
}

template <class T>
void do_list_penalty(backend&, grid_batch const& g, vec<index_t const> members, vec<T const> links, vec<T const> weight,
                     vec<T> d_links, vec<T> of_columns) {
  triad::detail::expect_members(g, members);
  for (index_t graph = 0; graph < g.dims.graphs; ++graph)
    list_penalty_of(g, graph, members(graph), links, weight(0), d_links, of_columns);
}

}  // namespace triad::TRIAD_REFERENCE
