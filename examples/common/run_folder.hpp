// The folder of a run: made before anything is computed for it, and read where a run is named.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "triad/core/errors.hpp"

namespace triad::examples {

/// `inside`: a folder of its own below `out`, or none.
inline void make_folder(std::string const& out, std::string const& inside = {}) {
  std::error_code failure;
  std::filesystem::create_directories(inside.empty() ? out : out + "/" + inside, failure);
  if (failure) throw data_error("cannot make the folder " + out + ": " + failure.message() + "; give another with --out");
}

/// The checkpoint of a run, which is named by its folder or by the file itself.
inline std::string checkpoint_of(std::string const& run) {
  std::error_code none;
  return std::filesystem::is_directory(run, none) ? run + "/model.safetensors" : run;
}

}  // namespace triad::examples
