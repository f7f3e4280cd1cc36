// Small calls of all operations and of their gradients.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/ops/every_attention.hpp"
#include "tests/ops/operation_use.hpp"
#include "tests/ragged.hpp"
#include "tests/ragged_grids.hpp"
#include "triad/ops/adam.hpp"
#include "triad/ops/anchors.hpp"
#include "triad/ops/arc_cross_entropy.hpp"
#include "triad/ops/binary_cross_entropy.hpp"
#include "triad/ops/cross_entropy.hpp"
#include "triad/ops/distance_bias.hpp"
#include "triad/ops/dropout.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/gather.hpp"
#include "triad/ops/head_bias.hpp"
#include "triad/ops/implied_labels.hpp"
#include "triad/ops/layer_norm.hpp"
#include "triad/ops/linear_grad.hpp"
#include "triad/ops/list_pointers.hpp"
#include "triad/ops/log_step.hpp"
#include "triad/ops/matmul.hpp"
#include "triad/ops/matmul_norm.hpp"
#include "triad/ops/mix_columns.hpp"
#include "triad/ops/noisy_or.hpp"
#include "triad/ops/pair_product.hpp"
#include "triad/ops/pair_sum.hpp"
#include "triad/ops/reduce.hpp"
#include "triad/ops/softmax.hpp"
#include "triad/ops/tree_choice.hpp"
#include "triad/ops/tree_loss.hpp"
#include "triad/ops/tree_shift.hpp"
#include "triad/ops/wide_matmul.hpp"

