// SPDX-License-Identifier: Apache-2.0
#include "data_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "shared/report/printed.hpp"
#include "shared/report/refuse.hpp"

namespace triad::programs {

void refuse_both(std::string const& one, std::string const& other) {
  refuse("{} and {} are both there; keep one of them", one, other);
}

namespace {

/// Returns true for "dev" and for "validation", which are two names of the same part.
bool is_dev(std::string_view name) { return name == "dev" || name == "validation"; }

/// Returns the name of the part in a file name of Universal Dependencies, such as `train` in en_ewt-ud-train.  Returns
/// any other name unchanged.
std::string_view without_treebank(std::string_view name) {
  for (std::string_view const part : {"train", "dev", "test"})
    if (name.ends_with(part) && name.size() > part.size() && name[name.size() - part.size() - 1] == '-') return part;
  return name;
}

}  // namespace

data_files find_data(std::string const& folder, std::vector<std::string> const& endings, bool needs_train) {
  namespace fs = std::filesystem;
  auto const advice = "; docs/data.md has the format";
  std::string all;
  for (auto const& ending : endings) all += (all.empty() ? "" : " or ") + ending;
  data_files found;
  std::error_code failure;
  if (!needs_train && fs::is_regular_file(folder, failure)) return {{}, {}, {{"test", folder}}};
  if (!fs::is_directory(folder, failure))
    refuse("{}: a folder with train, dev and test {}, gzipped or not, is expected{}{}", folder, all,
           fs::exists(folder, failure) ? "" : ", and nothing is there: give --data where it is now", advice);
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
    auto const path = at->path().string();
    std::string_view name = path;
    name.remove_prefix(folder.size());
    while (name.starts_with('/')) name.remove_prefix(1);
    if (name.ends_with(".gz")) name.remove_suffix(3);
    auto const ending = std::find_if(endings.begin(), endings.end(), [&](auto const& e) { return name.ends_with(e); });
    if (ending == endings.end()) continue;
    name.remove_suffix(ending->size());
    if (*ending == ".conllu" && !name.starts_with("test_")) {
      auto const part = without_treebank(name);  // train.conllu is preferred to en_ewt-ud-train.conllu
      if (part == name || find_file(folder, {std::string(part) + *ending}).empty()) name = part;
    }
    auto* const file = name == "train" ? &found.train : is_dev(name) ? &found.dev : nullptr;
    if (file != nullptr && !file->empty()) refuse_both(*file, path);
    if (file != nullptr)
      *file = path;
    else if (name == "test" || name.starts_with("test_")) {
      std::string const called(name == "test" ? name : name.substr(5));
      if (called.empty()) refuse("{}: a test is called test, or test_NAME; give this one a name", path);
      if (called == "train" || called == "dev")  // tables use these names for the other parts
        refuse("{}: a test cannot be called {}; give it another name, test_NAME", path, called);
      for (auto const& [other, its_path] : found.tests)
        if (other == called) refuse_both(its_path, path);
      found.tests.emplace_back(called, path);
    }
  }
  if (failure) refuse("{}: cannot be listed: {}", folder, failure.message());
  // Sorts numbers by value: 5 before 10.
  auto const key = [](std::string const& name) {
    bool const number = name.find_first_not_of("0123456789") == std::string::npos;
    return std::pair(number ? name.size() : 0, name);
  };
  std::sort(found.tests.begin(), found.tests.end(),
            [&](auto const& a, auto const& b) { return key(a.first) < key(b.first); });
  if (needs_train && found.train.empty())
    refuse("{}: there is no train{}, gzipped or not{}{}", folder, all, files_there(folder), advice);
  if (!needs_train && found.tests.empty() && found.dev.empty())
    refuse("{}: there is no test{}, gzipped or not{}{}", folder, all, files_there(folder), advice);
  return found;
}

std::string find_file(std::string const& folder, std::vector<std::string> const& names) {
  std::error_code none;
  for (auto const& name : names) {
    auto const path = folder + "/" + name, gzipped = path + ".gz";
    bool const plain = std::filesystem::is_regular_file(path, none);
    if (!std::filesystem::is_regular_file(gzipped, none)) {
      if (plain) return path;
      continue;
    }
    if (plain) refuse_both(path, gzipped);
    return gzipped;
  }
  return {};
}

std::string need_file(std::string const& folder, std::vector<std::string> const& names, std::string const& advice) {
  std::error_code none;
  if (!std::filesystem::is_directory(folder, none)) refuse("{}: a folder is expected; {}", folder, advice);
  auto path = find_file(folder, names);
  if (!path.empty()) return path;
  std::string all;
  for (auto const& name : names) all += (all.empty() ? "" : " and no ") + name;
  refuse("{}: there is no {}, gzipped or not{}; {}", folder, all, files_there(folder), advice);
}

std::string find_dev(std::string const& folder, std::vector<std::string> const& endings) {
  auto const of = [&](std::string const& part) {
    std::vector<std::string> names;
    for (auto const& ending : endings) names.push_back(part + ending);
    return find_file(folder, names);
  };
  auto const dev = of("dev"), validation = of("validation");
  if (!dev.empty() && !validation.empty()) refuse_both(dev, validation);
  return dev.empty() ? validation : dev;
}

std::string files_there(std::string const& folder) {
  constexpr std::size_t most = 8;
  std::vector<std::string> names;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure))
    names.push_back(at->path().filename().string());
  if (failure || names.empty()) return failure ? "" : "; the folder is empty";
  std::sort(names.begin(), names.end());
  auto const shown = std::min(most, names.size());
  std::string text = "; the folder has ";
  for (std::size_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + shortened(names[i]);
  return text + (names.size() > shown ? " and " + std::to_string(names.size() - shown) + " more" : "");
}

}  // namespace triad::programs
