// Checks every golden file of a folder on the chosen backends and prints what it found.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "report.hpp"

namespace triad::golden {

struct options {
  std::filesystem::path folder{};
  std::vector<std::string> kinds{};  // none: all
  std::vector<std::string> backends{"reference", "cpu"};
  std::string dtype{};  // "f32", "f64", or both; files that have none always count
  bool allow_unbuilt = false;
  std::vector<std::string> planned{};  // kinds that are known in addition to those of kinds.hpp
};

struct totals {
  int files = 0, passed = 0, failed = 0, unbuilt = 0;
};

/// The backends of this build, in the order in which they are asked.
std::vector<std::string> const& built_backends();

/// A file whose backends do not all agree with it is one that failed.
totals run(options const&, std::ostream&);

/// Something was checked, and nothing failed.
bool succeeded(totals const&, options const&);

// One file of a kind that is built, on one backend; each is a translation unit of its own.
void check_on_reference(golden_file const&, report&);
void check_on_cpu(golden_file const&, report&);  // in builds that have a BLAS
void check_on_cuda(golden_file const&,
                   report&);  // in builds by nvcc: "cuda"; in those with the stand-in for a GPU: "cuda-on-host"
void check_on_cuda_in_double(golden_file const&, report&);

}  // namespace triad::golden
