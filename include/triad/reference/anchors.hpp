// Anchors of slots, directly from their definition in ops/anchors.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "triad/ops/anchors.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

/// Computes S, absent and mix for one sentence.
template <class T>
void anchors_of(anchor_grids const& g, index_t graph, vec<T const> score, vec<T const> none, vec<T const> heads,
                vec<T> anchor, vec<T> absent, vec<T> mix) {
  triad::detail::anchored_sentence const at(g, graph);
  triad::detail::column_pairs const pair(g.nodes, graph);
  index_t const n = at.n, e = at.members;
  for (index_t k = 0; k < at.slots; ++k) {
    T const stay_away = none(at.none + k);
    T maximum = stay_away;
    for (index_t c = 0; c < n; ++c) maximum = score(at.cell(k, c)) > maximum ? score(at.cell(k, c)) : maximum;
    T sum = std::exp(stay_away - maximum);
    for (index_t c = 0; c < n; ++c) sum += std::exp(score(at.cell(k, c)) - maximum);
    absent(at.none + k) = std::exp(stay_away - maximum) / sum;
    for (index_t c = 0; c < n; ++c) anchor(at.cell(k, c)) = std::exp(score(at.cell(k, c)) - maximum) / sum;
  }
  bool const lists = heads.extent(0) != 0;
  for (index_t i = 0; i < e; ++i) {
    for (index_t c = 0; c < n; ++c) mix(at.weight(i, c)) = T(0);
    if (!lists) mix(at.weight(i, at.token(i))) = T(1);
    if (lists)
      for (index_t j = 0; j < e; ++j) mix(at.weight(i, at.token(j))) = heads(pair(i, j));
  }
  for (index_t k = 0; k < at.slots; ++k) {
    for (index_t c = 0; c < n; ++c) mix(at.weight(e + k, c)) = anchor(at.cell(k, c));
    if (lists)
      for (index_t j = 0; j < e; ++j) {
        T sum = 0;
        for (index_t i = 0; i < e; ++i) sum += anchor(at.cell(k, at.token(i))) * heads(pair(i, j));
        mix(at.weight(e + k, at.token(j))) = sum;
      }
  }
}

/// Computes the gradients of one sentence.
template <class T>
void anchors_grad_of(anchor_grids const& g, index_t graph, vec<T const> anchor, vec<T const> absent, vec<T const> heads,
                     vec<T const> dmix, vec<T> dscore, vec<T> dnone, vec<T> d_heads) {
  triad::detail::anchored_sentence const at(g, graph);
  triad::detail::column_pairs const pair(g.nodes, graph);
  index_t const n = at.n, e = at.members;
  bool const lists = heads.extent(0) != 0;
  for (index_t k = 0; k < at.slots; ++k) {
    for (index_t c = 0; c < n; ++c) dscore(at.cell(k, c)) = dmix(at.weight(e + k, c));  // dS
    if (lists)
      for (index_t i = 0; i < e; ++i) {
        T sum = 0;
        for (index_t j = 0; j < e; ++j) sum += heads(pair(i, j)) * dmix(at.weight(e + k, at.token(j)));
        dscore(at.cell(k, at.token(i))) = sum;
      }
    T dot = 0;
    for (index_t c = 0; c < n; ++c) dot += anchor(at.cell(k, c)) * dscore(at.cell(k, c));
    for (index_t c = 0; c < n; ++c) dscore(at.cell(k, c)) = anchor(at.cell(k, c)) * (dscore(at.cell(k, c)) - dot);
    dnone(at.none + k) = -absent(at.none + k) * dot;
  }
  if (!lists) return;
  for (index_t i = 0; i < pair.m; ++i)
    for (index_t j = 0; j < pair.m; ++j) {
      T sum = 0;
      if (i < e && j < e) {
        sum = dmix(at.weight(i, at.token(j)));
        for (index_t k = 0; k < at.slots; ++k)
          sum += anchor(at.cell(k, at.token(i))) * dmix(at.weight(e + k, at.token(j)));
      }
      d_heads(pair(i, j)) = sum;
    }
}

template <class T>
void do_anchors(backend&, anchor_grids const& g, vec<T const> score, vec<T const> none, vec<T const> heads,
                vec<T> anchor, vec<T> absent, vec<T> mix) {
  triad::detail::expect_anchored(g);
  for (index_t graph = 0; graph < g.nodes.dims.graphs; ++graph)
    anchors_of(g, graph, score, none, heads, anchor, absent, mix);
}

template <class T>
void do_anchors_grad(backend&, anchor_grids const& g, vec<T const> anchor, vec<T const> absent, vec<T const> heads,
                     vec<T const> dmix, vec<T> dscore, vec<T> dnone, vec<T> d_heads) {
  triad::detail::expect_anchored(g);
  for (index_t graph = 0; graph < g.nodes.dims.graphs; ++graph)
    anchors_grad_of(g, graph, anchor, absent, heads, dmix, dscore, dnone, d_heads);
}

}  // namespace triad::TRIAD_REFERENCE
