// Code that all fuzzers of readers share: the input as a file, and the outcomes that are allowed.
// SPDX-License-Identifier: Apache-2.0
//
// A reader may read its input, or throw a data_error that names the file. Any other outcome is a failure: another
// exception, a message without the file's name, a fault that a sanitizer finds, or a wrong result.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "triad/core/errors.hpp"

namespace triad::fuzz {

/// Ends the process. libFuzzer then saves the input. The driver, which replaces libFuzzer, has already printed the
/// input's name.
[[noreturn]] inline void found(std::string const& what) {
  std::fprintf(stderr, "a finding: %s\n", what.c_str());
  std::abort();
}

inline void expect(bool law, char const* what) {
  if (!law) found(what);
}

/// A file in memory with the given name, in a folder of its own.
class input_file {
 public:
  explicit input_file(std::string const& name) {
    handle_ = ::memfd_create("triad-fuzz", 0);
    auto pattern = (std::filesystem::temp_directory_path() / "triad-fuzz-XXXXXX").string();
    if (handle_ < 0 || ::mkdtemp(pattern.data()) == nullptr) found("no file in memory, or no folder in " + pattern);
    folder_ = pattern;
    std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(handle_), path_ = folder_ + "/" + name);
  }
  input_file(input_file const&) = delete;
  input_file& operator=(input_file const&) = delete;
  ~input_file() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
    ::close(handle_);
  }

  /// Replaces the content of the file.
  input_file& write(std::string_view content) {
    if (::ftruncate(handle_, 0) != 0 ||
        ::pwrite(handle_, content.data(), content.size(), 0) != static_cast<ssize_t>(content.size()))
      found("a file in memory that cannot be written");
    return *this;
  }

  std::string const& path() const { return path_; }
  std::string const& folder() const { return folder_; }

 private:
  int handle_;
  std::string folder_, path_;
};

inline std::string_view text_of(std::uint8_t const* data, std::size_t size) {
  return {reinterpret_cast<char const*>(data), size};
}

/// Runs the reader. `file` is the name that the message of a data_error must contain.
template <class Read>
void read_or_refuse(std::string const& file, Read read) {
  try {
    read();
  } catch (data_error const& e) {
    if (std::string_view(e.what()).find(file) == std::string_view::npos)
      found("a message without the file: " + std::string(e.what()));
  }
}

}  // namespace triad::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
