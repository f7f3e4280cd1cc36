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
  auto const before_dot = [](std::string const& name) { return name.substr(0, name.find('.')); };
  for (auto const& there : std::filesystem::directory_iterator(folder, none)) {
    auto const name = there.path().filename().string();
    auto const is = [&](new_file const& file) { return file.name == name || file.name + ".gz" == name; };
    auto const shares_name = [&](new_file const& file) { return before_dot(file.name) == before_dot(name); };
    if (std::none_of(files.begin(), files.end(), is) && std::any_of(files.begin(), files.end(), shares_name))
      refuse("{} is there, of another data set: give another folder with --out", there.path().string());
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
