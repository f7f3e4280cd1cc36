// Memory that starts as NaN and has guard bytes on both sides. It must not be built with -fsanitize=thread (see
// README.md).
// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_on_host/guarded.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

extern "C" {
__attribute__((weak)) void __asan_poison_memory_region(void const volatile* p, std::size_t size);
__attribute__((weak)) void __asan_unpoison_memory_region(void const volatile* p, std::size_t size);
}

namespace triad::cuda_on_host {

namespace {

constexpr std::size_t guard = 256;
constexpr unsigned char poison = 0xFF;  // the guards have it too, so a read of a guard returns NaN

bool all_poison(unsigned char const* p) {
  for (std::size_t i = 0; i < guard; ++i)
    if (p[i] != poison) return false;
  return true;
}

}  // namespace

void* allocate_guarded(std::size_t bytes) {
  void* p = nullptr;
  if (bytes > bytes + 2 * guard || posix_memalign(&p, guard, bytes + 2 * guard) != 0) throw std::bad_alloc();
  std::memset(p, poison, bytes + 2 * guard);
  auto* const first = static_cast<unsigned char*>(p) + guard;
  if (__asan_poison_memory_region != nullptr) {
    __asan_poison_memory_region(p, guard);
    __asan_poison_memory_region(first + bytes, guard);
  }
  return first;
}

bool guards_hold(void const* p, std::size_t bytes) {
  if (__asan_poison_memory_region != nullptr) return true;
  auto const* const first = static_cast<unsigned char const*>(p);
  return all_poison(first - guard) && all_poison(first + bytes);
}

void mend_guards(void* p, std::size_t bytes) {
  if (__asan_poison_memory_region != nullptr) return;
  std::memset(static_cast<unsigned char*>(p) - guard, poison, guard);
  std::memset(static_cast<unsigned char*>(p) + bytes, poison, guard);
}

void free_guarded(void* p, std::size_t bytes) noexcept {
  if (p == nullptr) return;
  auto* const begin = static_cast<unsigned char*>(p) - guard;
  if (__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(begin, bytes + 2 * guard);
  std::memset(begin, poison, bytes + 2 * guard);
  std::free(begin);
}

}  // namespace triad::cuda_on_host
