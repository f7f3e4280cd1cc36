// Reads a memory size on a command line, and finds the largest batch that fits into it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>

#include "shared/report/refuse.hpp"
#include "triad/core/mdspan.hpp"

namespace triad::programs {

namespace detail {
struct memory_unit {
  char const* name;
  double bytes;
};
inline constexpr memory_unit memory_units[] = {{"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
}  // namespace detail

/// Returns the number of bytes of a size such as "900MiB" or "1.5GiB".  If the text is not a size, throws a data_error
/// that names `option`.
inline std::size_t bytes_of(std::string const& text, std::string const& option) {
  char* end = nullptr;
  double const value = std::strtod(text.c_str(), &end);
  bool const plain = text.find_first_not_of("0123456789.") == static_cast<std::size_t>(end - text.c_str());
  for (auto const& unit : detail::memory_units)
    if (plain && value > 0 && std::string(end) == unit.name && value * unit.bytes < 0x1p62)
      return static_cast<std::size_t>(value * unit.bytes);
  refuse("{} {}: a size is a number above 0 and KiB, MiB, GiB or TiB right after it, as 900MiB or 1.5GiB", option,
         text);
}

/// Returns a size as a text.  The unit is the largest in which the number is at least 10, or KiB if there is none.  The
/// number is rounded up, so bytes_of(told_size(b)) >= b.
inline std::string told_size(std::size_t bytes) {
  auto unit = detail::memory_units;
  while (unit + 1 < std::end(detail::memory_units) && static_cast<double>(bytes) >= 10 * unit[1].bytes) ++unit;
  char text[64];
  std::snprintf(text, sizeof text, "%.0f%s", std::ceil(static_cast<double>(bytes) / unit->bytes), unit->name);
  return text;
}

/// Returns the largest `size` in [1, most] with bytes(size) <= limit.  Returns 0 if bytes(1) > limit. bytes(size) must
/// not decrease as `size` grows.
template <class Bytes>
index_t largest_within(std::size_t limit, index_t most, Bytes const& bytes) {
  index_t fits = 0, too_large = most + 1;
  for (index_t size = most; fits + 1 < too_large; size = fits + (too_large - fits) / 2)
    (bytes(size) <= limit ? fits : too_large) = size;
  return fits;
}

/// Calls f(ex) with a backend that plans its memory for 16 threads, on every machine.  The planned memory decides into
/// which parts a batch is divided, and the parts decide which random numbers are drawn and how sums are rounded.  So
/// the plan must not depend on --threads.  Each thread has its own scratch memory, so more than 16 threads need
/// somewhat more memory than planned.  The memory size that a program prints includes it.
template <class Ex, class F>
auto planning_alike(Ex& ex, F&& f) {
  if constexpr (requires { ex.threads; }) {
    Ex alike = ex;
    alike.threads = 16;
    return std::forward<F>(f)(alike);
  } else {
    return std::forward<F>(f)(ex);
  }
}

}  // namespace triad::programs
