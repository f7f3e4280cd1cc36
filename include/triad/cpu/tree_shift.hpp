// Soft tree operations with samples in parallel and lanes along the filler.  Each row of the memory is read once and
// added to all its targets.
// SPDX-License-Identifier: Apache-2.0
//
// The loops go over blocks of positions.  A block is the set of positions of one level that lie below the same child of
// the root.  The rows of a block are consecutive, and the rows of each target of the block are consecutive too.  A
// block has one target on the level above.  On the level below, it has b targets, where b is the number of children of
// a node.  Row i of a block is added to row i of each target.
#pragma once

#include <algorithm>
#include <concepts>

#include "triad/cpu/backend.hpp"
#include "triad/cpu/kernels/constant.hpp"
#include "triad/cpu/kernels/simd.hpp"
#include "triad/reference/tree_shift.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace shifts {

using simd::floats;
using simd::lanes;

/// The largest number of targets that one pass adds a row to.  Blocks of binary trees have at most three targets.
inline constexpr int most_targets = 3;

/// The positions [begin, begin + size) and their targets.  Target t begins at position to[t], and its weights are those
/// of argument number argument[t].
struct block {
  index_t begin, size;
  int targets;
  index_t argument[most_targets], to[most_targets];
};

/// Calls f(block) for all blocks, level by level.  For a block with more than three targets, calls f several times,
/// each time with up to three of the targets.
template <class F>
void each_block(tree_positions<> const& where, F&& f) {
  index_t const b = where.branching(), depth = where.depth();
  for (index_t level = 0; level < depth; ++level) {
    index_t const above = level > 0 ? where.level_size(level - 1) : 1, begin = where.level_begin(level);
    for (index_t a = 0; a < (level > 0 ? b : 1); ++a) {
      block part{begin + a * above, above, 0, {}, {}};
      auto const add = [&](index_t argument, index_t to) {
        if (part.targets == most_targets) {
          f(part);
          part.targets = 0;
        }
        part.argument[part.targets] = argument;
        part.to[part.targets++] = to;
      };
      if (level > 0) add(a, where.level_begin(level - 1));
      for (index_t c = 0; c < b && level + 1 < depth; ++c)
        add(b + c, where.level_begin(level + 1) + c * where.level_size(level) + a * above);
      if (part.targets > 0) f(part);
    }
  }
}

/// The slots whose trees may have a filler at a position.  These are slot 0, if `first` is 1, and the slots
/// [since, end).
struct slots {
  index_t first, since, end;
  slots(tree_support const& support, index_t position, index_t count)
      : first(support.has(0, position) ? 1 : 0),
        since(support.empty() ? 1 : std::clamp<index_t>(support.since(position), 1, std::max<index_t>(count, 1))),
        end(count) {}
  bool empty() const { return first == 0 && since >= end; }
  /// Calls f(slot) for each of these slots.
  template <class F>
  [[gnu::always_inline]] void each(F&& f) const {
    if (first != 0) f(index_t{0});
    for (index_t l = since; l < end; ++l) f(l);
  }
};

/// Adds to each y_t the sum over the slots l of w(l, argument t) m_l, in V vectors.  The last vector has the lanes of
/// `last`.
template <int Targets, int V>
[[gnu::always_inline]] inline void blend_columns(slots const& which, float const* m, index_t stride, float const* w,
                                                 index_t arguments, block const& at, simd::tail last, float* const* y) {
  floats sum[std::size_t{Targets}][std::size_t{V}] = {};
  which.each([&](index_t l) __attribute__((always_inline)) {
    floats v[std::size_t{V}];
#pragma GCC unroll 4
    for (int i = 0; i < V; ++i)
      v[i] = i < V - 1 ? simd::load(m + l * stride + i * lanes) : last.load(m + l * stride + i * lanes);
#pragma GCC unroll 4
    for (int t = 0; t < Targets; ++t) {
      floats const weight = simd::broadcast(w[l * arguments + at.argument[t]]);
#pragma GCC unroll 4
      for (int i = 0; i < V; ++i) sum[t][i] = sum[t][i] + weight * v[i];
    }
  });
#pragma GCC unroll 4
  for (int t = 0; t < Targets; ++t)
#pragma GCC unroll 4
    for (int i = 0; i < V; ++i) {
      float* const out = y[t] + i * lanes;
      if (i < V - 1) {
        simd::store(out, simd::load(out) + sum[t][i]);
      } else {
        last.store(out, last.load(out) + sum[t][i]);
      }
    }
}

