// Noise of Gumbel-softmax: drawn on the host for every update, the same on every backend.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "options.hpp"
#include "triad/batches/batch_upload.hpp"
#include "triad/batches/tree_batch.hpp"
#include "triad/core/random.hpp"

namespace tree_transforms {

/// Minus the logarithm of an exponential variable.
inline float gumbel(triad::random_stream& random) {
  double const u = random.uniform();  // in [0, 1)
  return static_cast<float>(-std::log(-std::log1p(-std::max(u, 1e-300))));
}

template <triad::backend Ex>
class gumbel_noise {
 public:
  using index_t = triad::index_t;

  gumbel_noise(index_t steps, index_t batch, options const& o, typename Ex::memory where)
      : steps_(steps),
        key_(o.seed + 0x9e3779b97f4a7c15u),
        on_operations_(choice_of_operations(o) != "softmax"),
        on_arguments_(choice_of_arguments(o) != "softmax"),
        operations_(static_cast<std::size_t>(steps * batch * 3)),
        arguments_(static_cast<std::size_t>(steps * batch * steps * 4)),
        upload_(bytes(steps, batch), where) {}

  /// Gives a batch the noise of an update, until the next call.  It is drawn for operations and arguments alike, so
  /// that what the one have does not depend on whether the other are chosen with noise.
  void add(triad::tree_batch<float>& in, std::uint64_t update) {
    using triad::dyn;
    index_t const batch = in.sizes.batch;
    triad::random_stream random(key_, update);
    std::fill(arguments_.begin(), arguments_.end(), 0.0f);
    for (index_t k = 0; k < steps_; ++k)
      for (index_t b = 0; b < batch; ++b) {
        auto const row = static_cast<std::size_t>(k * batch + b), columns = static_cast<std::size_t>(steps_ * 4);
        for (std::size_t j = 0; j < 3; ++j) operations_[row * 3 + j] = gumbel(random);
        for (std::size_t j = 0; j < static_cast<std::size_t>((k + 1) * 4); ++j)
          arguments_[row * columns + j] = gumbel(random);
      }
    upload_([&](auto const& put) {
      auto const o = put(operations_, steps_ * batch * 3), a = put(arguments_, steps_ * batch * steps_ * 4);
      using noise = triad::tensor<float const, dyn, dyn, dyn>;
      if (on_operations_) in.operation_noise = noise(o.data_handle(), steps_, batch, 3);
      if (on_arguments_) in.argument_noise = noise(a.data_handle(), steps_, batch, steps_ * 4);
      return 0;
    });
  }

 private:
  static std::size_t bytes(index_t steps, index_t batch) {
    return triad::planned_bytes([&](triad::arena& a) {
      a.make<triad::vec<float>>(steps * batch * 3);
      a.make<triad::vec<float>>(steps * batch * steps * 4);
    });
  }

  index_t steps_;
  std::uint64_t key_;
  bool on_operations_, on_arguments_;
  std::vector<float> operations_, arguments_;
  triad::batch_upload<Ex> upload_;
};

}  // namespace tree_transforms
