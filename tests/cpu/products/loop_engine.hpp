// An engine of plain loops, which checks that products have the shapes that it asks for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "triad/cpu/products/engine.hpp"
#include "triad/cpu/products/rounding.hpp"

namespace triad::test {

/// Sums in double.  `rows` are the numbers of rows of all products, and `inner` are their inner extents.
class loop_engine final : public cpu::product_engine {
 public:
  explicit loop_engine(bool bf16, cpu::product_limits of_bf16 = {16, 100, 32}) : bf16_(bf16), of_bf16_(of_bf16) {}

  std::string name() const override { return "loops 1.0"; }
  std::string kernels() const override { return "plain"; }
  bool computes(cpu::arithmetic factors) const override { return bf16_ || factors == cpu::arithmetic::float32; }
  bool rows_are_independent() const override { return true; }
  cpu::product_limits limits(cpu::arithmetic factors) const override {
    return factors == cpu::arithmetic::bf16 ? of_bf16_ : cpu::product_limits{1, 1000};
  }
  std::size_t packed_bytes(cpu::arithmetic factors, index_t k, index_t n) const override {
    return static_cast<std::size_t>(k * n) * (factors == cpu::arithmetic::bf16 ? 2 : 4);
  }
  /// A packed factor is stored by columns.
  void pack(cpu::arithmetic factors, index_t k, index_t n, float const* b, cpu::factor_form form, index_t leading,
            void* packed) const override {
    for (index_t i = 0; i < n; ++i)
      for (index_t l = 0; l < k; ++l) {
        float const x = form == cpu::factor_form::rows ? b[l * leading + i] : b[i * leading + l];
        if (factors == cpu::arithmetic::bf16)
          static_cast<cpu::bfloat16*>(packed)[i * k + l] = triad::to_bfloat16(x);
        else
          static_cast<float*>(packed)[i * k + l] = x;
      }
  }
  void multiply(cpu::product_shape const& s, void const* a, void const* b, float* c) const override {
    auto const most = limits(s.factors);
    bool const fits =
        s.m > 0 && s.n > 0 && s.k > 0 && s.m % most.row_step == 0 && s.k <= most.inner && s.k % most.inner_step == 0;
    {
      std::lock_guard const lock(access_);  // several threads multiply
      if (!fits) ++outside;
      rows.insert(s.m), inner.insert(s.k);
    }
    // Unoptimised tests call this function often, so the innermost loop is plain.
    std::vector<double> const left = numbers(a, s.factors, s.m, s.k, s.a == cpu::factor_form::rows),
                              right = numbers(b, s.factors, s.k, s.n, s.b == cpu::factor_form::rows);
    std::vector<double> sums(static_cast<std::size_t>(s.n));
    for (index_t r = 0; r < s.m; ++r) {
      float* const to = c + r * s.n;
      double* const sum = sums.data();
      for (index_t i = 0; i < s.n; ++i) sum[i] = s.add ? static_cast<double>(to[i]) : 0.0;
      for (index_t l = 0; l < s.k; ++l) {
        double const factor = left[static_cast<std::size_t>(r * s.k + l)];
        double const* const row = right.data() + l * s.n;
        for (index_t i = 0; i < s.n; ++i) sum[i] += factor * row[i];
      }
      for (index_t i = 0; i < s.n; ++i) to[i] = static_cast<float>(sum[i]);
    }
  }

  mutable std::set<index_t> rows, inner;
  mutable int outside = 0;  // the number of products that are beyond the limits

 private:
  /// Returns a factor (rows, columns) in rows.
  static std::vector<double> numbers(void const* x, cpu::arithmetic factors, index_t rows, index_t columns,
                                     bool by_rows) {
    std::vector<double> all(static_cast<std::size_t>(rows * columns));
    double* const to = all.data();
    for (index_t r = 0; r < rows; ++r)
      for (index_t i = 0; i < columns; ++i) {
        index_t const from = by_rows ? r * columns + i : i * rows + r;
        to[r * columns + i] = static_cast<double>(factors == cpu::arithmetic::bf16
                                                      ? triad::from_bfloat16(static_cast<cpu::bfloat16 const*>(x)[from])
                                                      : static_cast<float const*>(x)[from]);
      }
    return all;
  }

  bool bf16_;
  cpu::product_limits of_bf16_;
  mutable std::mutex access_;
};

}  // namespace triad::test
