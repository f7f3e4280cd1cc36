// Tests which vectors and which instructions for bfloat16 this processor has, and its rates of multiply-adds.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/kernels/processor.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <thread>

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
  double const once = processor_vectors() == vector_set::avx512 ? 16.0 * detail::wide_chains
                      : processor_vectors() == vector_set::avx2 ? 8.0 * detail::chains
                                                                : 1.0 * triad::simd::lanes * detail::chains;
  CHECK(count == once * detail::repeats);
  CHECK(multiply_adds_a_second() > 0);
}

/// Whether the kernel lists `flag` among the flags of the first processor.
bool kernel_lists(std::string const& flag) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;)
      if (word == flag) return true;
    return false;
  }
  return false;
}

TEST_CASE("the instructions for bfloat16 are those that the kernel lists") {
#if defined(__AVX512BF16__)
  CHECK(has_bf16_vectors());
#endif
#if defined(__x86_64__) && defined(__linux__)
  CHECK(has_bf16_vectors() == kernel_lists("avx512_bf16"));
  CHECK((!may_use_tiles() || kernel_lists("amx_bf16")));
#endif
  if (may_use_tiles()) CHECK(processor_bf16() == bf16_set::tiles);
  if (processor_bf16() == bf16_set::vectors) CHECK(has_bf16_vectors());
  CHECK(has_fast_bf16() == (processor_bf16() != bf16_set::none));
}

TEST_CASE("multiply-adds of bfloat16 are counted by instruction, and run on every thread") {
  double const once = processor_bf16() == bf16_set::tiles ? 16.0 * 16 * 32 * detail::tile_chains * detail::tile_repeats
                      : processor_bf16() == bf16_set::vectors ? 32.0 * detail::wide_chains * detail::repeats
                                                              : 0;
  double of_thread = -1;
  std::thread([&] { of_thread = run_bf16_multiply_adds(); }).join();
  CHECK(of_thread == once);
  CHECK(run_bf16_multiply_adds() == once);
}

TEST_CASE("products of bfloat16 are faster than products of float32 where the processor says so") {
  if (has_fast_bf16())
    CHECK(bf16_multiply_adds_a_second() > 1.2 * multiply_adds_a_second());
  else
    CHECK(bf16_multiply_adds_a_second() == 0);
}

}  // namespace cpu_processor_tests
