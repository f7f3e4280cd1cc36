// Tests which vectors the kernels of a BLAS use, and the advice if the kernels are for an older processor.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/products/speed.hpp"

#include <string>

#include "tests/catch.hpp"

namespace cpu_speed_tests {

using namespace triad::cpu;

TEST_CASE("kernels' names tell their vectors, in the spelling of either build of OpenBLAS") {
  CHECK(vectors_of_kernels("SkylakeX") == vector_set::avx512);
  CHECK(vectors_of_kernels("COOPERLAKE") == vector_set::avx512);
  CHECK(vectors_of_kernels("Zen") == vector_set::avx2);
  CHECK(vectors_of_kernels("HASWELL") == vector_set::avx2);
  CHECK(vectors_of_kernels("Sandybridge") == vector_set::base);
  CHECK(vectors_of_kernels("Nehalem") == vector_set::base);
}

TEST_CASE("kernels for an older processor are told with the remedy") {
  products_report report{.blas = {"OpenBLAS 0.3.21", "Haswell"},
                         .is_engine = false,
                         .factors = arithmetic::float32,
                         .rate = 57.5e9,
                         .peak = 131e9,
                         .processor = vector_set::avx512,
                         .forced = {}};
  CHECK(report.line() == "products by OpenBLAS 0.3.21, Haswell kernels: 115 of 262 GFLOP/s a core");
  CHECK(report.advice() ==
        "OpenBLAS 0.3.21: its Haswell kernels use AVX2 where this processor has AVX-512, at 115 of 262 GFLOP/s a core; "
        "install a newer OpenBLAS, or set OPENBLAS_CORETYPE to a newer processor that it knows");
  report.forced = "Haswell";
  CHECK(report.advice().find("OPENBLAS_CORETYPE=Haswell in the environment chose them: unset it") != std::string::npos);

  report.processor = vector_set::avx2;
  CHECK(report.advice().empty());
  report.processor = vector_set::avx512;
  report.blas = {"a BLAS that does not name its kernels", ""};
  CHECK(report.advice().empty());
  CHECK(report.line() == "products by a BLAS that does not name its kernels: 115 of 262 GFLOP/s a core");
}

TEST_CASE("both rates are measured") {
  auto const report = report_products(backend(1));
  CHECK(report.rate > 0);
  CHECK(report.peak > 0);
  CHECK(report.processor == processor_vectors());
}

}  // namespace cpu_speed_tests
