// The cublasLt functions that triad/cuda/device/blas_lt.cuh calls, on the host: one product with a bias and an addend.
// The work is queued in a stream.
// SPDX-License-Identifier: Apache-2.0
//
// cublasLt's opaque descriptors store their values in our own layout. The caller passes an alignment to the heuristic.
// The algorithm that the heuristic returns requires this alignment, and the alignment of pointers is checked. If the
// leading dimension of the result is odd, the heuristic returns no algorithm, so both cases are tested.
#include <cublasLt.h>

#include <cstring>
#include <memory>

#include "tests/cuda_on_host/cublas.hpp"

namespace triad::cuda_on_host {

namespace {

struct layout {
  cudaDataType type;
  std::uint64_t rows, columns;
  std::int64_t leading;
};
struct operation {
  cublasComputeType_t compute;
  cudaDataType scale;
  cublasOperation_t a, b;
  cublasLtEpilogue_t epilogue;
  float const* bias;
};
struct wish {
  std::uint64_t workspace;
  std::uint32_t alignment[4];  // of a, b, c, d
};
/// The content that this stand-in stores in cublasLtMatmulAlgo_t.
struct way {
  std::uint32_t known, alignment[4];
};
constexpr std::uint32_t found_here = 0x7a1d;

template <class Mine, class Opaque>
Mine mine(Opaque const* p) {
  static_assert(sizeof(Mine) <= sizeof(Opaque));
  Mine m;
  std::memcpy(&m, p, sizeof m);
  return m;
}
template <class Mine, class Opaque>
void keep(Opaque* p, Mine const& m) {
  static_assert(sizeof(Mine) <= sizeof(Opaque));
  std::memcpy(p, &m, sizeof m);
}

template <class V>
cublasStatus_t take(V& to, void const* from, std::size_t bytes) {
  if (from == nullptr || bytes != sizeof(V)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&to, from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

bool has_bias(cublasLtEpilogue_t e) { return e == CUBLASLT_EPILOGUE_BIAS; }

bool turned(cublasOperation_t t) { return t == CUBLAS_OP_T; }

/// Returns whether the shapes fit together and all types are float.
bool agrees(operation const& o, layout const& a, layout const& b, layout const& c, layout const& d) {
  for (auto const* l : {&a, &b, &c, &d})
    if (l->type != CUDA_R_32F || l->leading < 1 || static_cast<std::uint64_t>(l->leading) < l->rows) return false;
  auto const m = turned(o.a) ? a.columns : a.rows, k = turned(o.a) ? a.rows : a.columns;
  auto const n = turned(o.b) ? b.rows : b.columns, terms = turned(o.b) ? b.columns : b.rows;
  return o.scale == CUDA_R_32F && k == terms && d.rows == m && d.columns == n && c.rows == m && c.columns == n &&
         m > 0 && n > 0 && k > 0;
}

template <class T>
operand<T> as_operand(T* data, layout const& l) {
  return {data, static_cast<int>(l.rows), static_cast<int>(l.columns), static_cast<int>(l.leading), 0};
}

/// Computes d = alpha a b + beta c + bias.
struct fused_work {
  product<float> ab;  // writes `sum`
  operand<float const> c;
  operand<float> d;
  float beta;
  float const* bias;

  void operator()() const {
    if (beta != 0) c.check(0, "the addends");
    d.check(0, "the products");
    if (bias != nullptr && !settings_in_use().unified &&
        !on_device(bias, static_cast<std::size_t>(d.rows) * sizeof(float)))
      throw fault("cublasLt: the bias is not in device memory");
    std::vector<float> sum(static_cast<std::size_t>(d.rows) * static_cast<std::size_t>(d.columns));
    ab.a.check(0, "the left factors");
    ab.b.check(0, "the right factors");
    ab.multiply(0, sum.data(), d.rows);
    for (int j = 0; j < d.columns; ++j)
      for (int i = 0; i < d.rows; ++i) {
        float value = sum[static_cast<std::size_t>(j) * static_cast<std::size_t>(d.rows) + static_cast<std::size_t>(i)];
        if (beta != 0) value += beta * c.data[static_cast<long long>(j) * c.leading + i];
        if (bias != nullptr) value += bias[i];
        d.data[static_cast<long long>(j) * d.leading + i] = value;
      }
  }
};

}  // namespace

}  // namespace triad::cuda_on_host

using namespace triad::cuda_on_host;

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t l, std::size_t bytes, cudaDataType type,
                                                 std::uint64_t rows, std::uint64_t columns, std::int64_t leading) {
  if (l == nullptr || bytes != sizeof *l) return CUBLAS_STATUS_INVALID_VALUE;
  keep(l, layout{type, rows, columns, leading});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t o, std::size_t bytes, cublasComputeType_t compute,
                                               cudaDataType_t scale) {
  if (o == nullptr || bytes != sizeof *o) return CUBLAS_STATUS_INVALID_VALUE;
  keep(o, operation{compute, scale, CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_EPILOGUE_DEFAULT, nullptr});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t what,
                                              void const* value, std::size_t bytes) {
  auto o = mine<operation>(description);
  auto status = CUBLAS_STATUS_NOT_SUPPORTED;
  switch (what) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      status = take(o.a, value, bytes);
      break;
    case CUBLASLT_MATMUL_DESC_TRANSB:
      status = take(o.b, value, bytes);
      break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      status = take(o.epilogue, value, bytes);
      break;
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      status = take(o.bias, value, bytes);
      break;
    default:
      break;
  }
  keep(description, o);
  return status;
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t p, std::size_t bytes) {
  if (p == nullptr || bytes != sizeof *p) return CUBLAS_STATUS_INVALID_VALUE;
  keep(p, wish{0, {256, 256, 256, 256}});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t p,
                                                    cublasLtMatmulPreferenceAttributes_t what, void const* value,
                                                    std::size_t bytes) {
  auto w = mine<wish>(p);
  auto status = CUBLAS_STATUS_NOT_SUPPORTED;
  switch (what) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      status = take(w.workspace, value, bytes);
      break;
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      status = take(w.alignment[0], value, bytes);
      break;
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      status = take(w.alignment[1], value, bytes);
      break;
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      status = take(w.alignment[2], value, bytes);
      break;
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      status = take(w.alignment[3], value, bytes);
      break;
    default:
      break;
  }
  keep(p, w);
  return status;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t found[], int* count) {
  *count = 0;
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  auto const o = mine<operation>(description);
  auto const result = mine<layout>(d);
  if (wanted < 1 || !agrees(o, mine<layout>(a), mine<layout>(b), mine<layout>(c), result))
    return CUBLAS_STATUS_INVALID_VALUE;
  rounding how;
  if (!rounding_of(o.compute, how) || result.leading % 2 != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  auto const w = mine<wish>(preference);
  way chosen{found_here, {}};
  std::memcpy(chosen.alignment, w.alignment, sizeof chosen.alignment);
  found[0] = {};
  keep(&found[0].algo, chosen);
  found[0].state = CUBLAS_STATUS_SUCCESS;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description, void const* alpha,
                              void const* a, cublasLtMatrixLayout_t la, void const* b, cublasLtMatrixLayout_t lb,
                              void const* beta, void const* c, cublasLtMatrixLayout_t lc, void* d,
                              cublasLtMatrixLayout_t ld, cublasLtMatmulAlgo_t const* algorithm, void* workspace,
                              std::size_t bytes, cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  auto const o = mine<operation>(description);
  auto const left = mine<layout>(la), right = mine<layout>(lb), addend = mine<layout>(lc), result = mine<layout>(ld);
  rounding how;
  if (alpha == nullptr || beta == nullptr || algorithm == nullptr || !agrees(o, left, right, addend, result) ||
      !rounding_of(o.compute, how))
    return CUBLAS_STATUS_INVALID_VALUE;
  auto const chosen = mine<way>(algorithm);
  void const* const pointers[] = {a, b, c, d};
  if (chosen.known != found_here || (bytes > 0 && !on_device(workspace, bytes))) return CUBLAS_STATUS_INVALID_VALUE;
  for (int i = 0; i < 4; ++i)
    if (reinterpret_cast<std::uintptr_t>(pointers[i]) % chosen.alignment[i] != 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (has_bias(o.epilogue) != (o.bias != nullptr)) return CUBLAS_STATUS_INVALID_VALUE;
  int const k = static_cast<int>(turned(o.a) ? left.rows : left.columns);
  product<float> const ab{o.a,
                          o.b,
                          static_cast<int>(result.rows),
                          static_cast<int>(result.columns),
                          k,
                          1,
                          *static_cast<float const*>(alpha),
                          0,
                          as_operand(static_cast<float const*>(a), left),
                          as_operand(static_cast<float const*>(b), right),
                          {},
                          how};
  fused_work const work{ab, as_operand(static_cast<float const*>(c), addend),
                        as_operand(static_cast<float*>(d), result), *static_cast<float const*>(beta), o.bias};
  return enqueue(stream, work) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
