// Writes TensorBoard's event files without TensorBoard.  A file has numbers, each with a tag and a step.
// SPDX-License-Identifier: Apache-2.0
//
// A file is a sequence of records, each
//
//   length, 8 bytes;  its check, 4 bytes;  the event;  the event's check, 4 bytes     all little-endian
//
// with  check(x) = (c >> 15 | c << 17) + 0xa282ead8, where c is the CRC-32C of x.  An event is a protocol buffer with
// the fields wall_time (1, double), step (2), and one of file_version (3), summary (5) and session_log (7).  A value of
// a summary has tag (1) and simple_value (2, float).  A resumed run begins a new file.  Its first event says that a
// session begins at the file's first step.  TensorBoard then drops the values of earlier files from this step on.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace triad::programs {

/// Returns the CRC-32C (Castagnoli) of `bytes`.
std::uint32_t crc32c(std::string_view bytes);

/// Returns the record of an event.
std::string event_record(std::string_view event);

class event_file {
 public:
  struct scalar {
    char const* tag;
    double value;
  };

  /// Begins a file in this folder, and creates the folder if necessary.  `step` is the number of updates that the run
  /// has already made.  Throws data_error.
  event_file(std::string const& folder, std::uint64_t step);

  void add(std::uint64_t step, std::vector<scalar> const& values);
  /// Writes the added values to the file, so that readers see them.
  void flush() { std::fflush(file_.get()); }
  std::string const& path() const { return path_; }

 private:
  struct closing {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  void write(std::string const& event);

  std::string path_;
  std::unique_ptr<std::FILE, closing> file_;
};

}  // namespace triad::programs
