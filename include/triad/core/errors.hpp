// Exceptions for errors in data, files and training runs.  If a program misuses the library, functions throw
// contract_violation (core/contracts.hpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace triad {

/// Thrown if data or a file is wrong.  The message names the file, the line or offset, what was expected, what was
/// found, and what to do.
struct data_error : std::runtime_error {
  explicit data_error(std::string what) : std::runtime_error(without_zeros(std::move(what))) {}

 private:
  /// Replaces zero bytes, because the text of what() would end at the first zero byte.
  static std::string without_zeros(std::string text) {
    std::replace(text.begin(), text.end(), '\0', '?');
    return text;
  }
};

/// Thrown if training fails.  The message says where the training failed, and what to try.
struct training_failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace triad
