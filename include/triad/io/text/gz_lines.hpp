// Reads a text file line by line, gzipped or plain.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "triad/core/errors.hpp"
#include "triad/io/lfs_pointer.hpp"
#include "triad/io/text/characters.hpp"
#include "triad/io/text/line.hpp"

namespace triad::text {

/// The lines of a file, without line ends (LF or CRLF) and without a byte order mark.  The first bytes of the file
/// decide whether the file is gzipped, and not the name of the file.  Throws data_error if the file is a Git LFS
/// pointer.
class gz_lines {
 public:
  static constexpr std::size_t longest_line = std::size_t{1} << 24U;  // bytes; a small .gz may have an endless line

  explicit gz_lines(std::string path) : path_(std::move(path)) {
    errno = 0;
    file_.reset(gzopen(path_.c_str(), "rb"));
    if (!file_)
      throw data_error(path_ + ": cannot be opened: " + (errno != 0 ? std::strerror(errno) : "out of memory"));
  }

  /// Reads the next line.  Returns false at the end of the file.
  bool next(std::string& line) {
    line.clear();
    for (bool any = false;;) {
      if (at_ == filled_ && !refill()) {
        if (!any) return false;
        break;
      }
      any = true;
      auto const rest = std::string_view(buffer_.data() + at_, filled_ - at_);
      auto const end = rest.find('\n');
      line.append(rest.substr(0, end));
      if (line.size() > longest_line) fail("the line is longer than 16 MiB", "is this a text file?");
      at_ += end == std::string_view::npos ? rest.size() : end + 1;
      if (end != std::string_view::npos) break;
    }
    ++number_;
    carriage_return_ = line.ends_with('\r');
    trim_line(line, number_ == 1);
    if (number_ == 1) refuse_lfs_pointer(path_, line);
    return true;
  }

  /// Reads the next line, like next().  Throws data_error, with file, line and column, if the line is not UTF-8.
  bool next_text(std::string& line) {
    if (!next(line)) return false;
    if (auto const at = first_broken_byte(line); at != std::string_view::npos) {
      constexpr std::string_view digits = "0123456789ABCDEF";
      auto const byte = static_cast<unsigned char>(line[at]);
      throw data_error(path_ + ":" + std::to_string(number_) + ":" + std::to_string(at + 1) + ": the byte 0x" +
                       digits[byte >> 4U] + digits[byte & 15U] + " is not UTF-8; convert the file to UTF-8");
    }
    return true;
  }

  [[nodiscard]] std::string const& path() const { return path_; }

  /// Whether the last line that was read ended with CRLF, or with a carriage return alone at the end of the file.
  [[nodiscard]] bool had_carriage_return() const { return carriage_return_; }

  /// The number of the last line that was read, from 1.
  [[nodiscard]] long number() const { return number_; }

 private:
  struct closer {
    void operator()(gzFile file) const { gzclose_r(file); }
  };

  bool refill() {
    at_ = 0;
    int const bytes = gzread(file_.get(), buffer_.data(), static_cast<unsigned>(buffer_.size()));
    filled_ = bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
    int code = Z_OK;
    char const* const message =
        gzerror(file_.get(), &code);  // a truncated .gz ends with Z_BUF_ERROR, although no read failed
    if (code == Z_ERRNO) fail(std::string("cannot be read: ") + std::strerror(errno), "is it a file?");
    if (bytes < 0 || code == Z_BUF_ERROR || code == Z_DATA_ERROR)
      fail(std::string("the gzip stream is damaged: ") + message, "copy or download the file again");
    return filled_ > 0;
  }

  [[noreturn]] void fail(std::string const& reason, std::string const& advice) const {
    throw data_error(path_ + ":" + std::to_string(number_ + 1) + ": " + reason + "; " + advice);
  }

  std::string path_;
  std::unique_ptr<gzFile_s, closer> file_;
  std::array<char, std::size_t{1} << 16U> buffer_{};
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  long number_ = 0;
  bool carriage_return_ = false;
};

}  // namespace triad::text