/// Computes the weighted sums over the slots for one row of `fillers` numbers, and adds the sums to the targets of the
/// row in y.
template <int Targets>
void blend_row(slots const& which, float const* m, index_t stride, float const* w, index_t arguments, block const& at,
               index_t offset, index_t fillers, float* y) {
  float* to[std::size_t{Targets}];
  for (int t = 0; t < Targets; ++t) to[t] = y + (at.to[t] + offset) * fillers;
  auto const on = [&](index_t count) {
    m += count;
    for (int t = 0; t < Targets; ++t) to[t] += count;
  };
  index_t left = fillers;
  for (; left > 4 * lanes; left -= 4 * lanes, on(4 * lanes))
    blend_columns<Targets, 4>(which, m, stride, w, arguments, at, simd::tail(lanes), to);
  for (; left > 2 * lanes; left -= 2 * lanes, on(2 * lanes))
    blend_columns<Targets, 2>(which, m, stride, w, arguments, at, simd::tail(lanes), to);
  for (; left > lanes; left -= lanes, on(lanes))
    blend_columns<Targets, 1>(which, m, stride, w, arguments, at, simd::tail(lanes), to);
  if (left > 0) blend_columns<Targets, 1>(which, m, stride, w, arguments, at, simd::tail(left), to);
}

/// The number of slots that are multiplied with one row of dy at a time.  The sums of these slots stay in registers.
inline constexpr int slots_at_once = 4;

/// Adds to sums[l][t] the dot product of m_l and dy_t over `numbers` numbers, for Count consecutive slots.  The lanes
/// of the sums are not added up.  Rows outside of the support of a slot are zero.
template <int Targets, int Count>
void dot_rows(float const* m, index_t stride, float const* const* dy, index_t numbers, floats (*sums)[most_targets]) {
  floats sum[std::size_t{Count}][std::size_t{Targets}];
  for (int l = 0; l < Count; ++l)
    for (int t = 0; t < Targets; ++t) sum[l][t] = sums[l][t];
  simd::each_vector(numbers, [&](index_t c, auto part) __attribute__((always_inline)) {
    floats d[std::size_t{Targets}];
#pragma GCC unroll 4
    for (int t = 0; t < Targets; ++t) d[t] = part.load(dy[t] + c);
#pragma GCC unroll 4
    for (int l = 0; l < Count; ++l) {
      floats const v = part.load(m + l * stride + c);
#pragma GCC unroll 4
      for (int t = 0; t < Targets; ++t) sum[l][t] = sum[l][t] + v * d[t];
    }
  });
  for (int l = 0; l < Count; ++l)
    for (int t = 0; t < Targets; ++t) sums[l][t] = sum[l][t];
}

inline float total(floats v) {
  float s = 0;
  for (int i = 0; i < lanes; ++i) s += v[i];
  return s;
}

/// Computes the sum over the steps k < Steps and the targets t of w(k, argument t) y_k,t, for `numbers` consecutive
/// numbers.  If `add` is true, adds this sum to d, else sets d to this sum.
template <int Targets, int Steps>
void gather_rows_back(float const* const* y, index_t stride, float const* const* w, block const& at, index_t numbers,
                      float* d, bool add) {
  floats weight[std::size_t{Steps}][std::size_t{Targets}];
  for (int k = 0; k < Steps; ++k)
    for (int t = 0; t < Targets; ++t) weight[k][t] = simd::broadcast(w[k][at.argument[t]]);
  simd::each_vector(numbers, [&](index_t c, auto part) __attribute__((always_inline)) {
    floats sum = add ? part.load(d + c) : floats{};
#pragma GCC unroll 4
    for (int k = 0; k < Steps; ++k)
#pragma GCC unroll 4
      for (int t = 0; t < Targets; ++t) sum = sum + weight[k][t] * part.load(y[t] + k * stride + c);
    part.store(d + c, sum);
  });
}

/// Calls f(first, count) for each run of consecutive positions of a block for which has(position) is true.
template <class Has, class F>
void each_run(block const& at, Has&& has, F&& f) {
  for (index_t q = at.begin, end = at.begin + at.size; q < end;) {
    index_t const first = q;
    while (q < end && has(q)) ++q;
    if (q > first) f(first, q - first);
    while (q < end && !has(q)) ++q;
  }
}

}  // namespace shifts

template <std::same_as<float> T>
void do_tree_shift(backend& ex, tree_positions<> const& where, tree_support const& support, index_t step,
                   tree_weights_view<T const> w, matrix<T const> root, tree_memory_view<T> memory) {
  if (root.stride(1) != 1) return reference::do_tree_shift(ex, where, support, step, w, root, memory);
  index_t const arguments = w.extent(3), fillers = memory.extent(3), tree = where.count() * fillers,
                stride = memory.extent(1) * tree;
  auto const to = tree_slot(memory, step + 1);
  parallel_for(ex, memory.extent(1), [&](index_t b, int) {
    float* const y = &to(b, 0, 0);
    std::fill_n(y, tree, 0.0f);
    std::copy_n(&root(b, 0), fillers, y);
    float const* const m = memory.data_handle() + b * tree;
    shifts::each_block(where, [&](shifts::block const& at) {
      with_constant<shifts::most_targets>(at.targets, [&](auto targets) {
        for (index_t offset = 0; offset < at.size; ++offset) {
          index_t const q = at.begin + offset;
          if (shifts::slots const which(support, q, step + 1); !which.empty())
            shifts::blend_row<decltype(targets)::value>(which, m + q * fillers, stride, &w(step, b, 0, 0), arguments,
                                                        at, offset, fillers, y);
        }
      });
    });
  });
}

