// Fibers: one thread of the host switches between their stacks. ASan and TSan are informed if they are linked.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#if !defined(__x86_64__)
#define TRIAD_FIBERS_UCONTEXT  // 30 times slower: each switch is a system call
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

  /// Makes this the fiber of the running code: the program itself.
  void adopt();
  /// Gives this fiber a stack if it has none; entry() starts at the first switch to it. entry() must not return.
  void prepare(int number, void (*entry)());
  bool prepared() const { return prepared_; }
  /// Abandons the contents of the stack, so that the fiber starts again.
  void abandon();

  /// Leaves `from`, which is running, and continues `to`.
  static void change(fiber& from, fiber& to);
  /// Must be the first call in an entry().
  static void entered();

  int thread = 0;  // index of the thread that the fiber runs

 private:
  static void arrive(fiber* here);

  char* memory_ = nullptr;  // guard page, then stack
  char* bottom_ = nullptr;  // lowest address
  std::size_t size_ = 0;
  bool prepared_ = false;
  void* fake_stack_ = nullptr;  // ASan's
  void* context_ = nullptr;     // TSan's
#if defined(TRIAD_FIBERS_UCONTEXT)
  ucontext_t at_;
#else
  void* at_ = nullptr;  // stack pointer; the saved registers are below it
#endif
};

// Whether TSan is linked. If it is, it must be told which fiber waited for which.
bool race_detection();
void release(void* tag);
void acquire(void* tag);

}  // namespace triad::cuda_on_host
