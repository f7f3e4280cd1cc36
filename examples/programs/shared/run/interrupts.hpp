// Handles Ctrl-C and SIGTERM during training: the current update is completed, and then the run is saved.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace triad::programs {

inline volatile std::sig_atomic_t interrupted = 0;  // the signal that was received; 0: none

/// While an object of this type exists, SIGINT or SIGTERM ends a run after the current update.  A second signal ends
/// the program at once.
struct interrupt_guard {
  interrupt_guard() { on_signals(note); }
  interrupt_guard(interrupt_guard const&) = delete;
  interrupt_guard& operator=(interrupt_guard const&) = delete;
  ~interrupt_guard() { on_signals(SIG_DFL); }

 private:
  static void on_signals(void (*action)(int)) {
    std::signal(SIGINT, action);
    std::signal(SIGTERM, action);
  }
  static void note(int signal) {
    interrupted = signal;
    on_signals(SIG_DFL);
  }
};

/// Returns the exit status of a program that a signal has ended.  As in shells, it is 130 after Ctrl-C, and 143 after
/// SIGTERM.
inline int interrupted_status() { return 128 + interrupted; }

}  // namespace triad::programs
