// The library's version.  CMake reads the version from this header.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace triad {

inline constexpr char version[] = "0.2.0";

}  // namespace triad
