// A folder of files for tests of the readers of trees, and lines for such files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <utility>

#include "tests/io/scratch_folder.hpp"
#include "trees/read.hpp"

namespace triad::test {

namespace trees = triad::programs::trees;

inline std::string line_of(std::string const& source, std::string const& target) {
  return trees::to_json_line({parse_tree(source), parse_tree(target)}) + "\n";
}

/// A folder with the given files.
struct folder_of {
  scratch_folder folder;

  folder_of(std::initializer_list<std::pair<char const*, std::string>> files) {
    for (auto const& [name, text] : files) write(name, text);
  }
  std::string write(std::string const& name, std::string const& text) const {
    std::ofstream(folder / name, std::ios::binary) << text;
    return folder / name;
  }
  std::string path() const { return std::filesystem::path(folder / "x").parent_path().string(); }
};

}  // namespace triad::test
