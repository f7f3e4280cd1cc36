// Checks every golden file of a folder on the chosen backends and prints the results.
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
  std::vector<std::string> kinds{};  // empty: all kinds
  std::vector<std::string> backends{"reference", "cpu"};
  std::string dtype{};  // "f32" or "f64"; empty: both; a file without a type is always checked
  bool allow_unbuilt = false;
  std::vector<std::string> planned{};  // more known kinds, in addition to those of kinds.hpp
};

struct totals {
  int files = 0, passed = 0, failed = 0, unbuilt = 0;
};

/// Returns the backends of this build that this processor can run, in the order in which they run.
std::vector<std::string> const& built_backends();
/// How a backend rounds the factors of products, by its name.
rounding rounding_of(std::string const& backend);

/// Checks the files. A file counts as failed if it fails on any backend. Backends that round factors check only the
/// files of float32.
totals run(options const&, std::ostream&);

/// Returns whether at least one file was checked and none has failed.
bool succeeded(totals const&, options const&);

// Each function checks one file on one backend. Each is defined in its own source file.
void check_on_reference(golden_file const&, report&);
void check_on_cpu(golden_file const&, report&);             // in builds that have a BLAS
void check_on_cpu_in_bf16(golden_file const&, report&);     // the same; products by plain loops
void check_on_onednn_in_bf16(golden_file const&, report&);  // in builds that have oneDNN
bool onednn_computes_bf16();                                // on this processor
// These are "cuda" in builds by nvcc, and "cuda-on-host" in builds with the stand-in for a GPU. tf32x3 is not among
// them, because it computes products as small as those of golden files in float32.
void check_on_cuda(golden_file const&, report&);
void check_on_cuda_in_double(golden_file const&, report&);
void check_on_cuda_in_tf32(golden_file const&, report&);
void check_on_cuda_in_bf16(golden_file const&, report&);
void check_on_cuda_in_f16(golden_file const&, report&);

}  // namespace triad::golden
