// Functions and macros that check the preconditions of public operations and throw exceptions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if __cplusplus < 202002L
#error "triad needs C++20: compile with -std=c++20; target_link_libraries(... triad::triad) in CMake says so"
// The header below does not exist.  The compiler stops here, so that it shows the error above and not a thousand other
// errors.
#include <stop_here_because_triad_needs_cxx20>
#endif

#include <stdexcept>
#include <string>

namespace triad {

/// Thrown if a program misuses the library.  The message names the operation and its precondition.
struct contract_violation : std::logic_error {
  using std::logic_error::logic_error;
};

/// Throws a contract_violation whose message ends with the file and the line.  TRIAD_EXPECTS calls this function.
[[noreturn]] inline void violated(std::string const& message, char const* file, int line) {
  throw contract_violation(message + " (" + file + ":" + std::to_string(line) + ")");
}

namespace detail {
[[noreturn]] inline void extent_violated(char const* operation, char const* what, long long got, long long want,
                                         char const* file, int line) {
  violated(std::string(operation) + ": " + std::to_string(got) + " " + what + ", expected " + std::to_string(want),
           file, line);
}
[[noreturn]] inline void heads_violated(char const* operation, long long width, long long heads, char const* file,
                                        int line) {
  violated(std::string(operation) + ": heads are " + std::to_string(heads) + " and width is " + std::to_string(width) +
               ", expected 1 or more heads that divide the width",
           file, line);
}
}  // namespace detail

/// Throws "OPERATION: GOT WHAT, expected WANT", with the file and line of the call, if the numbers differ.
constexpr void expect_extent(char const* operation, char const* what, long long got, long long want,
                             char const* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (got != want) detail::extent_violated(operation, what, got, want, file, line);
}

/// Throws unless both numbers are at least 1 and `heads` divides `width`.
constexpr void expect_heads(char const* operation, long long width, long long heads,
                            char const* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!(heads > 0 && width > 0 && width % heads == 0)) detail::heads_violated(operation, width, heads, file, line);
}

/// Returns the error message for a row whose target is not a number below `classes`.
inline std::string target_outside(char const* operation, long long row, long long target, long long classes) {
  return std::string(operation) + ": the target of row " + std::to_string(row) + " is " + std::to_string(target) +
         ", expected a class below " + std::to_string(classes);
}

}  // namespace triad

/// Throws contract_violation if `condition` is false.  `message` is evaluated only in this case.  A public operation
/// checks each precondition once per call, outside of loops.
#define TRIAD_EXPECTS(condition, message) ((condition) ? void(0) : ::triad::violated(message, __FILE__, __LINE__))

/// Marks functions that CUDA kernels call.  The macro is empty for a host compiler.
#if defined(__CUDACC__)
#define TRIAD_HOST_DEVICE __host__ __device__
#else
#define TRIAD_HOST_DEVICE
#endif
