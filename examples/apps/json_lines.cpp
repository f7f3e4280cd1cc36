// SPDX-License-Identifier: Apache-2.0
#include "json_lines.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "each_line.hpp"
#include "triad/core/errors.hpp"
#include "triad/io/json_read.hpp"

namespace triad::apps {

data_files find_data(std::string const& folder, std::vector<std::string> const& endings, bool needs_train) {
  namespace fs = std::filesystem;
  auto const advice = "; docs/data.md has the format";
  std::string all;
  for (auto const& ending : endings) all += (all.empty() ? "" : " or ") + ending;
  data_files found;
  std::error_code failure;
  if (!needs_train && fs::is_regular_file(folder, failure)) return {{}, {}, {{"test", folder}}};
  if (!fs::is_directory(folder, failure))
    throw data_error(folder + ": a folder with train, dev and test " + all + ", gzipped or not, is expected" + advice);
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
    auto const path = at->path().string();
    std::string_view name = path;
    name.remove_prefix(folder.size());
    while (name.starts_with('/')) name.remove_prefix(1);
    if (name.ends_with(".gz")) name.remove_suffix(3);
    auto const ending = std::find_if(endings.begin(), endings.end(), [&](auto const& e) { return name.ends_with(e); });
    if (ending == endings.end()) continue;
    name.remove_suffix(ending->size());
    auto* const file = name == "train" ? &found.train : name == "dev" ? &found.dev : nullptr;
    if (file != nullptr && !file->empty())
      throw data_error(*file + " and " + path + " are both there; keep one of them");
    if (file != nullptr)
      *file = path;
    else if (name == "test" || name.starts_with("test_")) {
      std::string const called(name == "test" ? name : name.substr(5));
      if (called.empty()) throw data_error(path + ": a test is called test, or test_NAME; give this one a name");
      if (called == "train" || called == "dev")
        throw data_error(path + ": a test cannot be called " + called + "; give it another name, test_NAME");
      for (auto const& [other, its_path] : found.tests)
        if (other == called) throw data_error(its_path + " and " + path + " are both there; keep one of them");
      found.tests.emplace_back(called, path);
    }
  }
  if (failure) throw data_error(folder + ": cannot be listed: " + failure.message());
  // 5 before 10.
  auto const key = [](std::string const& name) {
    bool const number = name.find_first_not_of("0123456789") == std::string::npos;
    return std::pair(number ? name.size() : 0, name);
  };
  std::sort(found.tests.begin(), found.tests.end(),
            [&](auto const& a, auto const& b) { return key(a.first) < key(b.first); });
  if (needs_train && found.train.empty())
    throw data_error(folder + ": there is no train" + all + ", gzipped or not" + advice);
  if (!needs_train && found.tests.empty() && found.dev.empty())
    throw data_error(folder + ": there is no test" + all + ", gzipped or not" + advice);
  return found;
}

nlohmann::json read_json_line(std::string const& line) {
  nlohmann::json value;
  try {
    value = parse_json(line);
  } catch (nlohmann::json::parse_error const& e) {
    // nlohmann says where, what it was reading, behind a dash what was wrong, and then a token of any length.
    std::string said = e.what(), dash = " - ";
    if (auto const at = said.find(dash); at != std::string::npos) said.erase(0, at + dash.size());
    if (auto const token = said.find("; last read: "); token != std::string::npos) said.erase(token);
    throw data_error("column " + std::to_string(e.byte) + ": expected JSON, found none: " + said +
                     "; a line is one object");
  } catch (nlohmann::json::exception const& e) {  // 1e999
    throw data_error(std::string("there is a value that cannot be read: ") + e.what());
  }
  if (!value.is_object()) throw data_error("expected an object in braces, found " + quoted(value));
  return value;
}

void read_json_lines(std::string const& path, json_line_reader const& read) {
  bool any = false;
  each_line(path, [&](std::string const& line) {
    if (is_blank(line)) return;
    any = true;
    try {
      read(read_json_line(line), line);
    } catch (nlohmann::json::exception const& e) {  // a value of another type than the reader took it for
      throw data_error(e.what());
    }
  });
  if (!any) throw data_error(path + ": expected a line or more, found none");
}

nlohmann::json const& member(nlohmann::json const& object, char const* name, char const* expected) {
  auto const found = object.find(name);
  if (found == object.end()) throw data_error(std::string("expected \"") + name + "\", " + expected + ", found none");
  return *found;
}

void refuse_member(char const* name, char const* expected, nlohmann::json const& found) {
  throw data_error(std::string("expected \"") + name + "\" to be " + expected + ", found " + quoted(found));
}

std::string json_text_of(nlohmann::ordered_json const& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace triad::apps
