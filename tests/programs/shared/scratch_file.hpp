// A file, or a path, that is removed at the end of a test.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "triad/io/text/gz_lines.hpp"

namespace triad::test {

struct scratch_file {
  std::string path;

  explicit scratch_file(std::string const& content = {}) {
    static int number = 0;
    path = (std::filesystem::temp_directory_path() /
            ("triad-file-" + std::to_string(getpid()) + "-" + std::to_string(number++) + ".txt"))
               .string();
    std::ofstream(path, std::ios::binary) << content;
  }
  scratch_file(scratch_file const&) = delete;
  scratch_file& operator=(scratch_file const&) = delete;
  ~scratch_file() { std::remove(path.c_str()); }

  [[nodiscard]] std::string content() const {
    text::gz_lines lines(path);
    std::string all;
    for (std::string line; lines.next(line);) all += line + '\n';
    return all;
  }
};

}  // namespace triad::test
