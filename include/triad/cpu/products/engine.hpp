// The interface of a library that computes the matrix products of the cpu backend in place of BLAS.
// SPDX-License-Identifier: Apache-2.0
//
// cpu/products/blocks.hpp cuts a product into blocks.  A thread asks the engine for one block at a time.
#pragma once

#include <cstddef>
#include <string>

#include "triad/core/kept_factor.hpp"
#include "triad/core/mdspan.hpp"

namespace triad::cpu {

/// The precision of the factors of a product.  Sums of products are float in both cases.
enum class arithmetic {
  float32,  // factors are not rounded
  bf16,     // factors are rounded to 8 significant bits; only an engine that computes bf16 has it
};

using triad::bfloat16;

/// How a factor of a product is stored.
enum class factor_form {
  rows,     // row-major
  columns,  // the transpose is row-major
  packed,   // as the engine's pack() wrote it; only the right factor
};

/// The shape of a product c = a b or c += a b, where a is (m, k), b is (k, n) and c is (m, n).  All matrices are
/// contiguous, and c is row-major.
struct product_shape {
  index_t m, n, k;
  arithmetic factors;
  factor_form a, b;
  bool add;  // c += a b

  friend bool operator==(product_shape const&, product_shape const&) = default;
};

/// Limits of a product: the number of rows must be a multiple of row_step, and k must be a multiple of inner_step and
/// at most `inner`.  row_step is 1 for float32 and divides 16 for bf16, inner_step is 1 for float32 and divides 64 for
/// bf16, and `inner` is at least 64.  Factors are padded with zeros, so an engine may state steps at which it is fast,
/// even if it computes every product.
struct product_limits {
  index_t row_step, inner, inner_step = 1;
};

/// Computes products of float matrices on the calling thread.  All functions may be called on several threads at once.
/// An engine must outlive the backends that use it.
class product_engine {
 public:
  virtual ~product_engine() = default;

  /// The name and version of the library, such as "oneDNN 2.6.3".
  virtual std::string name() const = 0;
  /// The instructions that its kernels use, such as "AVX-512".
  virtual std::string kernels() const = 0;
  /// Whether the engine computes products with such factors on this processor at a higher rate than with float
  /// factors.  Always true for arithmetic::float32.
  virtual bool computes(arithmetic factors) const = 0;
  /// Whether a row of c has the same bits for any number of rows in the product, and for each form of b, if the product
  /// stays within limits().
  virtual bool rows_are_independent() const = 0;
  /// Returns the limits of products with such factors.
  virtual product_limits limits(arithmetic factors) const = 0;

  /// Returns the bytes of the right factor (k, n) in factor_form::packed.
  virtual std::size_t packed_bytes(arithmetic factors, index_t k, index_t n) const = 0;
  /// Copies the right factor b, which has form `rows` or `columns`, to `packed`, and rounds it to `factors`.  The rows,
  /// or the columns, of b are `leading` floats apart.
  virtual void pack(arithmetic factors, index_t k, index_t n, float const* b, factor_form form, index_t leading,
                    void* packed) const = 0;
  /// Computes a product.  The factors are float or bfloat16, as shape.factors says.
  virtual void multiply(product_shape const& shape, void const* a, void const* b, float* c) const = 0;
};

}  // namespace triad::cpu
