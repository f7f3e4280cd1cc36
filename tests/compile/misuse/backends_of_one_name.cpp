// Lists two backends with the same name. The second backend inherits the name of the first.
// expect: with_backend: two of these backends have one name
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/with_backend.hpp"
#include "triad/reference/backend.hpp"

struct other : triad::reference::backend {
#ifndef MISUSE
  static constexpr char const* name = "other";
#endif
};
struct say {
  template <class Ex>
  int operator()(Ex&) const {
    return 1;
  }
};

void choose() { triad::with_backend<triad::reference::backend, other>("reference", say()); }
