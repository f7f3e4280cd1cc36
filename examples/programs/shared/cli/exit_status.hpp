// What a program ends with.  docs/quickstart.md has the table; scripts and other programs go by it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace triad::programs {

/// A program that a signal ended has 128 and the signal's number (interrupts.hpp).
enum exit_status : int {
  all_well = 0,
  refused = 1,        // by the input, a file or the machine: told in one line
  misused = 2,        // an option that there is not, or a value that it does not take
  did_not_reach = 3,  // ran to its end, and says so: a model did not learn its task, a split's atoms are too far apart
};

}  // namespace triad::programs
