// Small calls of all kinds of attention and of their gradients.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/backends.hpp"
#include "tests/ops/operation_use.hpp"
#include "tests/ragged.hpp"
#include "triad/ops/attention.hpp"
#include "triad/ops/fuse_attention.hpp"
#include "triad/ops/graph_attention.hpp"
#include "triad/ops/projected_triangle.hpp"
#include "triad/ops/relation_attention.hpp"
#include "triad/ops/triangle.hpp"
#include "triad/ops/triangle_step.hpp"

namespace triad::test::operations {

namespace detail {

template <class Ex, class T, class F>
void each_attention_use(F&& f) {
  using given = numbers<T>;
  static ragged const graphs({3, 1, 5});
  static std::uint64_t const step = 3;
  constexpr index_t heads = 2, d = 10;
  index_t const nodes = graphs.dims.nodes, rows = graphs.dims.rows;
  static std::vector<std::uint8_t> const masked = [] {
    std::vector<std::uint8_t> some(static_cast<std::size_t>(graphs.dims.rows), 0);
    for (std::size_t r = 0; r < some.size(); r += 4) some[r] = 1;
    return some;
  }();
  static std::vector<index_t> const label = [] {
    std::vector<index_t> some(static_cast<std::size_t>(graphs.dims.rows), 0);
    for (std::size_t r = 0; r < some.size(); r += 3) some[r] = 1;
    return some;
  }();
  for (int kind = 0; kind < 4; ++kind) {  // bits of kind: masked, dropout
    std::string const how = std::string(kind & 1 ? ", masked" : "") + (kind & 2 ? ", with dropout" : "");
    dropout_mask const drop = kind & 2 ? dropout_mask{0.3, 1, 2, &step} : dropout_mask{};
    for (bool const causal : {false, true})
      for (index_t const reach : {0, 2}) {
        index_t const offsets = relative_offsets(reach), of_offsets = reach > 0 ? offsets * d / heads : 0;
        f(operation_use<Ex, T>{
            "attention and back" + how + (causal ? ", causal" : "") + (reach > 0 ? ", relative" : ""),
            {nodes * d, nodes * d, nodes * d, nodes * d, of_offsets, of_offsets},
            [=](Ex& ex, given const& x) {
              index_t const lse = heads * nodes;
              auto y =
                  room_for_numbers<T>({lse, nodes * d, nodes * d, nodes * d, nodes * d, of_offsets, of_offsets}, T(0));
              attention_options t{.heads = heads, .causal = causal, .dropout = drop, .reach = reach};
              if (kind & 1) t.masked = make_vec<std::uint8_t const>(masked.data(), nodes);
              attention_sequences const s{nodes_of(graphs.batch()), nodes_of(graphs.batch())};
              auto const part = [&](std::size_t i) { return in(x[i], nodes, d); };
              attention_operands<T const> const operands{part(0), part(1), part(2)};
              attention_operands<T> const dx{out(y[2], nodes, d), out(y[3], nodes, d), out(y[4], nodes, d)};
              std::vector<T> bias(static_cast<std::size_t>(nodes * heads * offsets)), by_offset(bias);
              relative_memory<T> const memory{out(bias, nodes, heads * offsets),
                                              out(by_offset, nodes, heads * offsets)};
              with_scratch(ex, {}, [&](auto& on, call const& c) {
                if (reach > 0) {
                  relative_tables<T const> const tables{in(x[4], offsets, d / heads), in(x[5], offsets, d / heads)};
                  attention(on, *c.scratch, t, s, operands, tables, memory, out(y[0], lse), out(y[1], nodes, d));
                  attention_grad(on, *c.scratch, t, s, operands, tables, memory, in(y[0], lse), in(y[1], nodes, d),
                                 part(3), dx,
                                 relative_tables<T>{out(y[5], offsets, d / heads), out(y[6], offsets, d / heads)});
                } else {
                  attention(on, *c.scratch, t, s, operands, out(y[0], lse), out(y[1], nodes, d));
                  attention_grad(on, *c.scratch, t, s, operands, in(y[0], lse), in(y[1], nodes, d), part(3), dx);
                }
              });
              return y;
            }});
      }
    f(operation_use<Ex, T>{
        "relation_attention and back" + how,
        {nodes * d, nodes * d, nodes * d, rows * d, rows * d, nodes * d},
        [=](Ex& ex, given const& x) {
          auto y =
              room_for_numbers<T>({heads * rows, nodes * d, nodes * d, nodes * d, nodes * d, rows * d, rows * d}, T(0));
          relation_attention_options t{.heads = heads, .dropout = drop};
          if (kind & 1) t.mask.masked = make_vec<std::uint8_t const>(masked.data(), rows);
          relation_operands<T const> const operands{in(x[0], nodes, d), in(x[1], nodes, d), in(x[2], nodes, d),
                                                    in(x[3], rows, d), in(x[4], rows, d)};
          relation_attention(ex, t, operands, graphs.batch(), out(y[0], heads * rows), out(y[1], nodes, d));
          relation_attention_grad(ex, t, operands, graphs.batch(), in(y[0], heads * rows), in(y[1], nodes, d),
                                  in(x[5], nodes, d),
                                  relation_operands<T>{out(y[2], nodes, d), out(y[3], nodes, d), out(y[4], nodes, d),
                                                       out(y[5], rows, d), out(y[6], rows, d)});
          return y;
        }});
    if (kind & 1) continue;
    f(operation_use<Ex, T>{
        "graph_attention and back" + how,
        {nodes * heads, nodes * heads, rows * heads, nodes * d, rows * d, nodes * d},
        [=](Ex& ex, given const& x) {
          auto y = room_for_numbers<T>(
              {heads * rows, nodes * d, nodes * heads, nodes * heads, rows * heads, nodes * d, rows * d}, T(0));
          graph_attention_options const t{.heads = heads, .dropout = drop};
          auto const labels = make_vec<index_t const>(label.data(), rows);
          graph_attention_operands<T const> const operands{in(x[0], nodes, heads), in(x[1], nodes, heads),
                                                           in(x[2], rows, heads), in(x[3], nodes, d),
                                                           in(x[4], rows, d)};
          graph_attention(ex, t, operands, graphs.batch(), labels, out(y[0], heads * rows), out(y[1], nodes, d));
          graph_attention_grad(
              ex, t, operands, graphs.batch(), labels, in(y[0], heads * rows), in(y[1], nodes, d), in(x[5], nodes, d),
              graph_attention_operands<T>{out(y[2], nodes, heads), out(y[3], nodes, heads), out(y[4], rows, heads),
                                          out(y[5], nodes, d), out(y[6], rows, d)});
          return y;
        }});
    constexpr index_t layers = 3, tokens = 4;
    f(operation_use<Ex, T>{
        "fuse_attention and back" + how,
        {tokens * heads * d, layers * tokens * d, tokens * heads * d, tokens * heads},
        [=](Ex& ex, given const& x) {
          auto y = room_for_numbers<T>(
              {tokens * heads * layers, tokens * heads * d, tokens * heads, tokens * heads * d, layers * tokens * d},
              T(0));
          fuse_attention_options const t{.heads = heads, .dropout = drop};
          auto const read = [&](auto const& v, index_t width) { return table_in<T>(v.data(), tokens, width); };
          auto const write = [&](auto& v, index_t width) { return table_out<T>(v.data(), tokens, width); };
          layer_states<T const> const states(x[1].data(), layers, tokens, d);
          fuse_attention<Ex, T>(ex, t, layers, read(x[0], heads * d), states, write(y[0], heads * layers),
                                write(y[1], heads * d), write(y[2], heads));
          fuse_attention_grad<Ex, T>(ex, t, layers, read(x[0], heads * d), states, read(y[0], heads * layers),
                                     read(x[2], heads * d), read(x[3], heads), write(y[3], heads * d),
                                     layer_states<T>(y[4].data(), layers, tokens, d));
          return y;
        }});
  }
}

template <class Ex, class T, class F>
void each_triangle_use(F&& f) {
  using given = numbers<T>;
  static std::uint64_t const step = 3;
  constexpr index_t heads = 2, d = 10;
  static ragged const small({3, 1, 5}), tiled({2, 22});  // one for each path of the kernels
  auto const forms = {triangle_form::full, triangle_form::value_ablation, triangle_form::attention_ablation,
                      triangle_form::both_ablations, triangle_form::flat};
  for (ragged const* graphs : {&small, &tiled})
    for (auto const form : forms)
      for (int kind = 0; kind < 16; ++kind) {  // bits of kind: masked, dropout, causal, with a bias
        bool const causal = (kind & 4) != 0, biased = (kind & 8) != 0;
        if ((causal || biased) && form == triangle_form::flat) continue;
        if (biased && kind != 8 && kind != 15) continue;
        if (graphs == &tiled && is_device<Ex>) continue;  // the stand-in for a GPU would take minutes
        if (graphs == &tiled && kind != 0 && kind != 7 && kind != 15 && !(form == triangle_form::flat && kind == 3))
          continue;
        index_t const rows = graphs->dims.rows, of_bias = biased ? heads * graphs->dims.triangles : 0;
        f(operation_use<Ex, T>{
            "triangle, form " + std::to_string(static_cast<int>(form)) + (kind & 1 ? ", masked" : "") +
                (kind & 2 ? ", with dropout" : "") + (causal ? ", causal" : "") + (biased ? ", with a bias" : "") +
                (graphs == &tiled ? ", in tiles" : ""),
            {rows * d, rows * d, rows * d, rows * d, rows * d, of_bias},
            [=](Ex& ex, given const& x) {
              auto y = room_for_numbers<T>(
                  {rows * heads, rows * heads, rows * d, rows * d, rows * d, rows * d, rows * d, of_bias}, T(0));
              for (auto& v : y) v.resize(v.size() + 64);
              std::vector<std::uint8_t> masked(static_cast<std::size_t>(graphs->dims.triangles), 0);
              for (std::size_t i = 0; i < masked.size(); i += 3) masked[i] = 1;
              std::vector<index_t> const sources{2, 1, 3};
              triangle_options t{.form = form, .heads = heads};
              if (kind & 1) t.mask.masked = make_vec<std::uint8_t const>(masked.data(), graphs->dims.triangles);
              if (kind & 2) t.dropout = {0.3, 1, 2, &step};
              if (causal) t.sources = make_vec<index_t const>(sources.data(), graphs->dims.graphs);
              auto const read = [&](auto const& v) { return in(v, rows, d); };
              auto const write = [&](auto& v) { return out(v, rows, d); };
              bool const right = uses_right_value(form);
              triangle_projections<T const> const operands{read(x[0]),
                                                           read(x[1]),
                                                           read(x[2]),
                                                           right ? read(x[3]) : no_matrix<T const>(),
                                                           {make_vec<T const>(x[5].data(), of_bias)}};
              triangle_projections<T> const dx{write(y[3]),
                                               write(y[4]),
                                               write(y[5]),
                                               right ? write(y[6]) : no_matrix<T>(),
                                               {make_vec(y[7].data(), of_bias)}};
              with_scratch(ex, {}, [&](auto& on, call const& c) {
                using B = std::remove_reference_t<decltype(on)>;
                triangle<B, T>(on, *c.scratch, t, operands, graphs->batch(),
                               {out(y[0], rows, heads), out(y[1], rows, heads)}, write(y[2]));
                triangle_grad<B, T>(on, *c.scratch, t, operands, graphs->batch(),
                                    {in(y[0], rows, heads), in(y[1], rows, heads)}, read(y[2]), read(x[4]), dx);
              });
              return y;
            }});
        if (graphs == &small && (kind == 0 || kind == 3)) {
          constexpr index_t columns = 6;
          index_t const p = (uses_right_value(form) ? 4 : 3) * d;
          f(operation_use<Ex, T>{
              "projected_triangle, form " + std::to_string(static_cast<int>(form)) + (kind & 1 ? ", disturbed" : ""),
              {rows * columns, p * columns, p, rows * d},
              [=](Ex& ex, given const& x) {
                auto y = room_for_numbers<T>(
                    {rows * p, rows * heads, rows * heads, rows * d, rows * columns, p * columns, p}, T(0));
                for (auto& v : y) v.resize(v.size() + 64);
                std::vector<std::uint8_t> masked(static_cast<std::size_t>(graphs->dims.triangles), 0);
                for (std::size_t i = 0; i < masked.size(); i += 3) masked[i] = 1;
                triangle_options t{.form = form, .heads = heads};
                if (kind & 1) t.mask.masked = make_vec<std::uint8_t const>(masked.data(), graphs->dims.triangles);
                if (kind & 2) t.dropout = {0.3, 1, 2, &step};
                projected_triangle_operands<T> operands{table_in<T>(x[0].data(), rows, columns), in(x[1], p, columns),
                                                        in(x[2], p)};
                if (kind & 1) operands.projected = table_out<T>(y[0].data(), rows, p);  // else it is not kept
                with_scratch(ex, {}, [&](auto& on, call const& c) {
                  using B = std::remove_reference_t<decltype(on)>;
                  projected_triangle<B, T>(on, *c.scratch, t, operands, graphs->batch(),
                                           {out(y[1], rows, heads), out(y[2], rows, heads)}, out(y[3], rows, d));
                  projected_triangle_grad<B, T>(on, *c.scratch, t, operands, graphs->batch(),
                                                {in(y[1], rows, heads), in(y[2], rows, heads)}, in(y[3], rows, d),
                                                in(x[3], rows, d),
                                                projected_triangle_gradients<T>{
                                                    out(y[4], rows, columns), out(y[5], p, columns), out(y[6], p), {}});
                });
                return y;
              }});
        }
        if (graphs == &tiled || kind > 1) continue;
        f(operation_use<Ex, T>{
            "triangle_weights, form " + std::to_string(static_cast<int>(form)) + (kind & 1 ? ", masked" : ""),
            {rows * d, rows * d},
            [=](Ex& ex, given const& x) {
              auto y = room_for_numbers<T>({heads * 10}, T(0));
              std::vector<std::uint8_t> masked(static_cast<std::size_t>(graphs->dims.triangles), 0);
              for (std::size_t i = 0; i < masked.size(); i += 3) masked[i] = 1;
              triangle_options t{.form = form, .heads = heads};
              if (kind & 1) t.mask.masked = make_vec<std::uint8_t const>(masked.data(), graphs->dims.triangles);
              auto const read = [&](auto const& v) { return in(v, rows, d); };
              triangle_projections<T const> const operands{read(x[0]), read(x[1]), read(x[1]),
                                                           uses_right_value(form) ? read(x[1]) : no_matrix<T const>()};
              triangle_weights<Ex, T>(ex, t, operands, graphs->batch(), 2, 1, 3, out(y[0], heads, 10));
              return y;
            }});
        if (kind != 0 || form == triangle_form::flat) continue;
        for (auto const wanted : {shell_edges::all, shell_edges::diagonal, shell_edges::first}) {
          index_t const beam = 2, newest = 1, slots = beam * graphs->dims.graphs;
          edge_shells at{graphs->batch(), beam, newest, {}};
          index_t const cached = at.first_row(newest + 1);
          f(operation_use<Ex, T>{"triangle_step, form " + std::to_string(static_cast<int>(form)),
                                 {cached * d, cached * d, cached * d, cached * d},
                                 [=](Ex& ex, given const& x) {
                                   auto shells = at;
                                   std::vector<index_t> const owner{0, 0, 0, 1, 2, 2, 3, 3, 5, 4, 4, 5};  // (slots, 2)
                                   shells.owner = tensor<index_t const, dyn, dyn>(owner.data(), slots, newest + 1);
                                   auto y = room_for_numbers<T>({shells.count(wanted) * d});
                                   auto const read = [&](auto const& v) { return in(v, cached, d); };
                                   with_scratch(ex, {}, [&](auto& on, call const& c) {
                                     triangle_step<std::remove_reference_t<decltype(on)>, T>(
                                         on, *c.scratch, form, heads,
                                         {read(x[0]), read(x[1]), read(x[2]),
                                          uses_right_value(form) ? read(x[3]) : no_matrix<T const>()},
                                         shells, wanted, out(y[0], shells.count(wanted), d));
                                   });
                                   return y;
                                 }});
        }
      }
}

}  // namespace detail

}  // namespace triad::test::operations
