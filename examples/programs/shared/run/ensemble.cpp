// SPDX-License-Identifier: Apache-2.0
#include "ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "run_folder.hpp"
#include "shared/cli/config.hpp"
#include "triad/core/errors.hpp"
#include "triad/io/json_difference.hpp"

namespace triad::programs {
namespace {

/// The data that a run was trained on, according to its config.toml.
struct trained_on {
  bool known = false;
  std::string data;  // empty: generated data
};
trained_on data_of(std::string const& run) {
  auto const file = config_of(run);
  if (!std::filesystem::is_regular_file(file)) return {};
  return {true, config_value(file, "data")};
}
std::string told(std::string const& data) { return data.empty() ? "generated data" : data; }

}  // namespace

void expect_different_runs(std::string const& first, std::vector<std::string> const& more) {
  std::vector<std::string> before{first};
  for (auto const& run : more) {
    for (auto const& other : before) {
      std::error_code none;
      if (run == other || std::filesystem::equivalent(checkpoint_of(run), checkpoint_of(other), none))
        throw data_error(run + (run == other ? " is named twice" : " is the run that " + other + " names") +
                         ": it would count as two of those that answer together; name each once");
    }
    before.push_back(run);
  }
}

void expect_together(run_options const& o, checkpoint const& first, std::string const& run, checkpoint const& file) {
  if (auto const config = config_of(run); std::filesystem::is_regular_file(config))
    if (auto const owner = owner_of(read_config(config)); !owner.empty() && !o.owns(owner))
      throw data_error(run + " is a run of " + owner + ", and this is " + o.program +
                       ": runs that answer together are of one program");
  if (file.vocabulary() != first.vocabulary())
    throw data_error(run + " knows other words than " + o.run + ": " +
                     triad::json_difference(file.vocabulary(), first.vocabulary()) +
                     "; runs that answer together are of one task");
  if (!o.data_of_run) return;  // --data was given, so all runs answer questions about the same data
  auto const its = data_of(run), ours = data_of(o.run);
  std::error_code none;
  if (its.known && ours.known && its.data != ours.data && !std::filesystem::equivalent(its.data, ours.data, none))
    throw data_error(run + " was trained on " + told(its.data) + ", and " + o.run + " on " + told(ours.data) +
                     ": say with --data what to ask both");
}

void log_probability_sums::add(std::size_t first, std::vector<float> const& logits) {
  if (logits.size() % classes_ != 0) throw std::logic_error("log_probability_sums: a row has another length");
  sums_.resize(std::max(sums_.size(), first * classes_ + logits.size()));
  for (std::size_t at = 0; at < logits.size(); at += classes_) {
    auto const row = logits.begin() + static_cast<std::ptrdiff_t>(at);
    double const most = *std::max_element(row, row + static_cast<std::ptrdiff_t>(classes_));
    double all = 0;
    for (std::size_t c = 0; c < classes_; ++c) all += std::exp(static_cast<double>(logits[at + c]) - most);
    for (std::size_t c = 0; c < classes_; ++c)
      sums_[first * classes_ + at + c] += static_cast<double>(logits[at + c]) - most - std::log(all);
  }
}

std::size_t log_probability_sums::best(std::size_t row) const {
  auto const begin = sums_.begin() + static_cast<std::ptrdiff_t>(row * classes_);
  return static_cast<std::size_t>(std::max_element(begin, begin + static_cast<std::ptrdiff_t>(classes_)) - begin);
}

}  // namespace triad::programs
