// The members of a JSON object as they are written: numbers of any size, -0, 1.0, escapes, names that are there twice.
// SPDX-License-Identifier: Apache-2.0
//
// A value that was parsed has none of that: nlohmann::json keeps 64 bits of a number, and the last of two members of
// one name.  What only passes through a program comes back by its text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace triad::programs {

struct json_member {
  std::string name;          // without quotes and escapes
  std::string written_name;  // with its quotes, byte for byte
  std::string value;         // byte for byte, without the space between its tokens
};

/// Of an object that read_json_line() has taken, in their order.  Throws data_error for what is no object.
std::vector<json_member> members_of(std::string const& object);

/// The object as one line with these members: in the place of the first of that name, of which no other stays, else
/// behind all others.  Those come back byte for byte, without the space between tokens.
std::string with_members(std::string const& object,
                         std::vector<std::pair<std::string, nlohmann::ordered_json>> const& more);

}  // namespace triad::programs
