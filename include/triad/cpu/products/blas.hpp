// The linked BLAS: its matrix products, its number of threads, its name, and the names of its kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cblas.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "triad/core/views.hpp"
#include "triad/cpu/kernels/compiled_for.hpp"

// Functions of several BLAS libraries.  The address of a function is null if the linked BLAS does not have this
// function.
extern "C" {
void openblas_set_num_threads(int) __attribute__((weak));
int openblas_get_parallel(void) __attribute__((weak));
char* openblas_get_config(void) __attribute__((weak));
char* openblas_get_corename(void) __attribute__((weak));
void MKL_Set_Num_Threads(int) __attribute__((weak));
void MKL_Get_Version_String(char*, int) __attribute__((weak));
char const* bli_info_get_version_str(void) __attribute__((weak));
}

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

/// Sets the linked BLAS to one thread, once per process.  Returns false if the number of threads cannot be set.  In
/// this case, the environment variable of this BLAS must set the number before the program starts.
inline bool blas_is_serial() {
  static bool const serial = [] {
    if (openblas_set_num_threads) openblas_set_num_threads(1);
    if (MKL_Set_Num_Threads) MKL_Set_Num_Threads(1);
    // If OpenBLAS uses OpenMP, each calling thread has its own number of BLAS threads.  For the threads of this
    // library's pool, only the environment variable OMP_NUM_THREADS sets this number.
    if (openblas_get_parallel && openblas_get_parallel() == 2) {
      char const* const threads = std::getenv("OMP_NUM_THREADS");
      return threads != nullptr && std::string_view(threads) == "1";
    }
    return openblas_set_num_threads || MKL_Set_Num_Threads;
  }();
  return serial;
}

/// The names that a BLAS gives to itself and to its kernels.
struct blas_name {
  std::string library;  // such as "OpenBLAS 0.3.21"; "an unknown BLAS" if the BLAS does not give its name
  std::string kernels;  // the processor that the kernels were written for, such as "Haswell"; empty if unknown
};

/// Returns the names of the BLAS that this process uses.
inline blas_name linked_blas() {
  blas_name found;
  if (openblas_get_config) {  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..."
    std::string_view const config = openblas_get_config();
    auto const version = config.find(' ');
    found.library = config.substr(0, version == std::string_view::npos ? version : config.find(' ', version + 1));
    if (openblas_get_corename) found.kernels = openblas_get_corename();
  } else if (MKL_Get_Version_String) {
    std::array<char, 256> text{};
    MKL_Get_Version_String(text.data(), static_cast<int>(text.size()) - 1);
    found.library = text.data();
    while (found.library.ends_with(' ')) found.library.pop_back();
  } else if (bli_info_get_version_str) {
    found.library = std::string("BLIS ") + bli_info_get_version_str();
  } else {
    found.library = "an unknown BLAS";
  }
  return found;
}

namespace detail {

inline void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float const* a, int lda, float const* b,
                 int ldb, float beta, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1.0f, a, lda, b, ldb, beta, c, ldc);
}
inline void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double const* a, int lda, double const* b,
                 int ldb, double beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1.0, a, lda, b, ldb, beta, c, ldc);
}

/// How BLAS can read a matrix: without transposing it, or transposed.  If BLAS cannot read a matrix with these strides,
/// `fits` is false.
struct blas_layout {
  CBLAS_TRANSPOSE transpose = CblasNoTrans;
  int leading = 1;
  bool fits = false;

  template <class T>
  explicit blas_layout(matrix<T> m) {
    auto const rows = m.extent(0), columns = m.extent(1), down = m.stride(0), right = m.stride(1);
    constexpr index_t limit = 0x7fffffff;
    if ((right == 1 || columns == 1) && down >= columns && std::max({rows, columns, down}) <= limit)
      *this = {CblasNoTrans, static_cast<int>(std::max<index_t>(down, 1)), true};
    else if ((down == 1 || rows == 1) && right >= rows && std::max({rows, columns, right}) <= limit)
      *this = {CblasTrans, static_cast<int>(std::max<index_t>(right, 1)), true};
  }

 private:
  blas_layout(CBLAS_TRANSPOSE t, int l, bool f) : transpose(t), leading(l), fits(f) {}
};

}  // namespace detail

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
