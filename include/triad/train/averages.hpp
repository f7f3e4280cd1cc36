// Exponential moving averages of a model's parameters.  The averages can temporarily replace the parameters.
// SPDX-License-Identifier: Apache-2.0
//
//   parameter_averages mean(ex, learner.parameters(), 0.999);              once
//   mean.update();                                                         after every update of the trainer
//   auto const found = mean.in_use([&] { return evaluate(learner, loader, test, add_one, {.most = 60}); });
//
//   a <- d a + (1 - d) w,  d = min(decay, t / (9 + t)),  t = 0, 1, ... the number of earlier averages
// The first average equals the parameters.  For the averages after the first, d is min(decay, (1 + s) / (10 + s)), s =
// 0, 1, ... Until d reaches `decay`, the average covers about the last tenth of the updates.  An alternative is a
// constant decay with a bias correction, as in Adam.  In a run shorter than 1 / (1 - decay) updates, such an average
// would also include the random initial parameters.
//
// The average is computed as a + (1 - d) (w - a).  So if a parameter never changes, its average equals the parameter
// bit for bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "triad/core/backend.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/train/parameters.hpp"

namespace triad {

namespace detail {
/// Computes a + fraction (w - a).
template <class T>
struct towards {
  T fraction;
  TRIAD_HOST_DEVICE T operator()(T a, T w) const { return a + fraction * (w - a); }
};
}  // namespace detail

/// Averages of the parameters of a trainer or of a parameter_set.  The parameters must outlive the averages.  Allocates
/// memory only in the constructor: as much memory as the parameters take, and at most 4 MiB for exchange().
template <class Model, backend Ex>
class parameter_averages {
 public:
  using set = parameter_set<Model, Ex>;
  using memory = typename Ex::memory;
  using T = typename set::value_type;

  /// `decay` must be above 0 and below 1.  `ex` must be the backend of the trainer.
  parameter_averages(Ex& ex, set& parameters, double decay)
      : ex_(ex),
        parameters_(parameters),
        decay_(decay),
        held_(bytes_of(parameters.flat_values().extent(0)), parameters.where()),
        between_(bytes_of(std::min(parameters.flat_values().extent(0), most_exchanged)), parameters.where()) {
    TRIAD_EXPECTS(!is_nan(decay) && decay > 0 && decay < 1,
                  "parameter_averages: decay is " + std::to_string(decay) + ", expected above 0 and below 1");
  }
  parameter_averages(parameter_averages const&) = delete;
  parameter_averages& operator=(parameter_averages const&) = delete;

  /// Updates the averages with the current parameters.  Does not wait for a device.
  void update() {
    expect_not_exchanged("update");
    parameters_.expect_weights("parameter_averages");  // throws if other averages replace the parameters
    transform(ex_, detail::towards<T>{static_cast<T>(1 - decay_of(count_))}, flat(held_), parameters_.flat_values(),
              flat(held_));
    ++count_;
  }
  /// Returns the decay d of the average that follows `before` earlier averages.
  double decay_of(std::uint64_t before) const {
    auto const t = static_cast<double>(before);
    return std::min(decay_, t / (9 + t));
  }
  double decay() const { return decay_; }
  /// The number of updates that the averages include.
  std::uint64_t count() const { return count_; }

  /// Swaps the averages and the parameters.  A second call restores both, bit for bit.  Throws contract_violation if
  /// there are no averages yet, or if other averages replace the parameters.
  void exchange() {
    TRIAD_EXPECTS(count_ > 0,
                  "parameter_averages: exchange() before the first update(), expected an average; update() first");
    TRIAD_EXPECTS(
        exchanged_ || !parameters_.replaced(),
        "parameter_averages: other averages are in the place of the parameters, expected none; exchange() those first");
    auto const a = flat(held_), w = parameters_.flat_values();
    for (index_t first = 0; first < a.extent(0); first += most_exchanged) {
      index_t const count = std::min(most_exchanged, a.extent(0) - first);
      auto const part = [&](vec<T> all) { return make_vec(all.data_handle() + first, count); };
      auto const between = make_vec(static_cast<T*>(between_.data()), count);
      transform(ex_, unchanged{}, part(w), between);
      transform(ex_, unchanged{}, part(a), part(w));
      transform(ex_, unchanged{}, between, part(a));
    }
    exchanged_ = !exchanged_;
    parameters_.set_replaced(exchanged_);
  }
  /// Whether the averages replace the parameters.  While this is true, the model computes with the averages.  The
  /// parameters can then not be trained, saved, loaded, initialised, restored or copied to a snapshot.
  bool exchanged() const { return exchanged_; }
  /// Runs work() while the averages replace the parameters.  Returns the result of work().
  template <class Work>
  auto in_use(Work&& work) {
    exchange();
    try {
      if constexpr (std::is_void_v<decltype(work())>) {
        work();
        exchange();
      } else {
        auto result = work();
        exchange();
        return result;
      }
    } catch (...) {
      if (exchanged_) exchange();
      throw;
    }
  }

  /// Resets the averages.  Call this function if training starts again from other values.
  void forget() {
    expect_not_exchanged("forget");
    fill(ex_, T(0), flat(held_));
    count_ = 0;
  }

  // io/checkpoint.hpp reads and writes the averages with the following functions.
  typename set::template fields<T const> values() const {
    expect_not_exchanged("values");
    auto place = held_.place();
    return plan<T const>(parameters_.model(), place);
  }
  /// Returns the averages for writing.  Sets the number of updates that the averages include to `count`.
  typename set::template fields<T> mutable_values(std::uint64_t count) {
    expect_not_exchanged("mutable_values");
    count_ = count;
    auto place = held_.place();
    return plan<T>(parameters_.model(), place);
  }
  vec<T const> flat_values() const { return flat(held_); }
  memory const& where() const { return held_.memory(); }
  std::size_t bytes() const { return held_.bytes() + between_.bytes(); }

 private:
  static constexpr index_t most_exchanged = (index_t{4} << 20) / static_cast<index_t>(sizeof(T));  // in one step

  static std::size_t bytes_of(index_t values) { return static_cast<std::size_t>(values) * sizeof(T); }
  static vec<T> flat(buffer<memory> const& b) {
    return make_vec(static_cast<T*>(b.data()), static_cast<index_t>(b.bytes() / sizeof(T)));
  }
  void expect_not_exchanged(char const* what) const {
    TRIAD_EXPECTS(!exchanged_, std::string("parameter_averages: ") + what +
                                   "() while the averages are in the place of the parameters, expected the parameters "
                                   "there; exchange() them first");
  }

  Ex& ex_;
  set& parameters_;
  double decay_;
  buffer<memory> held_, between_;
  std::uint64_t count_ = 0;
  bool exchanged_ = false;
};

}  // namespace triad
