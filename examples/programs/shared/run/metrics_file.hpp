// metrics.csv has one line for each epoch. The file is always replaced as a whole, so a killed run never leaves half a
// line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "shared/processes/first_writes.hpp"

namespace triad::programs {

class metrics_file {
 public:
  /// Keeps the lines of an earlier process up to update `step`, the update of its checkpoint. Drops later lines,
  /// because their epochs will be repeated. If the path is empty, writes no file.
  metrics_file(std::string path, std::uint64_t step) : path_(std::move(path)) {
    text_ = "epoch,step,loss,rate,norm,validation,seconds,examples_per_second\n";
    std::ifstream old(path_);
    std::string line;
    std::getline(old, line);
    while (step > 0 && std::getline(old, line)) {
      std::istringstream cells(line);
      std::string epoch, at;
      if (std::getline(cells, epoch, ',') && std::getline(cells, at, ',') &&
          std::strtoull(at.c_str(), nullptr, 10) <= step)
        text_ += line + "\n";
    }
  }
  /// If the epoch of the last line was interrupted at update `step`, removes the line, because the epoch will be
  /// continued.
  void reopen(std::uint64_t step) {
    auto const last = text_.rfind('\n', text_.size() - 2) + 1;
    auto const at = text_.find(',', last) + 1;
    if (last == 0 || std::strtoull(text_.c_str() + at, nullptr, 10) != step) return;
    text_.erase(last);
    write();
  }
  void add(std::string const& line) {
    text_ += line + "\n";
    write();
  }
  /// Writes the file, even if it has only the header.
  void write() const {
    if (!path_.empty()) first_writes(path_, text_);
  }

  /// The losses of the epochs so far.
  std::vector<double> losses() const { return column(2); }
  /// The validation results of the epochs so far.
  std::vector<double> validations() const { return column(5); }
  /// Returns how many epochs follow the best epoch. Only epochs after update `begin` count. Returns -1 if there are
  /// none.
  int since_best(std::uint64_t begin, bool lower_is_better) const {
    auto const steps = column(1), values = column(5);
    int since = -1;
    double best = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i] <= static_cast<double>(begin)) continue;
      bool const is_better = since < 0 || (lower_is_better ? values[i] < best : values[i] > best);
      if (is_better) best = values[i];
      since = is_better ? 0 : since + 1;
    }
    return since;
  }
  /// Returns the update and the validation result in the line that is `lines` lines before the last.
  std::pair<std::uint64_t, double> before_last(int lines) const {
    auto const steps = column(1), values = column(5);
    auto const at = steps.size() - 1 - static_cast<std::size_t>(lines);
    return {static_cast<std::uint64_t>(steps[at]), values[at]};
  }
  /// Returns the total duration of all epochs so far, including those that earlier processes of this run have made.
  double seconds() const {
    auto const all = column(6);
    return all.empty() ? 0 : all.back();
  }

 private:
  std::vector<double> column(int wanted) const {
    std::vector<double> result;
    std::istringstream lines(text_);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::istringstream cells(line);
      std::string cell;
      for (int c = 0; c <= wanted; ++c) std::getline(cells, cell, ',');
      result.push_back(std::strtod(cell.c_str(), nullptr));
    }
    return result;
  }

  std::string path_, text_;
};

}  // namespace triad::programs
