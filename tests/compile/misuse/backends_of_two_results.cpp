// Passes a function that returns a number on one backend and a text on another.
// expect: with_backend: the function gives another type for another backend
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/with_backend.hpp"
#include "triad/reference/backend.hpp"

struct other : triad::reference::backend {
  static constexpr char const* name = "other";
};
struct say {
  int operator()(triad::reference::backend&) const { return 1; }
#ifdef MISUSE
  char const* operator()(other&) const { return "one"; }
#else
  int operator()(other&) const { return 1; }
#endif
};

void choose() { triad::with_backend<triad::reference::backend, other>("other", say()); }
