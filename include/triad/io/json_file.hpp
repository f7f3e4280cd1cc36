// Reads a JSON file.  If the file is not JSON, the message of the exception has the number of the line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "triad/core/errors.hpp"
#include "triad/io/json_read.hpp"
#include "triad/io/lfs_pointer.hpp"

namespace triad {

/// Reads a file.  Json is nlohmann::json or ordered_json.  Throws data_error, with file and line, if parse_json()
/// throws.
template <class Json = nlohmann::json>
Json read_json_file(std::string const& path) {
  std::error_code error;
  std::ifstream in(path, std::ios::binary);
  if (!std::filesystem::is_regular_file(path, error) || !in)
    throw data_error(path + ": expected a file of JSON, found none that can be read; give the path of one");
  std::string const text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  refuse_lfs_pointer(path, text);
  try {
    return parse_json<Json>(text);
  } catch (data_error const& e) {
    throw data_error(path + ": " + e.what());
  } catch (nlohmann::json::parse_error const& e) {
    auto const end = text.begin() + static_cast<std::ptrdiff_t>(std::min(e.byte == 0 ? 0 : e.byte - 1, text.size()));
    throw data_error(path + ":" + std::to_string(1 + std::count(text.begin(), end, '\n')) +
                     ": expected JSON, found none from byte " + std::to_string(e.byte) +
                     " on; was the file copied whole?");
  } catch (nlohmann::json::exception const& e) {
    throw data_error(path + ": there is a value that cannot be read: " + reason_of(e));
  }
}

}  // namespace triad