namespace triad::test::operations {

namespace detail {

template <class Ex, class T, class F>
void each_rowwise_use(F&& f) {
  using given = numbers<T>;
  constexpr index_t rows = 3, d = 21;  // two registers and five columns, or one register and five columns
  auto const use = [&](char const* name, std::vector<index_t> sizes, auto run, double range = 1) {
    f(operation_use<Ex, T>{name, std::move(sizes), run, range});
  };
  auto const unary = [&](char const* name, auto function) {
    use(name, {rows * d}, [=](Ex& ex, given const& x) {
      auto y = room_for_numbers<T>({rows * d});
      transform(ex, function, in(x[0], rows * d), out(y[0], rows * d));
      return y;
    });
  };
  auto const binary = [&](char const* name, auto function) {
    use(name, {rows * d, rows * d}, [=](Ex& ex, given const& x) {
      auto y = room_for_numbers<T>({rows * d});
      transform(ex, function, in(x[0], rows * d), in(x[1], rows * d), out(y[0], rows * d));
      return y;
    });
  };
  unary("unchanged", unchanged{});
  unary("scale_by", scale_by<double>{0.3});
  unary("relu", relu{});
  unary("leaky_relu", leaky_relu<double>{0.2});
  unary("elu", elu{});
  unary("gelu", gelu{});
  unary("sigmoid", sigmoid{});
  binary("plus", plus{});
  binary("times", times{});
  binary("relu_grad", relu_grad{});
  binary("leaky_relu_grad", leaky_relu_grad<double>{0.2});
  binary("elu_grad", elu_grad{});
  binary("gelu_grad", gelu_grad{});
  binary("sigmoid_grad", sigmoid_grad{});

  use("softmax", {rows * d}, [=](Ex& ex, given const& x) {
    auto y = room_for_numbers<T>({rows * d});
    softmax(ex, in(x[0], rows, d), out(y[0], rows, d));
    return y;
  });
  use("softmax_grad", {rows * d, rows * d}, [=](Ex& ex, given const& x) {
    auto y = room_for_numbers<T>({rows * d});
    softmax_grad(ex, in(x[0], rows, d), in(x[1], rows, d), out(y[0], rows, d));
    return y;
  });
  use("layer_norm", {rows * d, d, d}, [=](Ex& ex, given const& x) {
    auto y = room_for_numbers<T>({rows * d, rows, rows});
    layer_norm(ex, in(x[0], rows, d), in(x[1], d), in(x[2], d), 1e-5, out(y[0], rows, d), out(y[1], rows),
               out(y[2], rows));
    return y;
  });
  use("layer_norm_grad", {rows * d, d, rows, rows, rows * d, rows * d}, [=](Ex& ex, given const& x) {
    auto y = room_for_numbers<T>({rows * d, d, d}, T(0));
    with_scratch(ex, {}, [&](auto& on, call const& c) {
      layer_norm_grad(on, *c.scratch, in(x[0], rows, d), in(x[1], d), in(x[2], rows), in(x[3], rows), in(x[4], rows, d),
                      in(x[5], rows, d), out(y[0], rows, d), out(y[1], d), out(y[2], d));
    });
    return y;
  });
  use("layer_norm_grad, dropout", {rows * d, d, rows, rows, rows * d}, [=](Ex& ex, given const& x) {
    auto y = room_for_numbers<T>({rows * d, d, d, rows * d}, T(0));
    with_scratch(ex, {}, [&](auto& on, call const& c) {
      layer_norm_grad(on, *c.scratch, in(x[0], rows, d), in(x[1], d), in(x[2], rows), in(x[3], rows), in(x[4], rows, d),
                      no_matrix<T const>(), out(y[0], rows, d), out(y[1], d), out(y[2], d),
                      dropout_mask{0.3, 1, 2, nullptr}, out(y[3], rows, d));
    });
    return y;
  });
  for (bool const decoupled : {false, true})
    use(decoupled ? "adam, decoupled" : "adam", {rows * d, rows * d, rows * d, rows * d}, [=](Ex& ex, given const& x) {
      numbers<T> y{x[0], x[2], x[3]};
      for (auto& v : y) v.resize(static_cast<std::size_t>(rows * d));
      for (auto& v : y[2]) v = v * v;  // this operand is a mean of squares, so it must not be negative
      double const rate = 0.1;
      std::uint64_t const step = 3;
      adam(ex, {.weight_decay = 0.1, .decoupled = decoupled}, make_vec(&rate, 1), &step, out(y[0], rows * d),
           in(x[1], rows * d), out(y[1], rows * d), out(y[2], rows * d));
      return y;
    });
  use("adam's rate", {1}, [=](Ex& ex, given const& x) {
    auto y = room_for_numbers<T>({d, d, d}, T(0.5));
    auto const g = room_for_numbers<T>({d}, T(0.25));
    auto const rate = static_cast<double>(x[0][0]);
    std::uint64_t const step = 3;
    adam(ex, {}, make_vec(&rate, 1), &step, out(y[0], d), in(g[0], d), out(y[1], d), out(y[2], d));
    return numbers<T>{y[0]};
  });
  use("clip", {rows * d, 1}, [=](Ex& ex, given const& x) {
    numbers<T> y{x[0]};
    y[0].resize(static_cast<std::size_t>(rows * d));
    clip(ex, 0.01, in(x[1], 1), out(y[0], rows * d));
    return y;
  });
  use("log_step", {1, 1}, [=](Ex& ex, given const& x) {
    auto y = room_for_numbers<T>({4}, T(0));
    std::uint64_t const step = 1;
    log_step(ex, &step, in(x[0], 1), in(x[1], 1), out(y[0], 2, 2));
    return y;
  });
  use("sum, norm and column sums", {rows * d}, [=](Ex& ex, given const& x) {
    auto y = room_for_numbers<T>({1, 1, d}, T(0));
    with_scratch(ex, {}, [&](auto& on, call const& c) {
      sum(on, *c.scratch, in(x[0], rows * d), out(y[0], 1));
      norm(on, *c.scratch, in(x[0], rows * d), out(y[1], 1));
      column_sums_add(on, *c.scratch, in(x[0], rows, d), out(y[2], d));
    });
    return y;
  });
  use("gather_rows and back", {4 * d, rows * d}, [=](Ex& ex, given const& x) {
    auto y = room_for_numbers<T>({rows * d, 4 * d}, T(0));
    std::vector<index_t> const index{3, 1, 3};
    gather_rows(ex, in(x[0], 4, d), make_vec<index_t const>(index.data(), rows), out(y[0], rows, d));
    with_scratch(ex, {}, [&](auto& on, call const& c) {
      scatter_add_rows(on, c.scratch, in(x[1], rows, d), make_vec<index_t const>(index.data(), rows), out(y[1], 4, d));
    });
    return y;
  });
  for (double const smoothing : {0.0, 0.1})
    use(smoothing > 0 ? "cross_entropy, smoothed" : "cross_entropy", {4 * d}, [=](Ex& ex, given const& x) {
      auto y = room_for_numbers<T>({1, 4 * d});
      std::vector<index_t> const target{3, -1, d - 1, 0};
      cross_entropy(ex, in(x[0], 4, d), make_vec<index_t const>(target.data(), 4), out(y[0], 1), out(y[1], 4, d),
                    {smoothing});
      return y;
    });
  for (auto const form : {probability_form::logits, probability_form::log_misses})
    use(form == probability_form::logits ? "binary_cross_entropy of logits" : "binary_cross_entropy of log misses",
        {rows * d, 1}, [=](Ex& ex, given const& x) {
          auto y = room_for_numbers<T>({1, rows * d});
          std::vector<T> from = x[0];
          if (form == probability_form::log_misses)
            for (T& e : from) e -= T(2);
          std::vector<std::uint8_t> target(static_cast<std::size_t>(rows * d));
          for (std::size_t i = 0; i < target.size(); ++i) target[i] = static_cast<std::uint8_t>(i % 5 % 3);
          with_scratch(ex, {}, [&](auto& on, call const& c) {
            binary_cross_entropy(on, *c.scratch, form, in(from, rows, d),
                                 make_matrix<std::uint8_t const>(target.data(), rows, d, d), in(x[1], 1), out(y[0], 1),
                                 out(y[1], rows, d));
          });
          return y;
        });
  for (auto const distance : {tree_distance::squared, tree_distance::divergence})
    use(distance == tree_distance::squared ? "tree_loss" : "tree_loss by divergence", {4 * d},
        [=](Ex& ex, given const& x) {
          auto y = room_for_numbers<T>({1, 4 * d});
          std::vector<index_t> const target{3, 0, d - 1, 1};
          with_scratch(ex, {}, [&](auto& on, call const& c) {
            tree_loss(on, *c.scratch, in(x[0], 4, d), make_vec<index_t const>(target.data(), 4), out(y[0], 1),
                      out(y[1], 4, d), {.distance = distance});
          });
          return y;
        });
  use("distance_bias and back", {distance_buckets * 3, 3 * relative_offsets(distance_reach)},
      [=](Ex& ex, given const& x) {
        index_t const n = 3 * relative_offsets(distance_reach);
        auto y = room_for_numbers<T>({rows * n, distance_buckets * 3});
        distance_bias<Ex, T>(ex, T(2), in(x[0], distance_buckets, 3), out(y[0], rows, n));
        std::fill(y[1].begin(), y[1].end(), T(0));
        distance_bias_grad<Ex, T>(ex, T(2), in(x[1], n), out(y[1], distance_buckets, 3));
        return y;
      });
  use("head_bias and back", {rows * 3, d, rows * d, rows * d}, [=](Ex& ex, given const& x) {
    numbers<T> y{x[2]};
    y[0].resize(static_cast<std::size_t>(rows * d));
    auto const more = room_for_numbers<T>({rows * 3, d}, T(0));
    y.insert(y.end(), more.begin(), more.end());
    table_in<T> const s(x[0].data(), rows, 3);
    head_bias_add(ex, s, in(x[1], d), table_out<T>(y[0].data(), rows, d));
    with_scratch(ex, {}, [&](auto& on, call const& c) {
      head_bias_grad(on, *c.scratch, s, in(x[1], d), table_in<T>(x[3].data(), rows, d),
                     table_out<T>(y[1].data(), rows, 3), out(y[2], d));
    });
    return y;
  });
}

template <class Ex, class T, class F>
void each_product_use(F&& f) {
  using given = numbers<T>;
  constexpr index_t m = 3, k = 5, n = 19;
  for (bool const rectified : {false, true})
    f(operation_use<Ex, T>{
        rectified ? "matmul with relu" : "matmul", {m * k, k * n, n, m * n, m * n}, [=](Ex& ex, given const& x) {
          auto y = room_for_numbers<T>({m * n});
          epilogue<T> e;
          e.bias = in(x[2], n);
          e.relu = rectified;
          e.gate = in(x[3], m, n);
          e.residual = in(x[4], m, n);
          matmul(ex, in(x[0], m, k), in(x[1], k, n), out(y[0], m, n), e);
          return y;
        }});
  f(operation_use<Ex, T>{"matmul_norm", {m * k, k * n, m * n, n, n}, [=](Ex& ex, given const& x) {
                           auto y = room_for_numbers<T>({m * n, m * n, m, m});
                           epilogue<T> e;
                           e.dropout = {0.3, 1, 2, nullptr};
                           e.residual = in(x[2], m, n);
                           e.norm = {in(x[3], n), in(x[4], n), T(1e-5), out(y[1], m, n), out(y[2], m), out(y[3], m)};
                           kept_factor<T const> const a = tensor<T const, dyn, dyn>(x[0].data(), m, k);
                           kept_factor<T> const c = tensor<T, dyn, dyn>(y[0].data(), m, n);
                           matmul_norm(ex, a, in(x[1], k, n), c, e);
                           return y;
                         }});
  f(operation_use<Ex, T>{"matmul_add", {m * k, k * n, m * n}, [=](Ex& ex, given const& x) {
                           numbers<T> y{x[2]};
                           y[0].resize(static_cast<std::size_t>(m * n));
                           matmul_add(ex, in(x[0], m, k), in(x[1], k, n), out(y[0], m, n));
                           return y;
                         }});
  for (double const rate : {0.0, 0.3})
    f(operation_use<Ex, T>{
        rate > 0 ? "linear_grad, with dropout" : "linear_grad", {m * k, n * k, m * n}, [=](Ex& ex, given const& x) {
          auto y = room_for_numbers<T>({m * k, n * k, n}, T(0));
          linear_grad_operands<T> operands{as_matrix(in(x[0], m, k)),
                                           as_matrix(in(x[1], n, k)),
                                           as_matrix(in(x[2], m, n)),
                                           as_matrix(out(y[0], m, k)),
                                           as_matrix(out(y[1], n, k)),
                                           out(y[2], n),
                                           {}};
          operands.dropout = {rate, 1, 2};
          with_scratch(ex, {}, [&](auto& on, call const& c) { linear_grad(on, *c.scratch, operands); });
          return y;
        }});
  f(operation_use<Ex, T>{"batched_matmul", {2 * m * k, 2 * k * n}, [=](Ex& ex, given const& x) {
                           auto y = room_for_numbers<T>({2 * m * n});
                           batched_matmul(ex, make_matrices<T const>(x[0].data(), 2, m, k, m * k, k),
                                          make_matrices<T const>(x[1].data(), 2, k, n, k * n, n),
                                          make_matrices(y[0].data(), 2, m, n, m * n, n));
                           return y;
                         }});
  constexpr index_t wide = wide_chunk + 37;
  f(operation_use<Ex, T>{"wide_matmul and back", {2 * wide, m * wide, m, 2 * m}, [=](Ex& ex, given const& x) {
                           auto y = room_for_numbers<T>({2 * m, 2 * wide}, T(0));
                           with_scratch(ex, {}, [&](auto& on, call const& c) {
                             auto const frame = c.scratch->open();
                             auto const factor = lay_out_wide(on, *c.scratch, in(x[1], m, wide), wide - 5);
                             wide_matmul(on, *c.scratch, in(x[0], 2, wide), factor, wide - 5, in(x[2], m),
                                         table_out<T>(y[0].data(), 2, m));
                             wide_matmul_back(on, in(x[3], 2, m), factor, wide - 5, out(y[1], 2, wide));
                           });
                           return y;
                         }});
}

template <class Ex, class T, class F>
void each_pair_use(F&& f) {
  using given = numbers<T>;
  constexpr index_t d = 21;
  static ragged const graphs({3, 1, 4});
  index_t const nodes = graphs.dims.nodes, rows = graphs.dims.rows;
  static std::uint64_t const step = 3;
  for (double const rate : {0.0, 0.4}) {
    std::string const dropped = rate > 0 ? " with dropout" : "";
    dropout_mask const mask{rate, 1, 2, &step};
    if (rate > 0)
      f(operation_use<Ex, T>{"dropout", {3 * d}, [=](Ex& ex, given const& x) {
                               auto y = room_for_numbers<T>({3 * d});
                               dropout(ex, mask, in(x[0], 3, d), out(y[0], 3, d));
                               return y;
                             }});
    if (rate > 0)
      f(operation_use<Ex, T>{"dropout of a function and back", {3 * d, 3 * d}, [=](Ex& ex, given const& x) {
                               auto y = room_for_numbers<T>({3 * d, 3 * d});
                               auto const table = [=](auto& v) {
                                 using E = std::remove_pointer_t<decltype(v.data())>;
                                 return tensor<E, dyn, dyn>(v.data(), 3, d);
                               };
                               dropout(ex, mask, gelu{}, table(x[0]), table(y[0]));
                               dropout_grad(ex, mask, gelu_grad{}, table(x[0]), table(x[1]), table(y[1]));
                               return y;
                             }});
    f(operation_use<Ex, T>{
        "pair_sum and back" + dropped, {nodes * d, nodes * d, rows * d, rows * d}, [=](Ex& ex, given const& x) {
          auto y = room_for_numbers<T>({rows * d, nodes * d, nodes * d});
          pair_sum<Ex, T>(ex, graphs.batch(), in(x[0], nodes, d), in(x[1], nodes, d), mask, in(x[2], rows, d),
                          out(y[0], rows, d));
          pair_sum_grad<Ex, T>(ex, graphs.batch(), mask, in(x[3], rows, d), out(y[1], nodes, d), out(y[2], nodes, d));
          return y;
        }});
  }
  f(operation_use<Ex, T>{"pair_product and back", {nodes * d, nodes * d, rows}, [=](Ex& ex, given const& x) {
                           auto y = room_for_numbers<T>({rows, nodes * d, nodes * d});
                           pair_product<Ex, T>(ex, graphs.batch(), in(x[0], nodes, d), in(x[1], nodes, d),
                                               out(y[0], rows));
                           pair_product_grad<Ex, T>(ex, graphs.batch(), in(x[0], nodes, d), in(x[1], nodes, d),
                                                    in(x[2], rows), out(y[1], nodes, d), out(y[2], nodes, d));
                           return y;
                         }});
  for (auto const readout : {arcs::from_child, arcs::from_parent})
    f(operation_use<Ex, T>{"arc_cross_entropy", {rows}, [=](Ex& ex, given const& x) {
                             auto y = room_for_numbers<T>({1, rows});
                             std::vector<index_t> const parent{1, 1, -1, 0, 3, 0, 2, 2};
                             std::vector<std::uint8_t> masked(static_cast<std::size_t>(rows), 0);
                             masked[0] = masked[12] = 1;
                             with_scratch(ex, {}, [&](auto& on, call const& c) {
                               arc_cross_entropy(
                                   on, *c.scratch, {readout, make_vec<std::uint8_t const>(masked.data(), rows)},
                                   graphs.batch(), in(x[0], rows), make_vec<index_t const>(parent.data(), nodes),
                                   out(y[0], 1), out(y[1], rows));
                             });
                             return y;
                           }});
}

template <class Ex, class T, class F>
void each_grid_use(F&& f) {
  using given = numbers<T>;
  constexpr index_t d = 21;
  static ragged_grids const grids({{3, 2}, {1, 1}, {4, 3}});
  index_t const rows = grids.dims.rows, cells = grids.dims.cells;
  for (index_t const roles : {0, 1, 2}) {
    index_t const sums = roles > 1 ? grids.dims.pairs : roles > 0 ? grids.dims.columns : grids.dims.graphs;
    f(operation_use<Ex, T>{"noisy_or and back with roles:" + std::to_string(roles),
                           {rows * d, cells * roles, sums * d},
                           [=](Ex& ex, given const& x) {
                             auto y = room_for_numbers<T>({sums * d, rows * d, cells * roles});
                             numbers<T> probable{x[0], x[1]};
                             for (auto& v : probable)
                               for (T& e : v) e = T(0.5) + T(0.4) * e;
                             auto const role = [&](auto& v) {
                               return roles > 0 ? make_matrix(v.data(), cells, roles, roles)
                                                : no_matrix<std::remove_pointer_t<decltype(v.data())>>();
                             };
                             auto const& from = probable;
                             noisy_or<Ex, T>(ex, grids.batch(), in(from[0], rows, d), role(from[1]),
                                             out(y[0], sums, d));
                             noisy_or_grad<Ex, T>(ex, grids.batch(), in(from[0], rows, d), role(from[1]),
                                                  in(x[2], sums, d), out(y[1], rows, d), role(y[2]));
                             return y;
                           }});
  }
  constexpr index_t relations = 3;
  index_t const columns = grids.dims.columns, pairs = grids.dims.pairs, edges = columns * relations,
                labels = columns * d, table = relations * d;
  f(operation_use<Ex, T>{"implied_labels and back", {pairs * relations, labels, table, labels}, [=](Ex& ex, given x) {
                           auto y = room_for_numbers<T>({edges, labels, labels, labels, labels, table});
                           for (T& e : x[0]) e = T(0.5) * (e - T(1.01));
                           for (T& e : x[1]) e -= T(1.01);
                           for (T& e : x[2]) e = T(0.5) + T(0.4) * e;
                           auto const& from = x;
                           auto const p = in(from[2], relations, d);
                           implied_labels<Ex, T>(ex, grids.batch(), in(from[0], pairs, relations),
                                                 in(from[1], columns, d), p, out(y[0], columns, relations),
                                                 out(y[1], columns, d), out(y[2], columns, d), out(y[3], columns, d));
                           auto const& made = y;
                           implied_labels_grad<Ex, T>(ex, grids.batch(), p, in(made[0], columns, relations),
                                                      in(made[1], columns, d), in(made[2], columns, d),
                                                      in(from[3], columns, d), out(y[4], columns, d),
                                                      out(y[5], relations, d));
                           return y;
                         }});
}

template <class Ex, class T, class F>
void each_column_use(F&& f) {
  using given = numbers<T>;
  static ragged_grids const from({{4, 3}, {2, 5}, {1, 1}}), to({{4, 2}, {2, 4}, {1, 3}});
  static std::vector<index_t> const members{2, 5, 0}, mix_begin{0, 6, 26};
  constexpr index_t values = 3, weights = 29;
  index_t const pairs = from.dims.pairs, cells = from.dims.cells, mixed = to.dims.cells;
  f(operation_use<Ex, T>{"list_pointers", {pairs}, [=](Ex& ex, given const& x) {
                           auto y = room_for_numbers<T>({4 * pairs});
                           list_pointers<Ex, T>(ex, from.batch(), make_vec<index_t const>(members.data(), 3), {},
                                                in(x[0], pairs), out(y[0], 4, pairs));
                           return y;
                         }});
  f(operation_use<Ex, T>{"list_pointers_grad", {4 * pairs, pairs, pairs}, [=](Ex& ex, given const& x) {
                           auto y = room_for_numbers<T>({pairs});
                           with_scratch(ex, {}, [&]<class B>(B& on, call const& c) {
                             list_pointers_grad<B, T>(
                                 on, *c.scratch, from.batch(), make_vec<index_t const>(members.data(), 3), {},
                                 in(x[0], 4, pairs), in(x[1], pairs), in(x[2], pairs), out(y[0], pairs));
                           });
                           return y;
                         }});
  f(operation_use<Ex, T>{"list_penalty", {pairs, 1}, [=](Ex& ex, given const& x) {
                           auto y = room_for_numbers<T>({1, pairs});
                           std::vector<T> links = x[0];  // probabilities
                           for (auto& p : links) p = T(0.25) * (p + T(2));
                           with_scratch(ex, {}, [&]<class B>(B& on, call const& c) {
                             list_penalty<B, T>(on, *c.scratch, from.batch(),
                                                make_vec<index_t const>(members.data(), 3), in(links, pairs),
                                                in(x[1], 1), out(y[0], 1), out(y[1], pairs));
                           });
                           return y;
                         }});
  f(operation_use<Ex, T>{
      "mix_columns and back", {weights, cells * values, mixed * values}, [=](Ex& ex, given const& x) {
        auto y = room_for_numbers<T>({mixed * values, weights, cells * values});
        auto const begin = make_vec<index_t const>(mix_begin.data(), 3);
        mix_columns<Ex, T>(ex, from.batch(), to.batch(), begin, in(x[0], weights), in(x[1], cells, values),
                           out(y[0], mixed, values));
        mix_columns_grad<Ex, T>(ex, from.batch(), to.batch(), begin, in(x[0], weights), in(x[1], cells, values),
                                in(x[2], mixed, values), out(y[1], weights), out(y[2], cells, values));
        return y;
      }});
  static ragged_grids const nodes({{4, 3}, {2, 2}, {3, 2}}), slots({{1, 4}, {1, 2}, {2, 3}});
  static std::vector<index_t> const named{2, 1, 0}, token{1, 3, 0, 1, 0, 0, 0};
  index_t const anchored = slots.dims.cells, absent = slots.dims.rows, heads = nodes.dims.pairs,
                mixtures = nodes.dims.cells;
  f(operation_use<Ex, T>{
      "anchors and back", {anchored, absent, heads, mixtures, anchored, absent}, [=](Ex& ex, given const& x) {
        auto y = room_for_numbers<T>({anchored, absent, mixtures, anchored, absent, heads});
        anchor_grids const g{nodes.batch(), slots.batch(), make_vec<index_t const>(named.data(), 3),
                             make_vec<index_t const>(token.data(), nodes.dims.columns)};
        anchors<Ex, T>(ex, g, in(x[0], anchored), in(x[1], absent), in(x[2], heads), out(y[0], anchored),
                       out(y[1], absent), out(y[2], mixtures));
        anchors_grad<Ex, T>(ex, g, in(x[4], anchored), in(x[5], absent), in(x[2], heads), in(x[3], mixtures),
                            out(y[3], anchored), out(y[4], absent), out(y[5], heads));
        return y;
      }});
}

template <class Ex, class T, class F>
void each_tree_use(F&& f) {
  using given = numbers<T>;
  constexpr index_t batch = 2, step = 1, slots = 3, fillers = 5, branching = 2, arguments = 2 * branching;
  static tree_positions<> const where(branching, 3);
  index_t const tree = where.count() * fillers, memory = slots * batch * tree, weights = 2 * batch * 2 * arguments;
  f(operation_use<Ex, T>{"tree_shift", {weights, batch * fillers, memory}, [=](Ex& ex, given const& x) {
                           numbers<T> y{x[2]};
                           y[0].resize(static_cast<std::size_t>(memory));
                           tree_shift<Ex, T>(ex, where, {}, step,
                                             tree_weights_view<T const>(x[0].data(), 2, batch, 2, arguments),
                                             in(x[1], batch, fillers),
                                             tree_memory_view<T>(y[0].data(), slots, batch, where.count(), fillers));
                           return y;
                         }});
  f(operation_use<Ex, T>{
      "tree_shift_dots and back", {weights, memory, memory}, [=](Ex& ex, given const& x) {
        auto y = room_for_numbers<T>({weights, batch * fillers}, T(0));
        y.push_back(x[2]);
        y[2].resize(static_cast<std::size_t>(memory));
        auto const trees = [&](auto* data) {
          return tree_memory_view<std::remove_pointer_t<decltype(data)>>(data, slots, batch, where.count(), fillers);
        };
        with_scratch(ex, {}, [&](auto& on, call const& c) {
          using On = std::remove_cvref_t<decltype(on)>;
          tree_shift_dots<On, T>(on, *c.scratch, where, {}, step, trees(x[1].data()), trees(x[2].data()),
                                 tree_weights_view<T>(y[0].data(), 2, batch, 2, arguments), out(y[1], batch, fillers));
        });
        tree_shift_grad<Ex, T>(ex, where, {}, tree_weights_view<T const>(x[0].data(), 2, batch, 2, arguments), 1,
                               trees(y[2].data()));
        return y;
      }});
  for (auto const over : {choice_over::trees, choice_over::arguments}) {
    index_t const operations = batch * (branching + 1), row = 3 * arguments, all = 2 * batch * 3 * arguments;
    f(operation_use<Ex, T>{
        over == choice_over::trees ? "tree_choice over trees and back" : "tree_choice over arguments and back",
        {operations, batch * row, batch * fillers, operations, batch * row, all, batch * fillers},
        [=](Ex& ex, given const& x) {
          auto y = room_for_numbers<T>(
              {operations, all, all, batch * fillers, operations, batch * row, batch * fillers}, T(0));
          tree_choice_options<T> t;
          t.over = over, t.empty_tree = true, t.recency = 0.5, t.evenness = 0.1;
          t.operation_noise = in(x[3], batch, branching + 1);
          t.argument_noise = in(x[4], batch, row);
          auto const four = [&](auto* data) {
            return tree_weights_view<std::remove_pointer_t<decltype(data)>>(data, 2, batch, 3, arguments);
          };
          tree_choice<Ex, T>(
              ex, t, step, {in(x[0], batch, branching + 1), in(x[1], batch, row), in(x[2], batch, fillers)},
              {out(y[0], batch, branching + 1), four(y[1].data())}, four(y[2].data()), out(y[3], batch, fillers));
          tree_choice_grad<Ex, T>(ex, t, step, in(x[2], batch, fillers),
                                  {in(y[0], batch, branching + 1), four(static_cast<T const*>(y[1].data()))},
                                  four(x[5].data()), in(x[6], batch, fillers),
                                  {out(y[4], batch, branching + 1), out(y[5], batch, row), out(y[6], batch, fillers)});
          return y;
        }});
  }
}

}  // namespace detail

/// Calls f(operation_use) for each operation that computes numbers.
template <class Ex, class T, class F>
void each_operation(F&& f) {
  detail::each_rowwise_use<Ex, T>(f);
  detail::each_product_use<Ex, T>(f);
  detail::each_pair_use<Ex, T>(f);
  detail::each_grid_use<Ex, T>(f);
  detail::each_column_use<Ex, T>(f);
  detail::each_attention_use<Ex, T>(f);
  detail::each_triangle_use<Ex, T>(f);
  detail::each_tree_use<Ex, T>(f);
}

}  // namespace triad::test::operations
