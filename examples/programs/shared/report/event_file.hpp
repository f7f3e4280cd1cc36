// TensorBoard's event file, written by hand: numbers by tag and step, so that a run can be watched next to others.
// SPDX-License-Identifier: Apache-2.0
//
// A file is a sequence of records, each
//
//   length, 8 bytes;  its check, 4 bytes;  the event;  the event's check, 4 bytes     all little-endian
//
// with  check(x) = (c >> 15 | c << 17) + 0xa282ead8  of c, the CRC-32C of x.  An event is a protocol buffer: wall_time (1,
// double), step (2), then one of file_version (3), summary (5) and session_log (7); a value of a summary has tag (1) and
// simple_value (2, float).  A process that goes on begins a file of its own with the start of a session at its first step:
// TensorBoard drops what an earlier file has of that and of later steps.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace triad::programs {

/// CRC-32C (Castagnoli) of some bytes.
std::uint32_t crc32c(std::string_view bytes);

/// A record of an event file.
std::string event_record(std::string_view event);

class event_file {
 public:
  struct scalar {
    char const* tag;
    double value;
  };

  /// Begins a file in this folder, which is made; step: updates that the run has made.  Throws data_error.
  event_file(std::string const& folder, std::uint64_t step);

  void add(std::uint64_t step, std::vector<scalar> const& values);
  /// What was added can be read from here on.
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
