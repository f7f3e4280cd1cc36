// Fibers: one thread of the host switches between several stacks. Each switch is reported to ASan or TSan, if it is
// linked.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#if !defined(__x86_64__)
#define TRIAD_FIBERS_UCONTEXT  // 30 times slower, because each switch is a system call
#endif
#if defined(TRIAD_FIBERS_UCONTEXT)
#include <ucontext.h>
#endif

namespace triad::cuda_on_host {

class fiber {
 public:
  fiber() = default;
  fiber(fiber const&) = delete;
  fiber& operator=(fiber const&) = delete;
  ~fiber();

  /// Makes this object the fiber of the code that is now running, which is the program itself.
  void adopt();
  /// Makes a stack for this fiber if it has none. entry() starts at the first switch to the fiber, and must not return.
  void prepare(int number, void (*entry)());
  bool prepared() const { return prepared_; }
  /// Discards the contents of the stack, so that the fiber starts again from the beginning.
  void abandon();

  /// Leaves `from`, which must be running, and continues `to`.
  static void change(fiber& from, fiber& to);
  /// Must be the first call in entry().
  static void entered();

  int thread = 0;  // index of the thread that the fiber runs

 private:
  static void arrive(fiber* here);

  char* memory_ = nullptr;  // a guard page, then the stack
  char* bottom_ = nullptr;  // lowest address
  std::size_t size_ = 0;
  bool prepared_ = false;
  void* fake_stack_ = nullptr;  // ASan's handle of this stack
  void* context_ = nullptr;     // TSan's handle of this fiber
#if defined(TRIAD_FIBERS_UCONTEXT)
  ucontext_t at_;
#else
  void* at_ = nullptr;  // stack pointer; the saved registers are stored below it
#endif
};

// Returns whether TSan is linked. If so, the caller must report to TSan which fiber waited for which.
bool race_detection();
void release(void* tag);
void acquire(void* tag);

}  // namespace triad::cuda_on_host
