// Where the libraries are that a program loads only when it needs them: in its own folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace triad::programs {

/// The path of `file` in the folder of the running program; whether it is there is not asked.
inline std::filesystem::path beside_program(std::string const& file) {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/exe", none).parent_path() / file;
}

}  // namespace triad::programs
