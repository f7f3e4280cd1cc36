// The gradients of an affine map.  If an engine computes products and there are many rows, each row of dy and x is
// read, dropped and rounded only once.
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
  bool const kept = o.rounded_x.extent(0) != 0 || o.rounded_gate.extent(0) != 0;
  if (kept && ex.arithmetic != arithmetic::bf16) return false;
  return ex.engine != nullptr && rows >= least_rows_of_blocks && std::min(out, in) >= ex.least_rounded &&
         triad::detail::is_separate(o.dx, o.x, o.after.residual) && by_rows(o.dy) && by_rows(o.x) && by_rows(o.w) &&
         by_rows(o.dw) && by_rows(o.dx) && by_rows(o.after.gate) && by_rows(o.after.residual) && by_rows(o.rounded_x) &&
         by_rows(o.rounded_gate);
}

/// The gradients of an affine map, added up by blocks of rows.  The sums of a piece, which is a run of rows, are in
/// scratch memory of the thread that makes this object, after the packed w.
class gradient_blocks {
 public:
  /// The columns of dy are rows of dy' x and terms of dy w, and the rows of dy are terms of dy' x and rows of dy w.  So
  /// both numbers are padded to both steps: dy has columns and rows of zeros, and w has rows of zeros.
  gradient_blocks(backend& ex, linear_grad_operands<float> const& o, index_t most_pieces)
      : o_(o),
        limits_(limits_of(*ex.engine, ex.arithmetic)),
        out_(o.dy.extent(1)),
        in_(o.in()),
        wide_(rounded_up(out_, limits_.inner_step)),
        has_dx_(o.dx.extent(0) != 0),
        task_{.engine = *ex.engine,
              .factors = ex.arithmetic,
              .m = o.dy.extent(0),
              .n = in_,
              .k = wide_,
              .a = factor(o.dy),
              .b = has_dx_ ? with_zeros(factor(o.w), out_, wide_, in_, scratch_use::padded_factor) : stored_factor{},
              .c = o.dx.data_handle(),
              .ldc = has_dx_ ? o.dx.stride(0) : in_,
              .add = false,
              .limits = limits_},
        x_(o.rounded_x.extent(0) != 0
               ? stored_factor{nullptr, factor_form::rows, o.rounded_x.stride(0), o.rounded_x.data_handle()}
               : factor(o.x)),
        parts_(task_),
        keeps_(o.dropout) {
    constexpr index_t cached = index_t{3} << 15;                                // numbers of dy and x in a block
    index_t const most_rows = std::min<index_t>(512, limits_.inner / 64 * 64);  // the inner extent of dy' x
    block_ = std::min(most_rows, std::max<index_t>(64, cached * (task_.rounds() ? 2 : 1) / (out_ + in_) / 32 * 32));
    most_pieces_ = std::min(most_pieces, pieces_of(wide_, in_));
    packed_ = room_for_pieces(task_, parts_, most_pieces_ * sums_size(), scratch_use::right_factor);
    sums_ = reinterpret_cast<float*>(packed_.data + packed_.bytes * static_cast<std::size_t>(parts_.count));
    if (has_dx_) pack_pieces(ex, task_, parts_, packed_);
  }

  /// The number of rows of a block, a multiple of 32.
  index_t block() const { return block_; }
  /// The largest number of pieces.
  index_t most_pieces() const { return most_pieces_; }
  stored_factor const& dy() const { return task_.a; }

  /// Adds the rows [row, row + count) to the sums of a piece, and writes their dx.  `dy` begins with these rows.  The
  /// calls of a piece must have one thread at a time.  `first` says whether the sums begin with this call.
  void add(index_t piece, stored_factor const& dy, index_t row, index_t count, bool first) const {
    for (index_t done = 0; done < count; done += block_)
      add_block(piece, dy.at(done, 0), row + done, std::min(block_, count - done), first && done == 0);
  }

  /// Sets the sums of a piece without rows to 0.
  void clear(index_t piece) const { std::fill_n(sums_ + piece * sums_size(), sums_size(), 0.0f); }
  /// Adds the sums of `pieces` pieces, in order, to dw and db.
  void finish(backend& ex, index_t pieces) const {
    parallel_rows(ex, out_, 16, [&](index_t row, index_t count, int) {
      for (index_t piece = 0; piece < pieces; ++piece)
        put_rows(sums_ + piece * sums_size() + row * in_, in_, count, &o_.dw(row, 0), o_.dw.stride(0), true);
    });
    without_denormals const here;  // as in the tasks
    if (o_.db.extent(0) != 0)
      for (index_t piece = 0; piece < pieces; ++piece) {
        float const* const db = sums_ + piece * sums_size() + wide_ * in_;
        for (index_t i = 0; i < out_; ++i) o_.db(i) += db[i];
      }
  }

