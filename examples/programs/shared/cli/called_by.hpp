// Returns the name under which a program was called. The program's older name may be a link to the program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace triad::programs {

/// Returns `older` if the file name in argv[0] is `older`. Otherwise returns `name`.
inline std::string called_by(int argc, char const* const* argv, std::string const& name, std::string const& older) {
  return argc > 0 && std::filesystem::path(argv[0]).filename() == older ? older : name;
}

}  // namespace triad::programs
