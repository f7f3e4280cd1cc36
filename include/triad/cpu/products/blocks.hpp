// Cuts a product of floats into blocks that an engine computes, with threads that share the blocks.
// SPDX-License-Identifier: Apache-2.0
//
// The right factor is packed once.  A task computes a block of rows: it rounds the rows of the left factor, if the
// factors are bf16, multiplies them by the packed right factor, and applies the epilogue while the block is in the
// cache.  A row of the result does not depend on the other rows, because long sums are cut by their length alone, and
// because the engine computes rows independently.
//
// In a weight gradient, a' b, the sum over the rows of a and b is long and the result is small.  Then a task computes a
// piece of the sum, and the pieces are added in a fixed order.  Cuts depend on the shape alone, so the result has the
// same bits with any number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "triad/core/math.hpp"
#include "triad/cpu/backend.hpp"
#include "triad/cpu/products/engine.hpp"
#include "triad/cpu/products/rounding.hpp"
#include "triad/cpu/products/scratch.hpp"
#include "triad/ops/matmul.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace detail {

constexpr index_t rounded_up(index_t x, index_t step) { return (x + step - 1) / step * step; }

/// A matrix of floats, or of bfloat16, that an engine can read.
struct stored_factor {
  float const* data;
  factor_form form;
  index_t leading;
  bfloat16 const* rounded = nullptr;  // if not null, the matrix is here, and `data` is null

  /// Returns the part that begins at a row and a column.
  stored_factor at(index_t row, index_t column) const {
    index_t const offset = form == factor_form::rows ? row * leading + column : column * leading + row;
    if (rounded != nullptr) return {nullptr, form, leading, rounded + offset};
    return {data + offset, form, leading};
  }
};

/// Throws contract_violation if an engine states limits that blocks cannot have.
inline void expect_limits(product_engine const& engine, arithmetic factors, product_limits const& limits) {
  bool const rounds = factors == arithmetic::bf16;
  auto const allowed = [&](index_t step, index_t most) { return rounds ? step > 0 && most % step == 0 : step == 1; };
  TRIAD_EXPECTS(
      limits.inner >= 64 && allowed(limits.row_step, 16) && allowed(limits.inner_step, 64),
      engine.name() + ": limits are a row_step of " + std::to_string(limits.row_step) + ", an inner of " +
          std::to_string(limits.inner) + " and an inner_step of " + std::to_string(limits.inner_step) +
          ", expected a row_step of 1 (in bf16: that divides 16), an inner of 64 or more and an inner_step of "
          "1 (in bf16: that divides 64)");
}

/// A product that an engine computes, with the extents m, n and k of ops/matmul.hpp.
struct engine_task {
  product_engine const& engine;
  arithmetic factors;
  index_t m, n, k;
  stored_factor a, b;
  float* c;
  index_t ldc;
  bool add;
  product_limits limits = engine.limits(factors);

  bool rounds() const { return factors == arithmetic::bf16; }
  index_t padded_rows(index_t rows) const { return rounded_up(rows, limits.row_step); }
  index_t padded_inner(index_t inner) const { return rounded_up(inner, limits.inner_step); }
  void expect_limits() const { detail::expect_limits(engine, factors, limits); }
};

template <class T>
T* product_scratch_of(scratch_use use, index_t count) {
  return reinterpret_cast<T*>(product_scratch(use, static_cast<std::size_t>(count) * sizeof(T)));
}

/// A contiguous part of a factor, of floats or of bfloat16.
struct ready_factor {
  void const* data;
  factor_form form;
};
/// Returns the part (rows, columns) of a factor that begins at (row, column), as the engine reads it.  If the factors
/// are bf16, the part is rounded and zeros make it (rows_made, columns_made).  The part is a copy in scratch memory,
/// unless it is contiguous as it is stored.
inline ready_factor read_factor(engine_task const& t, stored_factor const& f, index_t row, index_t rows, index_t column,
                                index_t columns, index_t rows_made, index_t columns_made, scratch_use use) {
  auto const from = f.at(row, column);
  bool const by_rows = f.form == factor_form::rows;
  index_t const lines = by_rows ? rows : columns, length = by_rows ? columns : rows,
                lines_made = by_rows ? rows_made : columns_made, length_made = by_rows ? columns_made : rows_made;
  if (f.rounded != nullptr) {
    if (lines == lines_made && length == length_made && (from.leading == length || lines == 1))
      return {from.rounded, f.form};
    auto* const to = product_scratch_of<bfloat16>(use, lines_made * length_made);
    for (index_t l = 0; l < lines_made; ++l) {
      index_t const copied = l < lines ? length : 0;
      std::copy_n(from.rounded + (l < lines ? l : 0) * from.leading, copied, to + l * length_made);
      std::fill_n(to + l * length_made + copied, length_made - copied, bfloat16{0});
    }
    return {to, f.form};
  }
  if (t.rounds()) {
    auto* const to = product_scratch_of<bfloat16>(use, lines_made * length_made);
    round_matrix(from.data, from.leading, lines, length, to, length_made, lines_made, length_made);
    return {to, f.form};
  }
  if (from.leading == length || lines == 1) return {from.data, f.form};
  auto* const to = product_scratch_of<float>(use, lines * length);
  for (index_t l = 0; l < lines; ++l) std::copy_n(from.data + l * from.leading, length, to + l * length);
  return {to, f.form};
}

