// SPDX-License-Identifier: Apache-2.0
#include "record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "triad/io/json_read.hpp"

namespace triad::programs {
namespace {

bool is_kept(option const& one) { return !one.key.empty() && one.verbs.contains("train"); }

/// Converts the value of an option to JSON for a checkpoint's configuration.
struct as_json {
  option const& one;

  nlohmann::json operator()(bool* v) const {
    auto const& [no, yes] = one.key_names;
    return yes.empty() ? nlohmann::json(*v) : nlohmann::json(*v ? yes : no);
  }
  nlohmann::json operator()(triangle_form* v) const { return attention_name(*v); }
  nlohmann::json operator()(auto* v) const { return *v; }
};

/// Reads the value of an option from a checkpoint.
struct from_file {
  option const& one;
  checkpoint const& file;

  void operator()(bool* v) const {
    auto const& yes = one.key_names.second;
    *v = yes.empty() ? file.setting<bool>(one.key) : file.setting<std::string>(one.key) == yes;
  }
  void operator()(int* v) const { *v = file.setting(one.key, one.least(), one.most()); }
  void operator()(triangle_form* v) const {
    *v = attention_form(file.setting<std::string>(one.key), file.tensors().file());
  }
  void operator()(std::string* v) const {
    *v = file.setting<std::string>(one.key);
    if (std::find(one.choices.begin(), one.choices.end(), *v) == one.choices.end())
      throw data_error(
          fmt::format("{}: expected one of {} as setting {}, found {}; the checkpoint is damaged, or "
                      "another program wrote it",
                      file.tensors().file(), fmt::join(one.choices, ", "), one.key, quoted(nlohmann::json(*v))));
  }
  void operator()(auto* v) const { *v = file.setting<std::remove_cvref_t<decltype(*v)>>(one.key); }
};

/// Sets an option to the value that holds for checkpoints without this option.
void reset(option const& one) {
  std::visit([](auto* v) { *v = {}; }, one.value);
  if (auto const* const text = std::get_if<std::string*>(&one.value)) **text = one.none;
  if (auto const* const number = std::get_if<int*>(&one.value); number != nullptr && !one.none.empty())
    **number = std::stoi(one.none);
}

}  // namespace

void run_options::restored(checkpoint const&) {}

void width_options::restored(checkpoint const& file) {
  dropout = 0;
  if (width % heads != 0)
    throw data_error(
        fmt::format("{}: setting width is {}, expected a multiple of setting heads, which is {}; the "
                    "checkpoint is damaged, or another program wrote it",
                    file.tensors().file(), width, heads));
}

nlohmann::json configuration_of(run_options const& o) {
  auto json = nlohmann::json::object();
  for (auto const& one : options_of(o).all())
    if (is_kept(one) && !(one.is_new && one.is_default())) json[one.key] = std::visit(as_json{one}, one.value);
  for (auto const& [key, text] : o.more_shapes()) json[key] = nlohmann::json::parse(text);
  return json;
}

void restore(run_options& o, checkpoint const& file) {
  auto const take = [&](auto const& wanted) {
    option_list list;
    o.each(list);
    for (auto const& one : list.all())
      if (!is_kept(one) || !wanted(one))
        continue;
      else if (one.is_new && !file.configuration().contains(one.key))
        reset(one);
      else
        std::visit(from_file{one, file}, one.value);
  };
  // The option `model` is read first, because it may decide which other options exist.
  take([](option const& one) { return one.name == "model"; });
  take([](option const& one) { return one.name != "model"; });
  o.restored(file);
}

namespace {

/// Returns a line of settings for messages.  Its number has the fewest digits that determine the number
/// exactly.
std::string shown(std::string const& line) {
  std::string const equals = " = ";
  auto const at = line.find(equals);
  if (at == std::string::npos || line.find_first_of(".e", at) == std::string::npos) return line;
  auto const text = line.substr(at + equals.size());
  char* end = nullptr;
  double const value = std::strtod(text.c_str(), &end);
  return end == text.c_str() || *end != '\0' ? line : line.substr(0, at) + equals + fmt::to_string(value);
}

}  // namespace

void expect_same_settings(std::string const& path, std::string const& was, std::string const& is) {
  auto const by_name = [](std::string const& text) {
    std::map<std::string, std::string> lines;
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);) lines[toml_name(line)] = line;
    return lines;
  };
  auto const before = by_name(was), now = by_name(is);
  struct difference {
    std::string name, old, wanted;
  };
  std::vector<difference> all;
  for (auto const& [name, line] : now)
    if (auto const old = before.find(name); old == before.end() || old->second != line)
      all.push_back({name, old == before.end() ? "no " + name : old->second, line});
  for (auto const& [name, line] : before)
    if (!now.contains(name)) all.push_back({name, line, "no " + name});
  if (all.empty()) return;
  std::string others;  // are listed too, because one option may depend on another
  for (std::size_t i = 1; i < all.size() && !before.empty(); ++i) others += (i > 1 ? ", " : "") + all[i].name;
  throw data_error(path + " was trained with " + (before.empty() ? "no record of its settings" : shown(all[0].old)) +
                   ", this run has " + shown(all[0].wanted) + (others.empty() ? "" : ", and differs in " + others) +
                   "; give the same options to go on from it");
}

}  // namespace triad::programs
