// Exceptions for faults of data, files and training runs; faults of the program are contract violations.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace triad {

/// The message names the file, the line or offset, what was expected, what was found, and what to do.
struct data_error : std::runtime_error {
  explicit data_error(std::string what) : std::runtime_error(without_zeros(std::move(what))) {}

 private:
  /// what() would end at a zero byte that the message quotes.
  static std::string without_zeros(std::string text) {
    std::replace(text.begin(), text.end(), '\0', '?');
    return text;
  }
};

/// Thrown where training failed; the message says where, and what to try.
struct training_failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace triad
