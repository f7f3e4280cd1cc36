// Processes many examples, in batches that fit into a model's memory.  If there are several processes, they take the
// batches in turn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "shared/data/packed.hpp"
#include "shared/processes/world.hpp"
#include "shared/report/refuse.hpp"

namespace triad::programs {

/// Processes `count` examples in order, in batches as large as memory permits. add(i) must add example i to the batch
/// of `net`, and return false if the example does not fit.  For each batch of examples `first` to `last` - 1, calls
/// take(first, last, answer()).  If example i does not fit even alone, throws a data_error with the message refused(i).
/// The batches do not depend on the number of processes.  Each of several processes computes the answers to its own
/// batches; then every process calls take() for all batches.
template <class Net, class Add, class Refused, class Answer, class Take>
void in_batches(Net& net, std::size_t count, Add const& add, Refused const& refused, Answer const& answer,
                Take const& take) {
  using answers = std::remove_cvref_t<decltype(answer())>;
  auto const processes = static_cast<std::size_t>(world().size());
  std::vector<std::pair<std::size_t, std::size_t>> batches;  // of several processes: examples [first, last)
  std::string own;
  for (std::size_t first = 0; first < count;) {
    net.clear();
    auto last = first;
    while (last < count && add(last)) ++last;
    if (last == first) refuse("{}", refused(first));
    if (processes == 1) {
      take(first, last, answer());
    } else {
      if (batches.size() % processes == static_cast<std::size_t>(world().rank())) pack(own, answer());
      batches.emplace_back(first, last);
    }
    first = last;
  }
  if (processes == 1) return;
  std::string cuts;
  for (auto const& [first, last] : batches) cuts += std::to_string(first) + " to " + std::to_string(last) + "\n";
  expect_same("the batches of what is evaluated", cuts);
  auto const all = texts_of_all(own);
  std::vector<std::string_view> left(all.begin(), all.end());
  for (std::size_t b = 0; b < batches.size(); ++b) {
    answers found;
    unpack(left[b % processes], found);
    take(batches[b].first, batches[b].second, found);
  }
}

}  // namespace triad::programs