template <std::same_as<float> T>
void do_tree_shift_dots(backend& ex, tree_positions<> const& where, tree_support const& support, index_t step,
                        tree_memory_view<T const> memory, tree_memory_view<T const> d_memory, tree_weights_view<T> dw,
                        matrix<T> d_root, workspace ws) {
  constexpr int together = shifts::slots_at_once, most_arguments = 16;
  if (dw.extent(3) > most_arguments || d_root.stride(1) != 1)
    return reference::do_tree_shift_dots(ex, where, support, step, memory, d_memory, dw, d_root, ws);
  index_t const slots = step + 1, fillers = memory.extent(3), tree = where.count() * fillers,
                stride = memory.extent(1) * tree;
  index_t const groups = (slots + together - 1) / together;
  auto const dy = tree_slot(d_memory, step + 1);
  parallel_for(ex, memory.extent(1) * groups, [&](index_t task, int) {
    index_t const b = task / groups, first = task % groups * together,
                  count = std::min<index_t>(together, slots - first);
    float const* const d = &dy(b, 0, 0);
    if (first == 0) std::copy_n(d, fillers, &d_root(b, 0));
    simd::floats sums[together][most_arguments] = {};
    float const* const m = memory.data_handle() + first * stride + b * tree;
    auto const has = [&](index_t q) { return support.has(first, q) || support.has(first + count - 1, q); };
    shifts::each_block(where, [&](shifts::block const& at) {
      with_constant<shifts::most_targets>(at.targets, [&](auto targets) {
        constexpr int Targets = decltype(targets)::value;
        simd::floats part[together][shifts::most_targets] = {};
        shifts::each_run(at, has, [&](index_t q, index_t rows) {
          float const* from[std::size_t{Targets}];
          for (int t = 0; t < Targets; ++t) from[t] = d + (at.to[t] + q - at.begin) * fillers;
          with_constant<together>(count, [&](auto some) {
            shifts::dot_rows<Targets, decltype(some)::value>(m + q * fillers, stride, from, rows * fillers, part);
          });
        });
        for (index_t l = 0; l < count; ++l)
          for (int t = 0; t < Targets; ++t) sums[l][at.argument[t]] = sums[l][at.argument[t]] + part[l][t];
      });
    });
    for (index_t l = 0; l < count; ++l)
      for (index_t c = 0; c < dw.extent(3); ++c) dw(step, b, first + l, c) = shifts::total(sums[l][c]);
  });
}

template <std::same_as<float> T>
void do_tree_shift_grad(backend& ex, tree_positions<> const& where, tree_support const& support,
                        tree_weights_view<T const> w, index_t slot, tree_memory_view<T> d_memory) {
  // The number of steps whose trees one pass reads.  The trees of four steps stay in the last-level cache.
  constexpr index_t together = 4;
  index_t const steps = w.extent(0), fillers = d_memory.extent(3), tree = where.count() * fillers,
                stride = d_memory.extent(1) * tree;
  parallel_for(ex, d_memory.extent(1), [&](index_t b, int) {
    float* const d = &d_memory(slot, b, 0, 0);
    auto const has = [&](index_t q) { return support.has(slot, q); };
    if (steps <= slot || where.depth() == 1) {  // no step reads this slot, or trees have only one level
      std::fill_n(d, tree, 0.0f);
      return;
    }
    for (index_t k = slot; k < steps; k += together) {
      index_t const count = std::min(together, steps - k);
      float const* weights[together];
      for (index_t i = 0; i < count; ++i) weights[i] = &w(k + i, b, slot, 0);
      float const* const y = d_memory.data_handle() + (k + 1) * stride + b * tree;
      // The first position of the previous block.  If a block has many targets, each_block() makes several successive
      // calls for it.  From the second call on, the sums are added to d.
      index_t done = -1;
      shifts::each_block(where, [&](shifts::block const& at) {
        bool const add = k > slot || at.begin == done;
        done = at.begin;
        with_constant<shifts::most_targets>(at.targets, [&](auto targets) {
          constexpr int Targets = decltype(targets)::value;
          shifts::each_run(at, has, [&](index_t q, index_t rows) {
            float const* from[std::size_t{Targets}];
            for (int t = 0; t < Targets; ++t) from[t] = y + (at.to[t] + q - at.begin) * fillers;
            with_constant<together>(count, [&](auto some) {
              shifts::gather_rows_back<Targets, decltype(some)::value>(from, stride, weights, at, rows * fillers,
                                                                       d + q * fillers, add);
            });
          });
        });
      });
    }
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
