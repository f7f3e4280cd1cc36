// Writes a file so that at every moment its name stands for the old or the new content, never for a part of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "triad/core/errors.hpp"

namespace triad::examples {

namespace detail {

// A new file beside the final one; removed again unless it was renamed.
class temporary_file {
 public:
  explicit temporary_file(std::string const& final_path)
      : final_path_(final_path), path_(final_path + ".part" + std::to_string(getpid())) {
    handle_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (handle_ < 0) fail("cannot be written");
  }
  temporary_file(temporary_file const&) = delete;
  temporary_file& operator=(temporary_file const&) = delete;
  ~temporary_file() {
    if (handle_ >= 0) close(handle_);
    if (!renamed_) std::remove(path_.c_str());
  }

  void write_all(std::string_view text) {
    while (!text.empty()) {
      auto const written = ::write(handle_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail("cannot be written");
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  // Brings the content to the disk before the name: after a power failure there is no empty file of this name.
  void commit() {
    if (fsync(handle_) != 0) fail("cannot be brought to the disk");
    int const handle = handle_;
    handle_ = -1;
    if (close(handle) != 0) fail("cannot be closed");
    if (std::rename(path_.c_str(), final_path_.c_str()) != 0) fail("cannot be given its name");
    renamed_ = true;
  }

 private:
  [[noreturn]] void fail(char const* reason) const {
    throw data_error(final_path_ + ": " + reason + ": " + std::strerror(errno) +
                     "; does the folder exist, may you write there, and is there room?");
  }

  std::string final_path_;
  std::string path_;
  int handle_ = -1;
  bool renamed_ = false;
};

inline std::string gzipped(std::string_view text) {
  z_stream stream{};
  int const gzip_format = 15 + 16;
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_format, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw data_error("gzip: out of memory");
  std::string result;
  std::string chunk(std::size_t{1} << 16U, '\0');
  for (int state = Z_OK; state != Z_STREAM_END;) {
    if (stream.avail_in == 0) {
      auto const part = text.substr(0, std::size_t{1} << 20U);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));  // zlib does not write there
      stream.avail_in = static_cast<uInt>(part.size());
      text.remove_prefix(part.size());
    }
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    state = deflate(&stream, text.empty() ? Z_FINISH : Z_NO_FLUSH);
    result.append(chunk, 0, chunk.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return result;
}

}  // namespace detail

/// Writes `content` to `path`: into a temporary file beside it, to the disk, then renamed. Throws data_error when that
/// fails, and leaves the old file as it was. A path that ends in .gz is compressed (without time stamp: same content,
/// same bytes).
inline void write_atomically(std::string const& path, std::string_view content) {
  detail::temporary_file file(path);
  file.write_all(path.ends_with(".gz") ? detail::gzipped(content) : std::string(content));
  file.commit();
}

}  // namespace triad::examples
