// Fuzzes the reader that splits a JSON object into the texts of its members. If read_json_line() accepts an object,
// nlohmann must read the same members, and no byte of a token may be lost. After an answer is added, the object must be
// readable again.
// SPDX-License-Identifier: Apache-2.0
#include "reader.hpp"
#include "shared/data/json_lines.cpp"  // the source and not the object file, so that libFuzzer sees its branches

namespace {

using namespace triad;

/// Returns the text without white space between tokens.
std::string tight(std::string_view text) {
  std::string found;
  for (std::size_t at = 0; at < text.size();) {
    auto const end = text[at] == '"' ? programs::end_of_string(text, at) : at + 1;
    if (!programs::is_space(text[at])) found += text.substr(at, end - at);
    at = end;
  }
  return found;
}

void expect_members(std::string const& line, nlohmann::json const& object) {
  std::string joined;
  for (auto const& m : programs::members_of(line)) {
    fuzz::expect(object.contains(m.name), "a member has the name that is read");
    fuzz::expect(nlohmann::json::accept(m.value), "a member's value is JSON");
    joined += (joined.empty() ? "{" : ",") + m.written_name + ":" + m.value;
  }
  fuzz::expect((joined.empty() ? "{" : joined) + "}" == tight(line.substr(line.find('{'))), "no byte is lost");
  auto answer = programs::read_json_line(programs::with_members(line, {{"target", "an answer"}}));
  fuzz::expect(answer.at("target") == "an answer", "an answer reads back");
  auto rest = object;
  answer.erase("target"), rest.erase("target");
  fuzz::expect(answer == rest, "all other members stay");
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const line(fuzz::text_of(data, size));
  nlohmann::json object;
  try {
    object = programs::read_json_line(line);
  } catch (data_error const&) {
    try {
      (void)programs::members_of(line);  // must end, whatever its result
    } catch (data_error const&) {
    } catch (nlohmann::json::exception const&) {
    }
    return 0;
  }
  expect_members(line, object);
  return 0;
}
