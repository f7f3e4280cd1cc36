// One golden file: its kind, the configuration it was made with, and its tensors by name.
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
  explicit golden_file(std::filesystem::path const& path) : path_(path), tensors_(path) {
    auto const& metadata = tensors_.metadata();
    auto const text = [&](char const* key) {
      auto const at = metadata.find(key);
      return at == metadata.end() ? std::string() : at->second;
    };
    kind = text("kind");
    if (kind.empty()) throw data_error(path.string() + ": no `kind` in the metadata; expected a golden file");
    config = parse(text("config"), "config");
    auto const torch = parse(text("torch_f32_vs_f64"), "torch_f32_vs_f64");
    if (torch.contains("max_abs_err_over_max_abs")) single_error = torch["max_abs_err_over_max_abs"].get<double>();
  }

  std::string kind;
  nlohmann::json config = nlohmann::json::object();
  double single_error = 0;  // what the reference program itself loses in float, relative to the largest element

  std::filesystem::path const& path() const { return path_; }

  /// "f32", "f64", or nothing where a case has no floating-point inputs.
  std::string dtype() const { return config.value("dtype", std::string()); }
  bool single() const { return dtype() == "f32"; }

  std::vector<std::string> names() const { return {tensors_.names().begin(), tensors_.names().end()}; }
  /// Names that begin with `prefix`.
  std::vector<std::string> names(std::string_view prefix) const {
    auto all = names();
    std::erase_if(all, [&](std::string const& name) { return !name.starts_with(prefix); });
    return all;
  }
  bool has(std::string const& name) const {
    auto const all = names();
    return std::find(all.begin(), all.end(), name) != all.end();
  }

  std::vector<index_t> shape(std::string const& name, std::size_t rank) const {
    auto const& found = tensors_.shape(name);
    std::vector<index_t> sizes(found.begin(), found.end());
    if (sizes.size() != rank)
      throw data_error(path_.string() + ": " + name + " has " + std::to_string(sizes.size()) + " axes; expected " + std::to_string(rank));
    return sizes;
  }
  std::vector<double> values(std::string const& name) const { return tensors_.read_as<double>(name); }
  std::vector<index_t> integers(std::string const& name) const { return tensors_.read_as<index_t>(name); }
  double scalar(std::string const& name) const { return values(name).at(0); }

  index_t size(char const* key) const { return config.at(key).get<index_t>(); }
  bool flag(char const* key) const { return config.value(key, false); }

  /// Parameters of the reference program that do not reach the loss: a model that is compared may not have them.
  bool may_be_absent(std::string const& parameter) const {
    auto const names = config.value("params_with_no_gradient", std::vector<std::string>());
    return std::find(names.begin(), names.end(), parameter) != names.end();
  }

 private:
  nlohmann::json parse(std::string const& text, char const* what) const {
    if (text.empty()) return nlohmann::json::object();
    auto value = nlohmann::json::parse(text, nullptr, false);
    if (!value.is_object()) throw data_error(path_.string() + ": `" + what + "` in the metadata is no JSON object");
    return value;
  }

  std::filesystem::path path_;
  safetensors tensors_;
};

}  // namespace triad::golden
