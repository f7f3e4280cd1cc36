// The library's version.  CMake reads this header, so the package always has the same version.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace triad {

inline constexpr char version[] = "0.2.0";

}  // namespace triad