/// Copies rows of sums to y or adds them to y.
inline void put_rows(float const* x, index_t n, index_t rows, float* y, index_t ldy, bool add) {
  for (index_t r = 0; r < rows; ++r, x += n, y += ldy) {
    if (!add) {
      std::copy_n(x, n, y);
      continue;
    }
#pragma omp simd
    for (index_t i = 0; i < n; ++i) y[i] += x[i];
  }
}

/// The number of rows of a block in a product with m rows: near 384, or fewer to make eight blocks, but not below
/// `least`.
constexpr index_t block_rows(index_t m, index_t least) {
  index_t const target = std::clamp<index_t>(m / 8, least, 384),
                blocks = std::max<index_t>(1, (m + target / 2) / target);
  return rounded_up((m + blocks - 1) / blocks, 16);
}

/// The pieces of the inner extent of a product, each as long as a sum of the engine may be.
struct inner_pieces {
  index_t inner, length, count;

  explicit inner_pieces(engine_task const& t) : inner(t.k) {
    index_t const most = t.limits.inner / t.limits.inner_step * t.limits.inner_step, fewest = (inner + most - 1) / most;
    length = std::min({inner, most, rounded_up((inner + fewest - 1) / fewest, 64)});
    count = (inner + length - 1) / length;
  }
  index_t first(index_t piece) const { return piece * length; }
  index_t size(index_t piece) const { return std::min(length, inner - piece * length); }
};

/// The right factor of a product, packed in pieces, which lie `bytes` apart.
struct packed_pieces {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  void const* operator[](index_t piece) const { return data + bytes * static_cast<std::size_t>(piece); }
};
/// Returns scratch memory for the packed pieces of t.b, with room for `floats` floats after them.
inline packed_pieces room_for_pieces(engine_task const& t, inner_pieces const& cut, index_t floats, scratch_use use) {
  std::size_t bytes = 0;
  for (index_t const k : {cut.length, cut.size(cut.count - 1)})
    bytes = std::max(bytes, (t.engine.packed_bytes(t.factors, t.padded_inner(k), t.n) + 63) / 64 * 64);
  return {product_scratch(
              use, bytes * static_cast<std::size_t>(cut.count) + static_cast<std::size_t>(floats) * sizeof(float)),
          bytes};
}
/// Returns the first `inner` rows of a right factor of floats, and `padded` - `inner` rows of zeros.  The result is a
/// copy in scratch memory if there are such rows.
inline stored_factor with_zeros(stored_factor const& b, index_t inner, index_t padded, index_t n, scratch_use use) {
  if (inner == padded) return b;
  bool const by_rows = b.form == factor_form::rows;
  auto* const to = product_scratch_of<float>(use, padded * n);
  for (index_t l = 0; l < (by_rows ? inner : n); ++l) {
    index_t const length = by_rows ? n : inner, made = by_rows ? n : padded;
    std::copy_n(b.data + l * b.leading, length, to + l * made);
    std::fill_n(to + l * made + length, made - length, 0.0f);
  }
  if (by_rows) std::fill_n(to + inner * n, (padded - inner) * n, 0.0f);
  return {to, b.form, by_rows ? n : padded};
}
inline void pack_pieces(backend& ex, engine_task const& t, inner_pieces const& cut, packed_pieces const& to) {
  parallel_for(ex, cut.count, [&](index_t piece, int) {
    index_t const inner = cut.size(piece), padded = t.padded_inner(inner);
    auto const from = with_zeros(t.b.at(cut.first(piece), 0), inner, padded, t.n, scratch_use::right_block);
    t.engine.pack(t.factors, padded, t.n, from.data, from.form, from.leading,
                  to.data + to.bytes * static_cast<std::size_t>(piece));
  });
}

/// A product of which threads compute some rows at a time.  The right factor is packed once, in scratch memory of the
/// thread that makes this object, until this thread asks for the same use of scratch memory again.
class row_products {
 public:
  row_products(backend& ex, engine_task const& t, scratch_use use = scratch_use::right_factor)
      : t_(t), cut_(t), packs_(t.b.rounded == nullptr && (t.rounds() || t.m >= 384)) {
    // Few rows of floats are multiplied by b as it is, which gives the same bits.  oneDNN then copies b for each block,
    // in the time of about 15 rows, and packing takes longer.
    // A rounded b is multiplied as it is too, because pack() reads floats.
    if (!packs_) return;
    packed_ = room_for_pieces(t, cut_, 0, use);
    pack_pieces(ex, t, cut_, packed_);
  }

