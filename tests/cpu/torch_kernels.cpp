// Tests the kernels of examples/python on the host.  They are compiled as in the package.
// SPDX-License-Identifier: Apache-2.0
#define TRIAD_TORCH_INSTRUCTIONS "of a test"
#include "tests/torch_kernels.hpp"

#include <cstring>
#include <list>
#include <thread>

#include "../../examples/python/src/kernels.cpp"

namespace cpu_torch_kernels_tests {

struct own_memory {
  std::list<std::vector<std::byte>> all;
  void* put(void const* values, std::size_t bytes) {
    all.emplace_back(bytes + 64);
    if (bytes > 0) std::memcpy(all.back().data(), values, bytes);
    return all.back().data();
  }
  void get(void* values, void const* there, std::size_t bytes) const {
    if (bytes > 0) std::memcpy(values, there, bytes);
  }
};

void lend(int workers, void (*work)(void*, int), void* context) {
  std::vector<std::thread> others;
  for (int w = 1; w < workers; ++w) others.emplace_back(work, context, w);
  work(context, 0);
  for (auto& other : others) other.join();
}

TEST_CASE("the kernels that Python calls are the reference's, on threads of their own and on borrowed ones") {
  for (auto* const borrowed : {static_cast<decltype(&lend)>(nullptr), &lend}) {
    own_memory memory;
    triad_place place{};
    place.threads = 2;
    place.borrowed = borrowed;
    triad::test::check_torch_kernels(*triad_kernels_table(), place, memory);
  }
}

TEST_CASE("roles of a seed are those of the library, and given ones must be orthonormal") {
  triad::tree_positions<> const positions(2, 3);
  std::vector<double> roles(7 * 9), shifts(2 * 9 * 9), again(2 * 9 * 9);
  char message[256] = "";
  REQUIRE(triad_make_roles(2, 3, 9, 11, roles.data(), shifts.data(), message, sizeof message) == 0);
  std::vector<double> expected(7 * 9), expected_shifts(2 * 9 * 9);
  triad::make_random(positions, 11, maps(positions, 9, expected.data(), expected_shifts.data()));
  CHECK(roles == expected);
  CHECK(shifts == expected_shifts);
  auto const make = [&](std::int64_t type) {
    return triad_make_shifts(2, 3, 9, type, roles.data(), again.data(), message, sizeof message);
  };
  REQUIRE(make(triad_float64) == 0);
  CHECK(again == shifts);
  roles[0] += 1e-7;  // this difference is too small for a float
  CHECK(make(triad_float32) == 0);
  CHECK(make(triad_float64) == 1);
  CHECK(std::string(message).find("not orthonormal") != std::string::npos);
  roles[0] += 1;
  CHECK(make(triad_float32) == 1);
  CHECK(std::string(message).find("within 1e-05") != std::string::npos);
  CHECK(std::string(triad_kernels_description()) == std::string(triad::version) + " of a test");
}

}  // namespace cpu_torch_kernels_tests
