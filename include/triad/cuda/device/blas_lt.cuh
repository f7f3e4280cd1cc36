// Products in float by cublasLt, which adds bias and residual before it stores the result.
// SPDX-License-Identifier: Apache-2.0
//
// The relu of cublasLt is not used: in TF32 and bf16, some algorithms of cublasLt turn NaN into 0 (observed on an H200
// with cuBLAS 13).
#pragma once

#include <cublasLt.h>

#include <array>
#include <cstdint>

#include "triad/cuda/device/blas.cuh"

namespace triad::cuda {

/// The product d = a b + beta c + bias.  All matrices are column-major, and the bias has one value for each row of d.
/// The matrices c and d are not transposed.
struct fused_product {
  blas_size size;  // count 1
  blas_operand<float const> a, b, c;
  float beta = 0;               // 0: c is not read
  float const* bias = nullptr;  // (m) or null
  blas_operand<float> d;
};

/// A cache of the algorithms that cublasLt chooses.  The cache has one algorithm for each kind of product, for up to 64
/// kinds.
class fused_blas {
 public:
  /// Queues the product in `stream`.  Returns false, and queues nothing, if cublasLt has no algorithm for it.
  bool multiply(blas_context const& blas, cudaStream_t stream, arithmetic how, fused_product const& p) {
    description const d(how, p);
    plan const& found = find(blas, d, key_of(how, p));
    if (!found.possible) return false;
    float const one = 1;
    check(cublasLtMatmul(lt(blas), &d.operation, &one, p.a.data, &d.a, p.b.data, &d.b, &p.beta,
                         p.beta != 0 ? p.c.data : p.d.data, &d.c, p.d.data, &d.d, &found.way, blas.workspace(),
                         blas.workspace_size(), stream),
          "multiplying matrices and adding what follows");
    ++queued_;
    return true;
  }

  /// The number of products queued so far.
  std::uint64_t queued() const { return queued_; }

 private:
  /// All values that the choice of cublasLt may depend on.  cublasLt knows the alignment of the bias from the address
  /// of the bias in the description.
  using key = std::array<std::int64_t, 15>;
  struct plan {
    key of{};
    bool known = false, possible = false;
    cublasLtMatmulAlgo_t way{};
  };

  /// The description of a product for cublasLt.  Its parts refer to this object, so the object must not move.
  struct description {
    // These members are mutable, because cublasLt reads them through pointers to non-const.
    mutable cublasLtMatmulDescOpaque_t operation{};
    mutable cublasLtMatrixLayoutOpaque_t a{}, b{}, c{}, d{};

    description(arithmetic how, fused_product const& p) {
      check(cublasLtMatmulDescInit(&operation, detail::compute_type<float>(how), CUDA_R_32F), "describing a product");
      set(CUBLASLT_MATMUL_DESC_TRANSA, p.a.turned ? CUBLAS_OP_T : CUBLAS_OP_N);
      set(CUBLASLT_MATMUL_DESC_TRANSB, p.b.turned ? CUBLAS_OP_T : CUBLAS_OP_N);
      int epilogue = CUBLASLT_EPILOGUE_DEFAULT;
      if (p.bias != nullptr) {
        set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.bias);
        epilogue = CUBLASLT_EPILOGUE_BIAS;
      }
      set(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<cublasLtEpilogue_t>(epilogue));
      auto const& s = p.size;
      lay(a, p.a.turned ? s.k : s.m, p.a.turned ? s.m : s.k, p.a.leading);
      lay(b, p.b.turned ? s.n : s.k, p.b.turned ? s.k : s.n, p.b.leading);
      lay(c, s.m, s.n, p.beta != 0 ? p.c.leading : p.d.leading);
      lay(d, s.m, s.n, p.d.leading);
    }

   private:
    template <class V>
    void set(cublasLtMatmulDescAttributes_t what, V const& value) {
      check(cublasLtMatmulDescSetAttribute(&operation, what, &value, sizeof value), "describing a product");
    }
    static void lay(cublasLtMatrixLayoutOpaque_t& m, int rows, int columns, int leading) {
      check(cublasLtMatrixLayoutInit(&m, CUDA_R_32F, static_cast<std::uint64_t>(rows),
                                     static_cast<std::uint64_t>(columns), leading),
            "describing a matrix");
    }
  };

  /// Any cuBLAS handle may be used as a cublasLt handle.
  static cublasLtHandle_t lt(blas_context const& blas) { return reinterpret_cast<cublasLtHandle_t>(blas.handle()); }

  /// The largest power of two, at most 256, that divides an address.
  static std::uint32_t alignment(void const* p) {
    auto const address = reinterpret_cast<std::uintptr_t>(p) | 256u;
    return static_cast<std::uint32_t>(address & (~address + 1));
  }

  static key key_of(arithmetic how, fused_product const& p) {
    auto const& s = p.size;
    return {s.m,
            s.n,
            s.k,
            p.a.leading,
            p.b.leading,
            p.beta != 0 ? p.c.leading : 0,
            p.d.leading,
            p.a.turned + 2 * p.b.turned,
            static_cast<int>(how),
            (p.beta != 0) + 2 * (p.bias != nullptr),
            alignment(p.a.data),
            alignment(p.b.data),
            p.beta != 0 ? alignment(p.c.data) : 0,
            alignment(p.d.data),
            p.bias != nullptr ? alignment(p.bias) : 0};
  }

  plan const& find(blas_context const& blas, description const& d, key const& of) {
    for (auto const& p : plans_)
      if (p.known && p.of == of) return p;
    auto& place = plans_[next_];
    next_ = (next_ + 1) % plans_.size();
    place = make_plan(blas, d, of);
    return place;
  }

  static plan make_plan(blas_context const& blas, description const& d, key const& of) {
    cublasLtMatmulPreferenceOpaque_t preference{};
    check(cublasLtMatmulPreferenceInit(&preference), "describing what a product may use");
    auto const set = [&](cublasLtMatmulPreferenceAttributes_t what, auto const& value) {
      check(cublasLtMatmulPreferenceSetAttribute(&preference, what, &value, sizeof value),
            "describing what a product may use");
    };
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(blas.workspace_size()));
    auto const aligned = [&](std::size_t i, std::size_t otherwise) {
      return static_cast<std::uint32_t>(of[i] != 0 ? of[i] : of[otherwise]);
    };
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, aligned(10, 10));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, aligned(11, 11));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, aligned(12, 13));  // without a separate c, c is d
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, aligned(13, 13));
    cublasLtMatmulHeuristicResult_t best{};
    int count = 0;
    auto const status =
        cublasLtMatmulAlgoGetHeuristic(lt(blas), &d.operation, &d.a, &d.b, &d.c, &d.d, &preference, 1, &best, &count);
    if (status != CUBLAS_STATUS_NOT_SUPPORTED) check(status, "choosing how to multiply matrices");
    bool const possible = status == CUBLAS_STATUS_SUCCESS && count > 0 && best.state == CUBLAS_STATUS_SUCCESS;
    return {of, true, possible, best.algo};
  }

  std::array<plan, 64> plans_{};
  std::size_t next_ = 0;
  std::uint64_t queued_ = 0;
};

}  // namespace triad::cuda
