// Tests the number of threads of the cpu backend, and that the cpu backend satisfies the same concept as the reference.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/backend.hpp"

#include <cstdlib>

#include "tests/catch.hpp"

namespace cpu_backend_tests {

using namespace triad;

static_assert(backend<cpu::backend> && std::is_base_of_v<reference::backend, cpu::backend>);
static_assert(std::is_same_v<cpu::backend::memory, host_memory>);

TEST_CASE("the threads asked for with OMP_NUM_THREADS, or one for each processor, are the default") {
  char const* const wanted = std::getenv("OMP_NUM_THREADS");
  int const number = wanted ? std::atoi(wanted) : 0;
  CHECK(cpu::backend().threads == (number > 0 ? number : cpu::detail::processors()));
  CHECK(cpu::backend(5).threads == 5);
}

TEST_CASE("impossible numbers of threads are refused, and the most is taken") {
  CHECK(cpu::backend(cpu::backend::most_threads).threads == cpu::backend::most_threads);
  for (int bad : {-1, cpu::backend::most_threads + 1})
    CHECK_THROWS_WITH(cpu::backend(bad),
                      test::contains("cpu::backend: threads are " + std::to_string(bad) + ", expected 1 to " +
                                     std::to_string(cpu::backend::most_threads)));
}

}  // namespace cpu_backend_tests
