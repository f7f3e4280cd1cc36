// Detects Git LFS pointers.  A pointer is a short text.  A clone without Git LFS has pointers in place of large files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "triad/core/errors.hpp"

namespace triad {

/// The beginning of a pointer.  In a file, a version number follows.
inline constexpr std::string_view lfs_pointer_begin = "version https://git-lfs.github.com/spec/";

/// Throws data_error if the file is a pointer.  `text` is the beginning of the file.
inline void refuse_lfs_pointer(std::string const& file, std::string_view text) {
  if (text.starts_with(lfs_pointer_begin))
    throw data_error(
        file + ": a Git LFS pointer, expected the file that it stands for; run `git lfs pull` where it was cloned");
}

}  // namespace triad
