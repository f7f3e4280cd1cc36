// A confusion table: the count of each pair of a right label and a predicted label.
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

  /// The most frequent mistakes of all parts together, a line each: the target, what was predicted instead, how often,
  /// and of how many; equally frequent ones in the order of bytes.  Ends with a line end.
  std::string table(std::size_t most = 10) const;
  /// part,target,predicted,count: every pair that there was, right answers too, in the order of parts and bytes.
  std::string csv() const;

 private:
  using counts = std::map<std::pair<std::string, std::string>, long long>;  // of (target, predicted)

  std::vector<std::pair<std::string, counts>> parts_;
};

}  // namespace triad::programs
