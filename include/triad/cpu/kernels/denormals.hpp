// Treats denormal numbers as zero during the lifetime of an object.
// SPDX-License-Identifier: Apache-2.0
//
// An operation on a denormal number can take a hundred cycles or more, and training produces millions of denormal
// numbers.  Examples are the squares of small gradients, and Adam's first moment of a parameter that no longer gets a
// gradient.  This moment becomes a tenth smaller at every update, until rounding keeps it among the smallest denormals.
// Adam adds epsilon to the numbers that are computed from denormals, so denormals change no result that matters.
#pragma once

#include <cstdint>

#include "triad/cpu/kernels/compiled_for.hpp"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

/// Sets denormal operands and results to zero on this thread until the end of the scope.  The other settings of the
/// processor do not change, and the floating-point exceptions that the processor has recorded stay recorded.  A
/// processor that cannot set denormals to zero computes as before.
class without_denormals {
 public:
  without_denormals() : before_(control() & flushing) { set(control() | flushing); }
  ~without_denormals() { set((control() & ~flushing) | before_); }
  without_denormals(without_denormals const&) = delete;
  without_denormals& operator=(without_denormals const&) = delete;

  /// Whether this library can make the processor set denormals to zero.
  static constexpr bool possible() { return flushing != 0; }

 private:
#if defined(__SSE__)
  using word = std::uint32_t;
  static constexpr word flushing = 0x8040;  // the bits "flush to zero" and "denormals are zero"
  static word control() { return _mm_getcsr(); }
  static void set(word w) { _mm_setcsr(w); }
#elif defined(__aarch64__)
  using word = std::uint64_t;
  static constexpr word flushing = word{1} << 24;
  static word control() {
    word w;
    asm volatile("mrs %0, fpcr" : "=r"(w));
    return w;
  }
  static void set(word w) { asm volatile("msr fpcr, %0" : : "r"(w)); }
#else
  using word = std::uint32_t;
  static constexpr word flushing = 0;
  static word control() { return 0; }
  static void set(word) {}
#endif

  word before_;
};

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
