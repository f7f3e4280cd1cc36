// Trains a model on pairs of sequences, for tests of encoder-decoders.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tests/allocation_count.hpp"
#include "tests/catch.hpp"
#include "triad/core/random.hpp"

namespace triad::test {

/// Makes an update on `pairs` pairs, which depend only on `number`. Returns the loss.
template <class Trainer, class Loader>
float update_on_pairs(Trainer& train, Loader& loader, std::uint64_t number, int pairs) {
  random_stream random(7, number);
  index_t tokens[8];
  loader.clear();
  for (int p = 0; p < pairs; ++p) {
    auto const n = random.below(9);
    for (index_t i = 0; i < n; ++i) tokens[i] = 3 + random.below(8);
    std::span<index_t const> const one(tokens, n);
    loader.add(one, one.first(n / 2));
  }
  auto const both = loader.upload();
  train.update(both.first, both.second, 0.003);
  return train.loss();
}

/// Returns the loss and the gradient norm of each of four updates, and then every parameter. `Run` must have
/// update(number) and train.
template <class Run>
std::vector<float> trace_of(Run&& run) {
  std::vector<float> all;
  for (std::uint64_t u = 0; u < 4; ++u) {
    all.push_back(run.update(u));
    all.push_back(run.train.norm());
  }
  auto const values = run.train.parameters().flat_values();
  all.insert(all.end(), values.data_handle(), values.data_handle() + values.size());
  return all;
}

template <class Run>
void expect_no_allocations(Run&& run) {
  for (std::uint64_t u = 0; u < 4; ++u) run.update(u);  // threads start here, and BLAS allocates its buffers
  auto const before = allocations.load();
  float loss = 0;
  for (std::uint64_t u = 0; u < 4; ++u) loss += run.update(u);
  auto const after = allocations.load();
  CHECK(after - before == 0);
  CHECK(loss > 0);
}

}  // namespace triad::test