  bool packs() const { return packs_; }

  /// Computes `count` rows from `row` on.  Their sums begin at c, t.ldc floats apart.
  void operator()(float* c, index_t row, index_t count) const {
    // A kernel is compiled for its number of rows.  There are few such numbers if a block is cut into a multiple of 16
    // rows and a rest.
    index_t const many = count / 16 * 16;
    if (many > 0) multiply(c, row, many);
    if (many < count) multiply(c + many * t_.ldc, row + many, count - many);
  }

 private:
  void multiply(float* c, index_t row, index_t rows) const {
    index_t const made = t_.padded_rows(rows);
    // The pieces of a sum are added before c is, so that the order does not depend on the number of rows.
    bool const direct = made == rows && (t_.ldc == t_.n || rows == 1) && !(t_.add && cut_.count > 1);
    float* const to = direct ? c : product_scratch_of<float>(scratch_use::sums, made * t_.n);
    for (index_t piece = 0; piece < cut_.count; ++piece) {
      index_t const first = cut_.first(piece), inner = cut_.size(piece), padded = t_.padded_inner(inner);
      auto const a = read_factor(t_, t_.a, row, rows, first, inner, made, padded, scratch_use::left_block);
      auto const b = packs_ ? ready_factor{packed_[piece], factor_form::packed}
                            : read_factor(t_, t_.b, first, inner, 0, t_.n, padded, t_.n, scratch_use::right_block);
      t_.engine.multiply({made, t_.n, padded, t_.factors, a.form, b.form, piece > 0 || (direct && t_.add)}, a.data,
                         b.data, to);
    }
    if (!direct) put_rows(to, t_.n, rows, c, t_.ldc, t_.add);
  }

  engine_task const& t_;
  inner_pieces cut_;
  bool packs_;
  packed_pieces packed_;
};

/// Computes t.c by blocks of rows.  Calls finish(block, row, rows) for each block when its sums are complete.  `block`
/// is the address of its first row.  If t.c is null, a block is in scratch memory, which the next block overwrites.
/// Its rows are t.ldc floats apart.
template <class Finish>
void multiply_rows(backend& ex, engine_task const& t, Finish const& finish) {
  row_products const product(ex, t);
  index_t const rows = block_rows(t.m, product.packs() ? 48 : 96);
  parallel_for(ex, (t.m + rows - 1) / rows, [&](index_t block, int) {
    index_t const row = block * rows, count = std::min(rows, t.m - row);
    float* const c =
        t.c != nullptr ? t.c + row * t.ldc : product_scratch_of<float>(scratch_use::result_block, rows * t.ldc);
    product(c, row, count);
    finish(c, row, count);
  });
}

/// Whether a product is a long sum, which multiply_sums() computes.  Weight gradients are long sums.
inline bool is_long_sum(engine_task const& t) { return t.a.form == factor_form::columns && t.k >= 2048; }

/// Computes t.c by pieces of the sum over the inner extent.  Calls finish(block, row, rows) for each block of rows.
/// `block` is the address of its first row.
template <class Finish>
void multiply_sums(backend& ex, engine_task const& t, Finish const& finish) {
  constexpr index_t most_sums = index_t{8} << 20;  // floats in scratch memory
  // The rows of a and b that stay in the cache.
  index_t const step = std::min<index_t>(512, t.limits.inner / t.limits.inner_step * t.limits.inner_step);
  index_t const made = t.padded_rows(t.m), size = made * t.n;
  index_t const wanted = std::clamp<index_t>(t.k / 1024, 1, std::clamp<index_t>(most_sums / size, 1, 8));
  index_t const length = rounded_up((t.k + wanted - 1) / wanted, 64), pieces = (t.k + length - 1) / length;
  float* const sums = product_scratch_of<float>(scratch_use::right_factor, pieces * size);
  parallel_for(ex, pieces, [&](index_t piece, int) {
    index_t const begin = piece * length, end = std::min(t.k, begin + length);
    for (index_t first = begin; first < end; first += step) {
      index_t const inner = std::min(step, end - first), padded = t.padded_inner(inner);
      auto const a = read_factor(t, t.a, 0, t.m, first, inner, made, padded, scratch_use::left_block);
      auto const b = read_factor(t, t.b, first, inner, 0, t.n, padded, t.n, scratch_use::right_block);
      t.engine.multiply({made, t.n, padded, t.factors, a.form, b.form, first > begin}, a.data, b.data,
                        sums + piece * size);
    }
  });
  parallel_rows(ex, t.m, 16, [&](index_t row, index_t rows, int) {
    for (index_t piece = 0; piece < pieces; ++piece)
      put_rows(sums + piece * size + row * t.n, t.n, rows, t.c + row * t.ldc, t.ldc, t.add || piece > 0);
    finish(t.c + row * t.ldc, row, rows);
  });
}

}  // namespace detail

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
