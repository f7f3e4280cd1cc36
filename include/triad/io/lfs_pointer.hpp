// Detects Git LFS pointers.  A pointer is a short text that a clone without Git LFS has in place of a large file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "triad/core/errors.hpp"

namespace triad {

/// The beginning of a pointer; a version number follows it.
inline constexpr std::string_view lfs_pointer_begin = "version https://git-lfs.github.com/spec/";

/// Throws data_error if `text`, the beginning of the file, is that of a pointer.
inline void refuse_lfs_pointer(std::string const& file, std::string_view text) {
  if (text.starts_with(lfs_pointer_begin))
    throw data_error(
        file + ": a Git LFS pointer, expected the file that it stands for; run `git lfs pull` where it was cloned");
}

}  // namespace triad
