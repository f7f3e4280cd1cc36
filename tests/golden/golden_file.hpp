// One golden file. It has a kind, the configuration with which it was made, and tensors with names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "triad/core/errors.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/io/safetensors.hpp"

namespace triad::golden {

class golden_file {
 public:
  explicit golden_file(std::filesystem::path const& path) : path_(path), tensors_(path.string()) {
    kind = tensors_.text("kind");
    config = parse("config");
    auto const torch = parse("torch_f32_vs_f64");
    if (torch.contains("max_abs_err_over_max_abs")) single_error = torch["max_abs_err_over_max_abs"].get<double>();
  }

  std::string kind;
  nlohmann::json config = nlohmann::json::object();
  double single_error = 0;  // error of the reference program in float, relative to the largest element

  std::filesystem::path const& path() const { return path_; }

  /// Returns "f32" or "f64". Returns an empty text if the file has no floating-point inputs.
  std::string dtype() const { return config.value("dtype", std::string()); }
  bool single() const { return dtype() == "f32"; }

  /// Returns the names of tensors that begin with `prefix`.
  std::vector<std::string> names(std::string_view prefix) const {
    std::vector<std::string> all;
    for (auto const& [name, record] : tensors_.tensors())
      if (name.starts_with(prefix)) all.push_back(name);
    return all;
  }
  bool has(std::string const& name) const { return tensors_.has(name); }

  std::vector<index_t> shape(std::string const& name, std::size_t rank) const {
    auto const& sizes = tensors_.shape(name);
    if (sizes.size() != rank)
      throw data_error(path_.string() + ": expected " + name + " to have " + std::to_string(rank) + " axes, found " +
                       shape_text(sizes));
    return sizes;
  }
  std::vector<double> values(std::string const& name) const { return tensors_.read_as<double>(name); }
  std::vector<index_t> integers(std::string const& name) const { return tensors_.read_as<index_t>(name); }

  index_t size(char const* key) const { return config.at(key).get<index_t>(); }
  bool flag(char const* key) const { return config.value(key, false); }

  /// Returns the JSON in a string of the metadata. It may be any kind of value.
  nlohmann::json json(std::string const& name) const {
    auto value = nlohmann::json::parse(tensors_.text(name), nullptr, false);
    if (value.is_discarded())
      throw data_error(path_.string() + ": expected JSON as " + name + " in __metadata__, found something else");
    return value;
  }

  /// Returns whether this parameter of the reference program has no effect on the loss. A model that is compared with
  /// the file need not have such a parameter.
  bool may_be_absent(std::string const& parameter) const {
    auto const names = config.value("params_with_no_gradient", std::vector<std::string>());
    return std::find(names.begin(), names.end(), parameter) != names.end();
  }

 private:
  /// Returns the JSON object in a string of the metadata. Returns an empty object if there is no such string.
  nlohmann::json parse(std::string const& name) const {
    auto const found = tensors_.metadata().find(name);
    if (found == tensors_.metadata().end()) return nlohmann::json::object();
    auto value = nlohmann::json::parse(found->second, nullptr, false);
    if (!value.is_object())
      throw data_error(path_.string() + ": expected a JSON object as " + name +
                       " in __metadata__, found something else");
    return value;
  }

  std::filesystem::path path_;
  safetensors tensors_;
};

}  // namespace triad::golden
