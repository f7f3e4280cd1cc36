// Counts every allocation of a program. Exactly one of the program's source files must include this file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#include "tests/allocation_count.hpp"

namespace triad::test {
inline void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  void* const p =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(bytes ? bytes : 1)
          : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment + (bytes ? 0 : alignment));
  if (!p) throw std::bad_alloc();
  return p;
}
[[gnu::noinline]] inline void release(void* p) noexcept {
  std::free(p);
}  // so that no compiler warns about malloc behind new
}  // namespace triad::test

void* operator new(std::size_t bytes) { return triad::test::counted(bytes, 1); }
void* operator new[](std::size_t bytes) { return triad::test::counted(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t a) {
  return triad::test::counted(bytes, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t bytes, std::align_val_t a) {
  return triad::test::counted(bytes, static_cast<std::size_t>(a));
}
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept { return triad::test::counted(bytes, 1); }
void* operator new[](std::size_t bytes, std::nothrow_t const&) noexcept { return triad::test::counted(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t a, std::nothrow_t const&) noexcept {
  try {
    return triad::test::counted(bytes, static_cast<std::size_t>(a));
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}
void operator delete(void* p) noexcept { triad::test::release(p); }
void operator delete[](void* p) noexcept { triad::test::release(p); }
void operator delete(void* p, std::size_t) noexcept { triad::test::release(p); }
void operator delete[](void* p, std::size_t) noexcept { triad::test::release(p); }
void operator delete(void* p, std::align_val_t) noexcept { triad::test::release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { triad::test::release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { triad::test::release(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { triad::test::release(p); }
