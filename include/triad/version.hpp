// The library's version.  CMake reads this line, so the package and the header cannot disagree.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace triad {

inline constexpr char version[] = "0.2.0";

}  // namespace triad
