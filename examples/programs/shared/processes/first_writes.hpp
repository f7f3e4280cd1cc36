// Writes files in the first process only.  Each file is written completely or not at all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "shared/report/refuse.hpp"
#include "triad/io/atomic_file.hpp"
#include "world.hpp"

namespace triad::programs {

namespace detail {

inline std::string gzipped(std::string_view text) {
  z_stream stream{};
  int const gzip_format = 15 + 16;
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_format, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    refuse("gzip: out of memory");
  std::string result;
  std::string chunk(std::size_t{1} << 16U, '\0');
  for (int state = Z_OK; state != Z_STREAM_END;) {
    if (stream.avail_in == 0) {
      auto const part = text.substr(0, std::size_t{1} << 20U);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));  // zlib only reads there
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

/// Writes `content` to `path` by write_atomically(), in the first process only.  If the path ends in .gz, compresses
/// the content without a time stamp, so that equal contents give equal files.
inline void first_writes(std::string const& path, std::string_view content) {
  if (!world().is_first()) return;
  if (path.ends_with(".gz")) return write_atomically(path, detail::gzipped(content));
  write_atomically(path, content);
}

}  // namespace triad::programs
