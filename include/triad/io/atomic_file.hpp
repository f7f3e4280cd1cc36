// Writes a file so that its name always refers to the complete old content or to the complete new content.
// SPDX-License-Identifier: Apache-2.0
//
// The content is written to a temporary file next to the old file.  Then the temporary file is flushed with fsync and
// renamed, and the folder is flushed with fsync.  If the process is killed before the rename, the old file is
// unchanged, and no program reads the temporary file.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "triad/core/errors.hpp"

namespace triad {

class atomic_file {
 public:
  explicit atomic_file(std::string path)
      : path_(std::move(path)), temporary_(path_ + ".part" + std::to_string(::getpid())) {
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file_ < 0) fail("cannot be written");
  }
  atomic_file(atomic_file const&) = delete;
  atomic_file& operator=(atomic_file const&) = delete;
  /// Leaves the old file in place if commit() was not called.
  ~atomic_file() {
    if (file_ >= 0) ::close(file_);
    if (!committed_) std::remove(temporary_.c_str());
  }

  void write(std::span<std::byte const> bytes) {
    while (!bytes.empty()) {
      auto const written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail("cannot be written to the end");
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  /// Flushes the content to the disk, then renames the temporary file to the file's name.
  void commit() {
    if (::fsync(file_) != 0) fail("cannot be flushed to the disk");
    if (::close(std::exchange(file_, -1)) != 0) fail("cannot be closed");
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be renamed");
    committed_ = true;
    auto folder = std::filesystem::path(path_).parent_path();
    if (folder.empty()) folder = ".";
    int const handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle < 0) return;  // a folder that cannot be read is not flushed; the rename survives a crash of the program
    ::fsync(handle);
    ::close(handle);
  }

 private:
  [[noreturn]] void fail(char const* what) const {
    throw data_error(path_ + ": " + what + ": " + std::strerror(errno) +
                     "; check that its folder exists, is writable and has space");
  }

  std::string path_, temporary_;
  int file_ = -1;
  bool committed_ = false;
};

/// Replaces the content of a file.  If that fails, throws data_error and leaves the old file unchanged.
inline void write_atomically(std::string const& path, std::string_view content) {
  atomic_file file(path);
  file.write(std::as_bytes(std::span(content)));
  file.commit();
}

}  // namespace triad
