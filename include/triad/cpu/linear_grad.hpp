// The gradients of an affine map.  If an engine computes products and there are many rows, each row of dy and x is read,
// dropped and rounded only once.
// SPDX-License-Identifier: Apache-2.0
//
// The rows are cut into pieces, which the threads share, and a piece into blocks that stay in the cache.  For a block,
// a thread computes rows of dx, and adds to sums of dw and db that belong to the piece.  Then the sums of the pieces
// are added in order.  All cuts depend on the shape and the precision alone, so results have the same bits with any
// number of threads.
#pragma once

#include <algorithm>
#include <concepts>

#include "triad/cpu/dropout.hpp"
#include "triad/cpu/matmul.hpp"
#include "triad/cpu/products/blocks.hpp"
#include "triad/cpu/reduce.hpp"
#include "triad/ops/linear_grad.hpp"
#include "triad/reference/linear_grad.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace detail {

/// The smallest number of rows that linear_grad_by_blocks() computes.
inline constexpr index_t least_rows_of_blocks = 2048;

/// Whether linear_grad_by_blocks() computes the gradients.  Maps of small extents are left to matrix products.
inline bool by_blocks(backend const& ex, linear_grad_operands<float> const& o) {
  index_t const rows = o.dy.extent(0), out = o.dy.extent(1), in = o.in();
  auto const by_rows = [](auto m) { return m.extent(0) == 0 || m.stride(1) == 1; };
  auto const* const dx = o.dx.data_handle();
  // Views have no memory yet while memory is planned.
  bool const separate = dx == nullptr || (dx != o.x.data_handle() && dx != o.after.residual.data_handle());
  bool const kept = o.rounded_x.extent(0) != 0 || o.rounded_gate.extent(0) != 0;
  if (kept && ex.arithmetic != arithmetic::bf16) return false;
  return ex.engine != nullptr && rows >= least_rows_of_blocks && std::min(out, in) >= ex.least_rounded && separate &&
         by_rows(o.dy) && by_rows(o.x) && by_rows(o.w) && by_rows(o.dw) && by_rows(o.dx) && by_rows(o.after.gate) &&
         by_rows(o.after.residual) && by_rows(o.rounded_x) && by_rows(o.rounded_gate);
}

/// A template, so that the target triad::kernels compiles it once.
template <std::same_as<float> T>
void linear_grad_by_blocks(backend& ex, linear_grad_operands<T> const& o) {
  auto const& engine = *ex.engine;
  auto const limits = engine.limits(ex.arithmetic);
  // The columns of dy are rows of dy' x and terms of dy w, and the rows of dy are terms of dy' x and rows of dy w.  So
  // both numbers are padded to both steps: dy has columns and rows of zeros, and w has rows of zeros.
  index_t const step = std::max(limits.row_step, limits.inner_step), rows = o.dy.extent(0), out = o.dy.extent(1),
                in = o.in(), wide = rounded_up(out, step), sums_size = wide * in + out;
  bool const has_dx = o.dx.extent(0) != 0, has_db = o.db.extent(0) != 0;
  auto const factor = [](matrix<float const> m) {
    return stored_factor{m.data_handle(), factor_form::rows, m.stride(0)};
  };
  engine_task const task{.engine = engine,
                         .factors = ex.arithmetic,
                         .m = rows,
                         .n = in,
                         .k = wide,
                         .a = factor(o.dy),
                         .b = has_dx ? with_zeros(factor(o.w), out, wide, in, scratch_use::widened) : stored_factor{},
                         .c = o.dx.data_handle(),
                         .ldc = has_dx ? o.dx.stride(0) : in,
                         .add = false,
                         .limits = limits};
  task.expect_limits();
  stored_factor const x = o.rounded_x.extent(0) != 0 ? stored_factor{nullptr, factor_form::rows, o.rounded_x.stride(0),
                                                                     o.rounded_x.data_handle()}
                                                     : factor(o.x);

  inner_pieces const parts(task);                                            // of the columns of dy
  constexpr index_t cached = index_t{3} << 15;                               // numbers of dy and x in a block
  index_t const most_rows = std::min<index_t>(512, limits.inner / 64 * 64);  // a block is the inner extent of dy' x
  index_t const block =
      std::min(most_rows, std::max<index_t>(64, cached * (task.rounds() ? 2 : 1) / (out + in) / 32 * 32));
  index_t const most_pieces = std::clamp<index_t>((index_t{8} << 20) / sums_size, 1, 8);
  index_t const length = rounded_up((rows + most_pieces - 1) / most_pieces, block);
  index_t const pieces = (rows + length - 1) / length;

  auto const packed = room_for_pieces(task, parts, pieces * sums_size);  // w, and the sums after it
  auto* const sums = reinterpret_cast<float*>(packed.data + packed.bytes * static_cast<std::size_t>(parts.count));
  if (has_dx) pack_pieces(ex, task, parts, packed);

  keep_source const keeps(o.dropout);
  parallel_for(ex, pieces, [&](index_t piece, int) {
    float* const dw = sums + piece * sums_size;
    float* const db = dw + wide * in;
    std::fill_n(db, out, 0.0f);
    index_t const begin = piece * length, end = std::min(rows, begin + length);
    for (index_t row = begin; row < end; row += block) {
      index_t const count = std::min(block, end - row), made = rounded_up(count, step);
      auto dy = task.a.at(row, 0);
      if (o.dropout.active()) {
        auto* const dropped = product_scratch_of<float>(scratch_use::dropped, count * out);
        for (index_t r = 0; r < count; ++r)
          drop_row(keeps, static_cast<float>(o.dropout.scale()), row + r, out, &o.dy(row + r, 0), dropped + r * out);
        dy = {dropped, factor_form::rows, out};
      }
      if (has_db)
        for (index_t r = 0; r < count; ++r) {
          float const* const y = dy.data + r * dy.leading;
#pragma omp simd
          for (index_t i = 0; i < out; ++i) db[i] += y[i];
        }
      auto const right = read_factor(task, x, row, count, 0, in, made, in, scratch_use::right_block);
      bool const direct = has_dx && made == count && task.ldc == in;
      float* const dx = !has_dx  ? nullptr
                        : direct ? task.c + row * task.ldc
                                 : product_scratch_of<float>(scratch_use::sums, made * in);
      for (index_t part = 0; part < parts.count; ++part) {
        index_t const first = parts.first(part), k = parts.size(part);
        auto const left =
            read_factor(task, dy, 0, count, first, std::min(k, out - first), made, k, scratch_use::left_block);
        // The rows of dy are the columns of dy'.
        engine.multiply({k, in, made, ex.arithmetic, factor_form::columns, factor_form::rows, row > begin}, left.data,
                        right.data, dw + first * in);
        if (has_dx)
          engine.multiply({made, in, k, ex.arithmetic, factor_form::rows, factor_form::packed, part > 0}, left.data,
                          packed[part], dx);
      }
      if (!has_dx) continue;
      if (!direct) put_rows(dx, in, count, task.c + row * task.ldc, task.ldc, false);
      if (!o.after.empty() || o.rounded_gate.extent(0) != 0)
        finish_block(o.after, &o.dx(row, 0), task.ldc, row, count, 0, in, o.rounded_gate);
    }
  });

  parallel_rows(ex, out, 16, [&](index_t row, index_t count, int) {
    for (index_t piece = 0; piece < pieces; ++piece)
      put_rows(sums + piece * sums_size + row * in, in, count, &o.dw(row, 0), o.dw.stride(0), true);
  });
  without_denormals const here;  // as in the tasks
  if (has_db)
    for (index_t piece = 0; piece < pieces; ++piece) {
      float const* const db = sums + piece * sums_size + wide * in;
      for (index_t i = 0; i < out; ++i) o.db(i) += db[i];
    }
}

