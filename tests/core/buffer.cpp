// Tests that a buffer starts with zeros and has one owner, and that the error for a failed allocation has the number of
// bytes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/buffer.hpp"

#include <cstdint>
#include <new>
#include <stdexcept>
#include <utility>

#include "tests/catch.hpp"

namespace core_buffer_tests {

using namespace triad;
using test::contains;

// Memory that counts allocations and releases, and that can throw when it should be set to zero.
struct counted_memory : host_memory {
  int* held;
  bool broken = false;
  explicit counted_memory(int* h = nullptr, bool b = false) : held(h), broken(b) {}
  void* allocate(std::size_t bytes) {
    ++*held;
    return host_memory::allocate(bytes);
  }
  void deallocate(void* p) noexcept {
    --*held;
    host_memory::deallocate(p);
  }
  void zero(void* p, std::size_t bytes) {
    if (broken) throw std::runtime_error("no zeros here");
    host_memory::zero(p, bytes);
  }
};

TEST_CASE("a buffer begins as zero and changes hands without copying") {
  buffer<> memory(1000);
  auto* const bytes = static_cast<unsigned char*>(memory.data());
  for (int i = 0; i < 1000; ++i) REQUIRE(bytes[i] == 0);
  buffer<> const other(std::move(memory));
  CHECK(other.data() == bytes);
  CHECK(memory.data() == nullptr);
}

TEST_CASE("every block is given back to where it came from, once, also where it could not be zeroed") {
  int left = 0, right = 0;
  {
    buffer<counted_memory> a(10, counted_memory(&left)), b(20, counted_memory(&right));
    CHECK((left == 1 && right == 1));
    a = std::move(b);
    CHECK(a.bytes() == 20);
    CHECK(a.memory().held == &right);
    buffer<counted_memory> const c(std::move(a));
    CHECK((left == 1 && right == 1));
  }
  CHECK((left == 0 && right == 0));
  CHECK_THROWS_AS(buffer<counted_memory>(10, counted_memory(&left, true)), std::runtime_error);
  CHECK(left == 0);
}

TEST_CASE("a block begins on a page, and an empty one has an arena that holds nothing") {
  CHECK(reinterpret_cast<std::uintptr_t>(buffer<>(5).data()) % 4096 == 0);
  buffer<> const none(0);
  auto place = none.place();
  CHECK_FALSE(place.measuring());
  CHECK_THROWS_AS(place.make<vec<float>>(0), arena_too_small);  // the memory is not even enough for the slack
}

TEST_CASE("memory that the machine does not have is refused with the bytes") {
  CHECK_THROWS_WITH(buffer<>(std::size_t{1} << 60), contains("cannot allocate 1152921504606846976 bytes"));
  CHECK_THROWS_AS(buffer<>(std::size_t{1} << 60), std::bad_alloc);
}

}  // namespace core_buffer_tests
