// Whether what a program printed arrived.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>

#include "triad/core/errors.hpp"

namespace triad::examples {

/// Throws data_error where it did not, as on a full disk.
inline void expect_all_printed() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) throw data_error("the output could not be written, not all of it is there: is the disk full?");
}

}  // namespace triad::examples
