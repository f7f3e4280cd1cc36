// Fuse-attention: every token attends to the states that the preceding layers computed for this token.
// SPDX-License-Identifier: Apache-2.0
//
// In equations 9 and 10 of the paper on LRF, a query h attends to the states x_0 .. x_{l-1} of one token.  The keys are
// W_k x_j + b_k, and the values are W_v x_j + b_v.  Let q = (W_q h + b_q) / sqrt(k) for a head.  Then the states x_j
// need not be projected:
//
//   q . (W_k x_j + b_k) = u . x_j + a number that is the same for all j,   u = W_k' q          u (d) of every head
//   sum_j p~_j (W_v x_j + b_v) = W_v m + s b_v,   m = sum_j p~_j x_j,  s = sum_j p~_j          s is 1 without dropout
//
// This operation computes m and s from u and the states, for each token.
//
//   p_j = softmax over j of u . x_j;  p~ = dropout(p)
//   dp~_j = dm . x_j + ds;  dp = dropout'(dp~);  dz_j = p_j (dp_j - sum_i p_i dp_i)
//   du = sum_j dz_j x_j;  dx_j += sum_heads dz_j u + p~_j dm
//
// If an operand has a NaN, or if a score is +infinity, all results of this token and head that depend on this value are
// NaN.
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/random.hpp"
#include "triad/core/views.hpp"

namespace triad {

struct fuse_attention_options {
  index_t heads = 1;
  dropout_mask dropout{};  // p_j of a row and head is element (row h + head) l + j
};

/// The states of all tokens after each layer.  The operation reads the states of the first `layers` layers.
template <class S>
using layer_states = tensor<S, dyn, dyn, dyn>;  // (layers or more, rows, d)

namespace detail {
template <class U, class X, class P, class M, class K>
void expect_fuse(fuse_attention_options const& options, index_t layers, U const& u, X const& states, P const& weights,
                 M const& mixed, K const& kept) {
  index_t const rows = states.extent(1), d = states.extent(2);
  TRIAD_EXPECTS(options.heads > 0,
                "fuse_attention: heads are " + std::to_string(options.heads) + ", expected 1 or more");
  TRIAD_EXPECTS(layers > 0 && layers <= states.extent(0), "fuse_attention: layers are " + std::to_string(layers) +
                                                              ", expected 1 to " + std::to_string(states.extent(0)) +
                                                              ", the number of states");
  expect_shape("fuse_attention", "u", u, {rows, options.heads * d});
  expect_shape("fuse_attention", "mixed", mixed, {rows, options.heads * d});
  expect_shape("fuse_attention", "weights", weights, {rows, options.heads * layers});
  expect_shape("fuse_attention", "kept", kept, {rows, options.heads});
  expect_rate("fuse_attention", options.dropout);
}
}  // namespace detail

/// Computes the attention of each token over its states.  Writes m of every head to `mixed` (rows, heads d), and s of
/// every head to `kept` (rows, heads).  Writes p before dropout to `weights` (rows, heads layers), which the backward
/// pass needs.  A weight that dropout sets to zero is stored as -p.
template <backend Ex, class T>
void fuse_attention(Ex& ex, fuse_attention_options const& options, index_t layers, tensor<T const, dyn, dyn> u,
                    layer_states<T const> states, tensor<T, dyn, dyn> weights, tensor<T, dyn, dyn> mixed,
                    tensor<T, dyn, dyn> kept) {
  detail::expect_fuse(options, layers, u, states, weights, mixed, kept);
  if constexpr (executes<Ex>) do_fuse_attention(ex, options, layers, u, states, weights, mixed, kept);
}

/// Computes the gradients.  Overwrites du (rows, heads d).  Adds to d_states of the first `layers` layers.
template <backend Ex, class T>
void fuse_attention_grad(Ex& ex, fuse_attention_options const& options, index_t layers, tensor<T const, dyn, dyn> u,
                         layer_states<T const> states, tensor<T const, dyn, dyn> weights,
                         tensor<T const, dyn, dyn> d_mixed, tensor<T const, dyn, dyn> d_kept, tensor<T, dyn, dyn> du,
                         layer_states<T> d_states) {
  detail::expect_fuse(options, layers, u, states, weights, d_mixed, d_kept);
  expect_same_shape("fuse_attention_grad", "du", du, u);
  TRIAD_EXPECTS(d_states.extent(0) >= layers, "fuse_attention_grad: gradients of " +
                                                  std::to_string(d_states.extent(0)) + " states, expected " +
                                                  std::to_string(layers) + " or more");
  expect_shape("fuse_attention_grad", "d_states", d_states, {d_states.extent(0), states.extent(1), states.extent(2)});
  if constexpr (executes<Ex>)
    do_fuse_attention_grad(ex, options, layers, u, states, weights, d_mixed, d_kept, du, d_states);
}

}  // namespace triad
