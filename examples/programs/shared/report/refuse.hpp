// Throws an error with a formatted message about data, files or options.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <utility>

#include "triad/core/errors.hpp"

namespace triad::programs {

/// Throws a data_error whose message is formatted as by fmt::format.
template <class... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> text, Values&&... values) {
  throw data_error(fmt::format(text, std::forward<Values>(values)...));
}

}  // namespace triad::programs
