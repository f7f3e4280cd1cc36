// Counts how often each right label was predicted as each label.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace triad::programs {

class confusion {
 public:
  void add(std::string const& part, std::string const& target, std::string const& predicted);

  /// Returns a table of the most frequent mistakes of all parts together.  Each line has the target, the prediction,
  /// how often this mistake was made, and the number of examples with this target.  Equally frequent mistakes are
  /// sorted by bytes.  The table ends with a line end.
  std::string table(std::size_t most = 10) const;
  /// Returns CSV with the columns part, target, predicted, count.  It has a line for every pair that occurred,
  /// including right answers.  The lines are sorted by part and then by bytes.
  std::string csv() const;

 private:
  using counts = std::map<std::pair<std::string, std::string>, long long>;  // by (target, predicted)

  std::vector<std::pair<std::string, counts>> parts_;
};

}  // namespace triad::programs
