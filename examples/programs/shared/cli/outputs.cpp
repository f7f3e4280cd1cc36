// SPDX-License-Identifier: Apache-2.0
#include "outputs.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <variant>

#include "config.hpp"
#include "shared/run/run_folder.hpp"
#include "triad/core/errors.hpp"

namespace triad::programs {
namespace {

namespace fs = std::filesystem;

bool is_there(std::string const& path) {
  std::error_code none;
  return fs::exists(fs::symlink_status(path, none));
}

/// Returns true if both paths are paths of the same file or folder. It need not exist.
bool are_one(std::string const& a, std::string const& b) {
  std::error_code none;
  if (fs::equivalent(a, b, none)) return true;
  auto const place = [](std::string const& path) {
    std::error_code failure;
    return fs::weakly_canonical(fs::absolute(path, failure), failure);
  };
  auto const one = place(a);
  return !one.empty() && one == place(b);
}

/// Returns the input files and folders that the options name and that exist.
std::vector<input_file> inputs_of(run_options const& o) {
  std::vector<input_file> all;
  auto const add = [&](std::string const& what, std::string const& path) {
    std::error_code none;
    if (!path.empty() && fs::exists(path, none)) all.push_back({what, path});
  };
  auto const add_run = [&](std::string const& path) {
    add("the run's checkpoint", checkpoint_of(path));
    add("the run's config.toml", config_of(path));
  };
  if (!o.run.empty()) add_run(o.run);
  for (auto const& one : options_of(o).all()) {
    if (one.name == "run" || one.name == "out") continue;
    if (auto const* const paths = std::get_if<std::vector<std::string>*>(&one.value); paths != nullptr) {
      if (one.name == "runs")
        for (auto const& path : **paths) add_run(path);
      continue;
    }
    auto const* const path = std::get_if<std::string*>(&one.value);
    if (path != nullptr && (one.is_file || one.is_folder || one.is_path)) add("--" + one.name, **path);
    // For some verbs, --data is a file of questions.
    if (path != nullptr && one.name == "data") add("--data", **path);
  }
  return all;
}

std::string folder_of(std::string const& path) {
  auto const folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

void expect_no_input(output_file const& out, std::vector<input_file> const& inputs) {
  std::error_code none;
  for (auto const& in : inputs) {
    if (are_one(out.path, in.path))
      throw data_error(out.option + ": " + out.path + " is what is read (" + in.what +
                       "), and would be replaced; give another name");
    if (is_there(out.path) && fs::is_directory(in.path, none) && are_one(folder_of(out.path), in.path))
      throw data_error(out.option + ": " + out.path + " lies among what is read (" + in.what + " " + in.path +
                       "), and would be replaced; give another name or folder");
  }
}

}  // namespace

void expect_free(run_options const& o, std::vector<output_file> const& files, std::vector<input_file> const& more) {
  std::vector<output_file> given;
  std::copy_if(files.begin(), files.end(), std::back_inserter(given), [](auto const& f) { return !f.path.empty(); });
  if (o.force && given.empty())
    throw data_error("--force is about files that are written, and none is: name one, or leave it out");
  auto inputs = inputs_of(o);
  inputs.insert(inputs.end(), more.begin(), more.end());
  for (std::size_t i = 0; i < given.size(); ++i) {
    auto const& out = given[i];
    for (std::size_t j = 0; j < i; ++j)
      if (are_one(out.path, given[j].path))
        throw data_error(out.option + ": " + out.path + " is what " + given[j].option +
                         " writes too, and one would replace the other; give each a name of its own");
    expect_no_input(out, inputs);
    std::error_code none;
    if (!is_there(out.path)) continue;
    if (fs::exists(out.path, none) && !fs::is_regular_file(out.path, none))
      throw data_error(out.option + ": " + out.path + " is there and is no file; give the name of a file");
    if (!o.force)
      throw data_error(out.option + ": " + out.path +
                       " is there already, and would be replaced; give another name or folder, or --force");
  }
}

void expect_free_in_folder(run_options const& o, std::vector<std::string> const& names) {
  std::vector<output_file> files{{"--html", o.html}};
  if (!o.out.empty())
    for (auto const& name : names) files.push_back({"--out", o.out + "/" + name});
  expect_free(o, files);
}

void expect_own_folder(run_options const& o) {
  if (o.out.empty()) return;
  std::error_code none;
  auto const checkpoint = o.out + "/model.safetensors", config = o.out + "/config.toml",
             metrics = o.out + "/metrics.csv";
  if (fs::exists(checkpoint, none)) {
    for (auto const& one : options_of(o).all())
      if (one.is_folder && are_one(o.out, **std::get_if<std::string*>(&one.value)))
        throw data_error("--out " + o.out + " is what --" + one.name +
                         " is read from, and its model.safetensors would be set aside; give another folder");
    return;  // a run in this folder is renamed or resumed, not replaced
  }
  auto const refuse = [&](std::string const& path) {
    throw data_error("--out " + o.out + ": " + path +
                     " is there, no run wrote it, and it would be replaced; give another folder");
  };
  if (o.seeds > 1) return;  // each run has a folder of its own
  if (is_there(config)) {
    std::vector<config_item> items;
    try {
      items = read_config(config);
    } catch (data_error const&) {
      refuse(config);
    }
    // The config.toml of every program and version has these options.
    for (auto const* name : {"seed", "threads", "backend"})
      if (std::none_of(items.begin(), items.end(), [&](config_item const& item) { return item.name == name; }))
        refuse(config);
  }
  if (is_there(metrics)) {
    std::ifstream file(metrics);
    std::string first;
    std::getline(file, first);
    if (!first.empty() && !first.starts_with("epoch,step,")) refuse(metrics);
  }
}

}  // namespace triad::programs
