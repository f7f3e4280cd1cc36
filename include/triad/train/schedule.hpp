// Learning rate schedules.  Each schedule is a small struct with a function rate(update).  Updates count from 0.
// SPDX-License-Identifier: Apache-2.0
//
//   constant_rate   peak min(1, k / w), and peak if w is 0
//   linear_warmup   peak k / w for k < w, then peak (n - k) / (n - w), but at least 0.  The first rate is 0 if w > 0.
//   cosine_warmup   peak min(1, (k + 1) / w) (f + (1 - f) (1 + cos(pi k / n)) / 2) for k < n, then peak f
//   inverse_sqrt    initial + k (peak - initial) / w for k < w, then peak sqrt(w / k);  w > 0
//   dtm_main_cosine peak k / w for k < w, then base (1 + cos(pi t / T)) / 2 for t < T, then 0, where
//                   base = peak (w - 1) / w,  T = epochs - ceil(w / iterations) + 1,  and t is the number of epochs
//                   so far whose last update has k >= w
//   dtm_main_exponential   peak k / w for k < w, then base gamma^t with the same base and t
//
// The last two schedules follow the training loop of the released Differentiable Tree Machine.  This loop changes the
// rate only at the end of an epoch.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <numbers>
#include <type_traits>
#include <utility>

#include "triad/core/contracts.hpp"

namespace triad {

/// Linear from 0 to `peak` over `warmup` updates, then constant.
struct constant_rate {
  double peak = 1e-3, warmup = 0;

  double rate(std::uint64_t update) const {
    auto const k = static_cast<double>(update);
    return k < warmup ? peak * k / warmup : peak;
  }
};

/// Linear from 0 to `peak` over `warmup` updates, then linear to 0 at update `total`.  `total` must be given, and may
/// be fractional.  Without `total`, rate() throws contract_violation.  If a run has at most `warmup` updates, the rate
/// never reaches `peak`, and no warning is given.  The same is true of the schedules below.
struct linear_warmup {
  double peak = 1e-3, warmup = 0, total = 0;

  double rate(std::uint64_t update) const {
    TRIAD_EXPECTS(total > 0, "linear_warmup: total is " + std::to_string(total) +
                                 ", expected more than 0, the update at which the rate is 0 again");
    auto const k = static_cast<double>(update);
    if (k < warmup) return peak * k / std::fmax(1, warmup);
    return peak * std::fmax(0, (total - k) / std::fmax(1, total - warmup));
  }
};

/// Linear to `peak` over `warmup` updates, times a cosine that falls from 1 at update 0 to `floor` at update `total`.
/// `total` must be given.
struct cosine_warmup {
  double peak = 1e-3, warmup = 0, total = 0, floor = 0;

  double rate(std::uint64_t update) const {
    TRIAD_EXPECTS(total > 0, "cosine_warmup: total is " + std::to_string(total) +
                                 ", expected more than 0, the update at which the cosine ends");
    auto const k = static_cast<double>(update);
    double const cosine = (1 + std::cos(std::numbers::pi * std::fmin(1, k / total))) / 2;
    return peak * std::fmin(1, (k + 1) / std::fmax(1, warmup)) * (floor + (1 - floor) * cosine);
  }
};

/// Linear from `initial` to `peak` over `warmup` updates, then proportional to 1 / sqrt(update).
struct inverse_sqrt {
  double peak = 5e-4, initial = 0, warmup = 4000;

  double rate(std::uint64_t update) const {
    TRIAD_EXPECTS(warmup > 0, "inverse_sqrt: warmup is " + std::to_string(warmup) + ", expected 1 update or more");
    auto const k = static_cast<double>(update);
    if (k < warmup) return initial + k * (peak - initial) / warmup;
    return peak * std::sqrt(warmup) / std::sqrt(k);
  }
};

namespace detail {
/// The computations that both schedules of the Differentiable Tree Machine share.
struct dtm_main_loop {
  std::uint64_t warmup, iterations;  // the number of updates of the warm-up; the number of updates of an epoch

  /// Returns the rate with which the schedule starts after the warm-up.
  double base(double peak) const {
    return warmup == 0 ? peak : peak * static_cast<double>(warmup - 1) / static_cast<double>(warmup);
  }
  /// Returns the number of epochs that ended before this update and whose last update came after the warm-up.
  std::uint64_t steps(std::uint64_t update) const {
    TRIAD_EXPECTS(iterations > 0,
                  "schedule: an epoch of " + std::to_string(iterations) + " updates, expected 1 or more");
    auto const ended = update / iterations, warming = warmup / iterations;
    return ended > warming ? ended - warming : 0;
  }
};
}  // namespace detail

struct dtm_main_cosine {
  double peak = 1e-3;
  std::uint64_t warmup = 0, iterations = 1, epochs = 1;  // updates of the warm-up; updates of an epoch; epochs

  double rate(std::uint64_t update) const {
    if (update < warmup) return peak * static_cast<double>(update) / static_cast<double>(warmup);
    detail::dtm_main_loop const loop{warmup, iterations};
    auto const t = static_cast<double>(loop.steps(update));
    auto const last =
        static_cast<double>(epochs) - std::ceil(static_cast<double>(warmup) / static_cast<double>(iterations)) + 1;
    return t < last ? loop.base(peak) * (1 + std::cos(std::numbers::pi * t / last)) / 2 : 0;
  }
};

struct dtm_main_exponential {
  double peak = 1e-3, gamma = 1;
  std::uint64_t warmup = 0, iterations = 1;  // updates of the warm-up; updates of an epoch

  double rate(std::uint64_t update) const {
    if (update < warmup) return peak * static_cast<double>(update) / static_cast<double>(warmup);
    detail::dtm_main_loop const loop{warmup, iterations};
    return loop.base(peak) * std::pow(gamma, static_cast<double>(loop.steps(update)));
  }
};

/// A learning rate: one of these schedules, a function of the update's number, or a constant.
class learning_rate {
 public:
  learning_rate(double rate) : rate_([rate](std::uint64_t) { return rate; }) {}
  template <class Schedule>
    requires requires(Schedule const& s) {
      { s.rate(std::uint64_t{}) } -> std::convertible_to<double>;
    }
  learning_rate(Schedule const& s) : rate_([s](std::uint64_t update) { return s.rate(update); }) {}
  template <class F>
    requires std::is_invocable_r_v<double, F const&, std::uint64_t>
  learning_rate(F f) : rate_(std::move(f)) {}

  /// Returns the rate of an update.  Updates count from 0.
  double operator()(std::uint64_t update) const { return rate_(update); }

 private:
  std::function<double(std::uint64_t)> rate_;
};

}  // namespace triad
