// Computes the last states of a loaded encoder, for tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "tests/ragged.hpp"
#include "triad/batches/pair_loader.hpp"
#include "triad/reference/reference.hpp"

namespace triad::test {

/// Returns the last states (rows, width) of all sentences.  The loader adds `end` to each.
template <class Set>
std::vector<double> encoder_states(Set& parameters, std::vector<std::vector<index_t>> const& sentences, index_t end) {
  auto const& model = parameters.model();
  reference::backend ex;
  index_t rows = 0, longest = 0;
  for (auto const& s : sentences) {
    auto const n = static_cast<index_t>(s.size()) + 1;
    rows += n;
    longest = std::max(longest, n);
  }
  pair_loader<reference::backend, double> loader(
      {static_cast<index_t>(sentences.size()), rows, static_cast<index_t>(sentences.size()), longest, 1}, model.width(),
      end, end);
  for (auto const& s : sentences) loader.add(s, {});
  auto const in = loader.upload().first;
  spoiled_memory const memory([&](arena& a) { return model.plan_saved(a, in.sizes); });
  auto place = memory.place();
  auto const saved = model.plan_saved(place, in.sizes);
  with_scratch(ex, call{},
               [&](auto& any, call const& c) { model.encode(any, c, parameters.values(), in, saved.encoder); });
  auto const y = saved.encoder.y();
  return {y.data_handle(), y.data_handle() + y.size()};
}

}  // namespace triad::test