  /// The number of sums of a map (out, in) for which there is room in scratch memory.
  static constexpr index_t pieces_of(index_t out, index_t in) {
    return std::max<index_t>(1, (index_t{8} << 20) / (out * in + out));
  }

 private:
  /// Returns limits with one step for both: the pieces of the columns of dy are rows of a product and parts of a sum.
  static product_limits limits_of(product_engine const& engine, arithmetic factors) {
    auto const stated = engine.limits(factors);
    expect_limits(engine, factors, stated);
    index_t const step = std::max(stated.row_step, stated.inner_step);
    return {step, stated.inner / step * step, step};
  }
  static stored_factor factor(matrix<float const> m) { return {m.data_handle(), factor_form::rows, m.stride(0)}; }
  index_t sums_size() const { return wide_ * in_ + out_; }

  void add_block(index_t piece, stored_factor dy, index_t row, index_t count, bool first) const {
    float* const dw = sums_ + piece * sums_size();
    float* const db = dw + wide_ * in_;
    index_t const made = rounded_up(count, limits_.inner_step);
    if (first) std::fill_n(db, out_, 0.0f);
    if (o_.dropout.active()) {
      auto* const dropped = product_scratch_of<float>(scratch_use::dropped, count * out_);
      for (index_t r = 0; r < count; ++r)
        drop_row(keeps_, static_cast<float>(o_.dropout.scale()), row + r, out_, dy.data + r * dy.leading,
                 dropped + r * out_);
      dy = {dropped, factor_form::rows, out_};
    }
    if (o_.db.extent(0) != 0)
      for (index_t r = 0; r < count; ++r) {
        float const* const y = dy.data + r * dy.leading;
#pragma omp simd
        for (index_t i = 0; i < out_; ++i) db[i] += y[i];
      }
    auto const right = read_factor(task_, x_, row, count, 0, in_, made, in_, scratch_use::right_block);
    bool const direct = has_dx_ && made == count && task_.ldc == in_;
    float* const dx = !has_dx_ ? nullptr
                      : direct ? task_.c + row * task_.ldc
                               : product_scratch_of<float>(scratch_use::sums, made * in_);
    for (index_t part = 0; part < parts_.count; ++part) {
      index_t const begin = parts_.first(part), k = parts_.size(part);
      auto const left =
          read_factor(task_, dy, 0, count, begin, std::min(k, out_ - begin), made, k, scratch_use::left_block);
      // The rows of dy are the columns of dy'.
      task_.engine.multiply({k, in_, made, task_.factors, factor_form::columns, factor_form::rows, !first}, left.data,
                            right.data, dw + begin * in_);
      if (has_dx_)
        task_.engine.multiply({made, in_, k, task_.factors, factor_form::rows, factor_form::packed, part > 0},
                              left.data, packed_[part], dx);
    }
    if (!has_dx_) return;
    if (!direct) put_rows(dx, in_, count, task_.c + row * task_.ldc, task_.ldc, false);
    if (!o_.after.empty() || o_.rounded_gate.extent(0) != 0)
      finish_block(o_.after, &o_.dx(row, 0), task_.ldc, row, count, 0, in_, o_.rounded_gate);
  }

  linear_grad_operands<float> const& o_;
  product_limits limits_;
  index_t out_, in_, wide_;
  bool has_dx_;
  engine_task task_;
  stored_factor x_;
  inner_pieces parts_;  // of the columns of dy
  keep_source keeps_;
  index_t block_ = 0, most_pieces_ = 0;
  packed_pieces packed_;
  float* sums_ = nullptr;
};

/// A template, so that the target triad::kernels compiles it once.
template <std::same_as<float> T>
void linear_grad_by_blocks(backend& ex, linear_grad_operands<T> const& o) {
  index_t const rows = o.dy.extent(0);
  gradient_blocks const sums(ex, o, 8);
  index_t const length = rounded_up((rows + sums.most_pieces() - 1) / sums.most_pieces(), sums.block());
  index_t const pieces = (rows + length - 1) / length;
  parallel_for(ex, pieces, [&](index_t piece, int) {
    index_t const begin = piece * length;
    sums.add(piece, sums.dy().at(begin, 0), begin, std::min(length, rows - begin), true);
  });
  sums.finish(ex, pieces);
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
