// Fibers: one thread of the host switches between several stacks. It must not be built with -fsanitize=thread (see
// README.md).
// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_on_host/fibers.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

// The sanitizers' functions for fibers. A function is null if its sanitizer is not linked.
extern "C" {
__attribute__((weak)) void __sanitizer_start_switch_fiber(void** fake_stack_save, void const* bottom, std::size_t size);
__attribute__((weak)) void __sanitizer_finish_switch_fiber(void* fake_stack_save, void const** bottom_left,
                                                           std::size_t* size_left);
__attribute__((weak)) void __asan_unpoison_memory_region(void const volatile* p, std::size_t size);
__attribute__((weak)) void* __tsan_get_current_fiber(void);
__attribute__((weak)) void* __tsan_create_fiber(unsigned flags);
__attribute__((weak)) void __tsan_destroy_fiber(void* context);
__attribute__((weak)) void __tsan_switch_to_fiber(void* context, unsigned flags);
__attribute__((weak)) void __tsan_acquire(void* tag);
__attribute__((weak)) void __tsan_release(void* tag);
}

#if !defined(TRIAD_FIBERS_UCONTEXT)
// Saves the registers that a called function must preserve, switches to the other stack, and restores the registers
// that were saved on it.
extern "C" void triad_change_stacks(void** leave, void* enter);
asm(R"(
.text
.globl triad_change_stacks
.hidden triad_change_stacks
.type triad_change_stacks, @function
triad_change_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size triad_change_stacks, .-triad_change_stacks
)");
#endif

namespace triad::cuda_on_host {

namespace {

constexpr std::size_t stack_bytes = 256 * 1024;  // address space: only used pages take memory

bool address_checks() { return __asan_unpoison_memory_region != nullptr && __sanitizer_start_switch_fiber != nullptr; }

fiber* left = nullptr;  // the fiber that the last switch left

}  // namespace

bool race_detection() { return __tsan_switch_to_fiber != nullptr; }
void release(void* tag) {
  if (__tsan_release != nullptr) __tsan_release(tag);
}
void acquire(void* tag) {
  if (__tsan_acquire != nullptr) __tsan_acquire(tag);
}

fiber::~fiber() {
  if (memory_ == nullptr) return;
  if (context_ != nullptr) __tsan_destroy_fiber(context_);
  munmap(memory_, stack_bytes);
}

void fiber::adopt() {
  if (race_detection()) context_ = __tsan_get_current_fiber();
}

void fiber::prepare(int number, void (*entry)()) {
  if (memory_ == nullptr) {
    void* const p = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<char*>(p);
    auto const guard = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    mprotect(memory_, guard, PROT_NONE);
    bottom_ = memory_ + guard;
    // If the distance between the tops of stacks were a number of pages, they would compete for the same cache lines.
    size_ = stack_bytes - guard - static_cast<std::size_t>(number % 32) * 128;
  }
  // Clears the marks that ASan has for earlier frames, before the first frame is written.
  if (address_checks()) __asan_unpoison_memory_region(memory_, stack_bytes);
  if (race_detection()) context_ = __tsan_create_fiber(0);
  fake_stack_ = nullptr;
#if defined(TRIAD_FIBERS_UCONTEXT)
  getcontext(&at_);
  at_.uc_stack.ss_sp = bottom_;
  at_.uc_stack.ss_size = size_;
  at_.uc_link = nullptr;
  makecontext(&at_, entry, 0);
#else
  auto* const top = reinterpret_cast<void**>((reinterpret_cast<std::uintptr_t>(bottom_) + size_) & ~std::uintptr_t{15});
  top[-1] = nullptr;  // entry has no caller
  top[-2] = reinterpret_cast<void*>(entry);
  for (int i = 3; i <= 8; ++i) top[-i] = nullptr;
  at_ = top - 8;
#endif
  prepared_ = true;
}

void fiber::abandon() {
  if (prepared_ && race_detection()) __tsan_destroy_fiber(context_);
  context_ = nullptr;
  prepared_ = false;
}

void fiber::change(fiber& from, fiber& to) {
  left = &from;
  if (address_checks()) __sanitizer_start_switch_fiber(&from.fake_stack_, to.bottom_, to.size_);
  // The flag 1 means that the switch is no synchronisation: no fiber has waited for another.
  if (race_detection()) __tsan_switch_to_fiber(to.context_, 1);
#if defined(TRIAD_FIBERS_UCONTEXT)
  swapcontext(&from.at_, &to.at_);
#else
  triad_change_stacks(&from.at_, to.at_);
#endif
  arrive(&from);
}

void fiber::entered() { arrive(nullptr); }

void fiber::arrive(fiber* here) {
  if (!address_checks()) return;
  void const* bottom = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(here != nullptr ? here->fake_stack_ : nullptr, &bottom, &size);
  if (left->memory_ == nullptr) {  // the program's own stack, whose bounds only ASan knows
    left->bottom_ = static_cast<char*>(const_cast<void*>(bottom));
    left->size_ = size;
  }
}

}  // namespace triad::cuda_on_host
