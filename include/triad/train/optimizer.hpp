// Adam and AdamW for a parameter_set, and the clock with the step and the learning rate that kernels read.
// SPDX-License-Identifier: Apache-2.0
//
// The mathematics is in ops/adam.hpp.  An update is one loop over the flat buffers.  If some parameters have no
// gradient, an update has one loop for each contiguous range of parameters that have a gradient.  Parameters without a
// gradient do not change at all, not even by weight decay, as in PyTorch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "triad/core/buffer.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/adam.hpp"
#include "triad/train/parameters.hpp"

namespace triad {

/// The number of the current update (from 0), its learning rate, and the fraction of the current part.  These numbers
/// are in a backend's memory.  Dropout, Adam and captured graphs read them there.
template <backend Ex>
class training_clock {
  using memory = typename Ex::memory;

 public:
  /// `where` is memory_of(ex) for the backend of a device.  On a host it is not needed.
  explicit training_clock(memory where = {}) : memory_(sizeof(numbers), where) {}

  /// Call this function before each update.  Does not allocate.
  void set(std::uint64_t update, double rate) { write({update, rate, 1}); }
  /// Call this function before part `part` (from 0) of an update that is divided into parts.  Before Adam's step, call
  /// set() again.
  void set_part(std::uint64_t update, std::uint32_t part, double fraction) {
    write({update | std::uint64_t{part} << 32, 0, fraction});
  }

  /// The number of the update.  During a part, the upper 32 bits have the number of the part.
  std::uint64_t const* step() const { return &held()->step; }
  vec<double const> rate() const { return make_vec(&held()->rate, 1); }
  double const* fraction() const { return &held()->fraction; }

 private:
  struct numbers {
    std::uint64_t step;
    double rate, fraction;
  };
  numbers const* held() const { return static_cast<numbers const*>(memory_.data()); }
  void write(numbers const& now) { memory_.memory().from_host(memory_.data(), &now, sizeof now); }

  buffer<memory> memory_;
};

/// The default for `skip`: skips no parameter.
struct skip_none {
  bool operator()(std::string const&) const { return false; }
};

/// The optimiser Adam (if options.decoupled is false) or AdamW.  The optimiser has no tensors: the moments are in the
/// parameter_set.
template <class Model, backend Ex>
class adam_optimizer {
  using T = scalar_t<Model>;

 public:
  adam_options options;

  /// skip(path) returns true for a parameter without a gradient.  A test of the path's prefix can skip a whole layer.
  template <class Skip = skip_none>
  explicit adam_optimizer(parameter_set<Model, Ex> const& parameters, adam_options const& o = {}, Skip skip = {})
      : options(o) {
    TRIAD_EXPECTS(
        o.epsilon > 0 && is_finite(o.epsilon),
        "adam_optimizer: epsilon is " + std::to_string(o.epsilon) +
            ", expected a positive finite number: it keeps 0 / 0 out of parameters whose gradient was always 0");
    TRIAD_EXPECTS(o.weight_decay >= 0 && is_finite(o.weight_decay), "adam_optimizer: weight_decay is " +
                                                                        std::to_string(o.weight_decay) +
                                                                        ", expected a finite number of 0 or more");
    auto const decays = [](double beta) { return is_finite(beta) && beta >= 0 && beta < 1; };
    TRIAD_EXPECTS(decays(o.beta1) && decays(o.beta2), "adam_optimizer: beta1 is " + std::to_string(o.beta1) +
                                                          " and beta2 is " + std::to_string(o.beta2) +
                                                          ", expected at least 0 and below 1");
    struct place {
      T const* first;
      index_t count;
      bool skipped;
    };
    std::vector<place> places;
    walk(parameters.values(), [&](std::string const& path, auto view) {
      if (view.size() > 0) places.push_back({view.data_handle(), static_cast<index_t>(view.size()), skip(path)});
    });
    T const* const begin = parameters.flat_values().data_handle();
    std::sort(places.begin(), places.end(), [](place const& a, place const& b) { return a.first < b.first; });
    bool open = false;
    for (auto const& p : places) {
      index_t const first = p.first - begin;
      if (p.skipped) {
        open = false;
      } else if (!open) {
        stretches_.push_back({first, p.count});
        open = true;
      } else {
        stretches_.back().count = first + p.count - stretches_.back().first;
      }
    }
  }

  /// Updates every parameter that is not skipped, with its gradient.  Overwrites values and moments.
  void update(Ex& ex, parameter_set<Model, Ex>& parameters, training_clock<Ex> const& clock) const {
    parameters.expect_weights("adam_optimizer");
    for (auto const& s : stretches_) {
      auto const part = [&](vec<T> all) { return make_vec(all.data_handle() + s.first, s.count); };
      adam(ex, options, clock.rate(), clock.step(), part(parameters.flat_values()), part(parameters.flat_gradients()),
           part(parameters.flat_first_moments()), part(parameters.flat_second_moments()));
    }
  }

  /// Returns the part of a flat buffer from the first parameter that is not skipped to the last one.
  vec<T> trained(vec<T> all) const {
    if (stretches_.empty()) return make_vec(all.data_handle(), 0);
    auto const &first = stretches_.front(), &last = stretches_.back();
    return make_vec(all.data_handle() + first.first, last.first + last.count - first.first);
  }
  /// The number of loops of an update.  It is 1 if no parameter is skipped.
  index_t stretches() const { return static_cast<index_t>(stretches_.size()); }

 private:
  struct stretch {
    index_t first, count;
  };
  std::vector<stretch> stretches_;
};

}  // namespace triad
