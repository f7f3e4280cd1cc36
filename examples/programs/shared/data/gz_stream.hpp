// A file, gzipped or plain, as a stream buffer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/report/refuse.hpp"
#include "triad/io/lfs_pointer.hpp"

namespace triad::programs {

/// A stream buffer for a file that may be gzipped.  The first bytes of the file show whether it is.  Reading throws
/// data_error if the file is damaged.  Use the buffer without std::istream, which would catch this exception.
class gz_buffer : public std::streambuf {
 public:
  explicit gz_buffer(std::string path) : path_(std::move(path)), bytes_(std::size_t{1} << 16U) {
    errno = 0;
    file_.reset(gzopen(path_.c_str(), "rb"));
    if (!file_) refuse("{}: cannot be opened: {}", path_, errno != 0 ? std::strerror(errno) : "out of memory");
  }

 protected:
  int_type underflow() override {
    int const got = gzread(file_.get(), bytes_.data(), static_cast<unsigned>(bytes_.size()));
    int code = Z_OK;
    // zlib reads a truncated .gz without an error, so the end is checked here.
    char const* const message = gzerror(file_.get(), &code);
    if (code == Z_ERRNO) refuse("{}: cannot be read: {}; is it a file?", path_, std::strerror(errno));
    if (got < 0 || code == Z_BUF_ERROR || code == Z_DATA_ERROR)
      refuse("{}: the gzip stream is damaged: {}; copy or download the file again", path_, message);
    if (got == 0) return traits_type::eof();
    if (!std::exchange(begun_, true)) refuse_lfs_pointer(path_, {bytes_.data(), static_cast<std::size_t>(got)});
    setg(bytes_.data(), bytes_.data(), bytes_.data() + got);
    return traits_type::to_int_type(bytes_[0]);
  }

 private:
  struct closer {
    void operator()(gzFile file) const { gzclose_r(file); }
  };

  std::string path_;
  std::unique_ptr<gzFile_s, closer> file_;
  std::vector<char> bytes_;
  bool begun_ = false;
};

}  // namespace triad::programs
