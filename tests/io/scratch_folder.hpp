// A folder for one test, which is removed at the end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace triad::test {

class scratch_folder {
 public:
  scratch_folder() {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("triad-test-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }
  scratch_folder(scratch_folder const&) = delete;
  scratch_folder& operator=(scratch_folder const&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(std::string const& name) const { return (path_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

/// Writes a file with this text into the folder and returns its path.
inline std::string saved(scratch_folder const& folder, std::string const& text, std::string const& name = "file") {
  std::ofstream(folder / name, std::ios::binary) << text;
  return folder / name;
}

/// Returns the text that write(stream) writes.
template <class Written>
std::string written(Written const& what) {
  std::ostringstream out;
  what.write(out);
  return out.str();
}

inline std::vector<std::byte> content(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  auto const* const first = reinterpret_cast<std::byte const*>(text.data());
  return {first, first + text.size()};
}

inline void write_content(std::string const& path, std::vector<std::byte> const& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<char const*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace triad::test
