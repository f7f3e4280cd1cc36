// Tests which vectors this processor has, and its rate of multiply-adds.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/kernels/processor.hpp"

#include "tests/catch.hpp"

namespace cpu_processor_tests {

using namespace triad::cpu;

TEST_CASE("a processor has at least the vectors that the tests were compiled for") {
#if defined(__AVX512F__)
  CHECK(processor_vectors() == vector_set::avx512);
#elif defined(__AVX2__) && defined(__FMA__)
  CHECK(processor_vectors() >= vector_set::avx2);
#endif
  CHECK(processor_vectors() >= vector_set::base);
}

TEST_CASE("multiply-adds are counted by lane of the widest vectors") {
  double const count = run_multiply_adds();
  double const lanes = processor_vectors() == vector_set::avx512 ? 16
                       : processor_vectors() == vector_set::avx2 ? 8
                                                                 : triad::simd::lanes;
  CHECK(count == lanes * detail::chains * detail::repeats);
  CHECK(multiply_adds_a_second() > 0);
}

}  // namespace cpu_processor_tests
