// Fibers: stacks that one thread of the host changes between, known to ASan and TSan where those are linked.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#if !defined(__x86_64__)
#define TRIAD_FIBERS_UCONTEXT  // 30 times slower: each change is a system call
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

  /// This becomes the fiber that runs already: the program itself.
  void adopt();
  /// Sees to it that this has a stack, on which entry() begins at the first change.  Never ends: entry does not return.
  void prepare(int number, void (*entry)());
  bool prepared() const { return prepared_; }
  /// Whatever is on the stack is given up: it begins anew.
  void abandon();

  /// Leaves `from`, which runs, and goes on where `to` left off.
  static void change(fiber& from, fiber& to);
  /// The first thing in an entry().
  static void entered();

  int thread = 0;  // which the fiber runs

 private:
  static void arrive(fiber* here);

  char* memory_ = nullptr;  // guard page, stack
  char* bottom_ = nullptr;  // lowest address
  std::size_t size_ = 0;
  bool prepared_ = false;
  void* fake_stack_ = nullptr;  // ASan's
  void* context_ = nullptr;     // TSan's
#if defined(TRIAD_FIBERS_UCONTEXT)
  ucontext_t at_;
#else
  void* at_ = nullptr;  // stack pointer, the registers lie below
#endif
};

// TSan's view of who waited for whom; nothing where it is not linked.
bool race_detection();
void release(void* tag);
void acquire(void* tag);

}  // namespace triad::cuda_on_host
