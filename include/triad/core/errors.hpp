// What is thrown when data or a file, not the program, is at fault.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace triad {

/// The message names the file, the line or offset, what was expected, what was found, and what to do.
struct data_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace triad
