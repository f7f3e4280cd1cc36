// The name that a program is called by, where an older one is a link to it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace triad::programs {

/// `older` where that is the file's name in the command, argv[0]; else `name`.
inline std::string called_by(int argc, char const* const* argv, std::string const& name, std::string const& older) {
  return argc > 0 && std::filesystem::path(argv[0]).filename() == older ? older : name;
}

}  // namespace triad::programs
