// A GPU that is there while the processor computes, told once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace triad::programs {

/// A line for people, or nothing.  was_chosen: --backend was given.  driver: what there is where NVIDIA's driver runs.
inline std::string unused_gpu(std::string const& backend, bool was_chosen,
                              std::filesystem::path const& driver = "/dev/nvidiactl") {
  std::error_code none;
  if (was_chosen || backend == "cuda" || !std::filesystem::exists(driver, none)) return {};
  return "the processor computes, and there is an NVIDIA GPU here: --backend cuda takes it, or says why this program "
         "cannot\n";
}

}  // namespace triad::programs