/// Returns operands without bfloat16.  Copies in floats are valid until the calling thread asks for the next copies.
inline linear_grad_operands<float> in_floats(backend& ex, linear_grad_operands<float> o) {
  auto const copy = [&](matrix<bfloat16 const> from, scratch_use use) {
    index_t const rows = from.extent(0), columns = from.extent(1);
    auto* const to = product_scratch_of<float>(use, rows * columns);
    parallel_rows(ex, rows, 64, [&](index_t row, index_t count, int) {
      for (index_t r = row; r < row + count; ++r) widen(&from(r, 0), columns, to + r * columns);
    });
    return make_matrix<float const>(to, rows, columns, columns);
  };
  bool const same = o.rounded_gate.data_handle() == o.rounded_x.data_handle();
  if (o.rounded_x.extent(0) != 0) o.x = copy(o.rounded_x, scratch_use::widened);
  if (o.rounded_gate.extent(0) != 0) o.after.gate = same ? o.x : copy(o.rounded_gate, scratch_use::result);
  o.rounded_x = o.rounded_gate = no_matrix<bfloat16 const>();
  return o;
}

#if defined(TRIAD_KERNELS)
TRIAD_KERNELS template void linear_grad_by_blocks<float>(backend&, linear_grad_operands<float> const&);
#endif

}  // namespace detail

/// Memory is planned for the largest batch.  Batches with fewer rows than linear_grad_by_blocks() needs are computed by
/// products, so their workspace is a lower bound.
template <std::floating_point T, std::derived_from<backend> Ex>
std::size_t do_linear_grad_workspace(Ex& ex, linear_grad_operands<T> const& o) {
  if constexpr (std::same_as<T, float> && std::same_as<Ex, backend>)
    if (o.dropout.active() && detail::by_blocks(ex, o)) {
      auto fewer = o;
      fewer.dy = make_matrix(o.dy.data_handle(), detail::least_rows_of_blocks - 1, o.dy.extent(1), o.dy.stride(0));
      return products_of_linear_grad_workspace(ex, fewer);
    }
  return products_of_linear_grad_workspace(ex, o);
}

/// A derived backend may have products of its own, so its gradients are computed by these products.
template <std::floating_point T, std::derived_from<backend> Ex>
void do_linear_grad(Ex& ex, linear_grad_operands<T> const& o, workspace ws) {
  if constexpr (std::same_as<T, float> && std::same_as<Ex, backend>)
    if (detail::by_blocks(ex, o)) return detail::linear_grad_by_blocks(ex, o);
  if constexpr (std::same_as<T, float>)
    if (o.rounded_x.extent(0) != 0 || o.rounded_gate.extent(0) != 0)
      return linear_grad_by_products(ex, detail::in_floats(ex, o), ws);
  linear_grad_by_products(ex, o, ws);
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
