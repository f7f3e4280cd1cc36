// SPDX-License-Identifier: Apache-2.0
#include "new_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "shared/cli/say.hpp"
#include "shared/processes/first_writes.hpp"
#include "shared/report/refuse.hpp"
#include "shared/run/run_folder.hpp"

namespace triad::programs {

namespace {

bool has(std::string const& path, std::string const& content) {
  std::ifstream file(path, std::ios::binary);
  std::istreambuf_iterator<char> const begin(file), end;
  return std::equal(begin, end, content.begin(), content.end());
}

}  // namespace

void write_data(std::string const& folder, std::vector<new_file> const& files) {
  std::error_code none;
  for (auto const& file : files)  // readers look for a part in several formats, and would find the other one
    for (auto const* suffix : {".tsv", ".jsonl", ".csv", ".conllu", ".en", ".zh"})
      for (auto const* packed : {"", ".gz"}) {
        auto const name = file.name.substr(0, file.name.find('.')) + suffix + packed;
        auto const is = [&](new_file const& other) { return other.name == name || other.name + ".gz" == name; };
        if (std::none_of(files.begin(), files.end(), is) && std::filesystem::exists(folder + "/" + name, none))
          refuse("{}/{} is there, of another data set: give another folder with --out", folder, name);
      }
  for (auto const& file : files) {
    auto const path = folder + "/" + file.name, gzipped = path + ".gz";
    bool const other = std::filesystem::exists(path, none) && !has(path, file.content);
    if (other || std::filesystem::exists(gzipped, none))
      refuse("{} is there, with other data: give another folder with --out", other ? path : gzipped);
  }
  make_folder(folder);
  for (auto const& file : files) {
    auto const path = folder + "/" + file.name;
    first_writes(path, file.content);
    if (!file.holds.empty()) say("{}  {}\n", path, file.holds);
  }
}

}  // namespace triad::programs
