// The library's version.  CMake reads this header, so the version of the package is always equal to it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace triad {

inline constexpr char version[] = "0.2.0";

}  // namespace triad
