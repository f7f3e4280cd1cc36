// Cross entropy and argmax of rows.  Three kernels compute cross entropy: the loss of each row, the mean loss, and the
// gradient.
// SPDX-License-Identifier: Apache-2.0
//
// The first column of dlogits passes values from one kernel to the next kernel.  The column first holds the loss of
// each row, and then the number of rows that have a target.  The last kernel overwrites the column.
#pragma once

#include <cuda/std/cmath>
#include <cuda/std/limits>

#include "triad/core/finite.hpp"
#include "triad/cuda/device/rows.cuh"
#include "triad/cuda/elementwise.cuh"
#include "triad/ops/cross_entropy.hpp"

namespace triad::cuda {

namespace detail {

template <class T, int Held>
struct cross_entropy_losses {
  static constexpr char const* name = "losses of cross_entropy";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, matrix<T const> logits, vec<index_t const> target, matrix<T> dlogits,
                               T hit, T miss) const {
    warp_row const own(b, logits);
    lane_values<T, Held> const v(b, logits, own.r, own.d);
    softmax_total<T> const row(b, v, own.d);
    index_t const t = own.live ? target(own.r) : -1;
    T const log_sum = ::cuda::std::log(row.sum);
    T others = 0;  // -log p, summed over all columns except the target
    if (miss > T(0)) {
      each_column<Held>(b.lane(), own.d,
                        [&](int k, index_t c) { others += c != t ? log_sum + (row.maximum - v(k, c)) : T(0); });
      others = warp_sum(b, others);
    }
    if (t < 0 || b.lane() != 0) return;
    // A kernel cannot report a target outside the logits, so the loss of the row is NaN.
    dlogits(own.r, 0) = t < own.d ? hit * (log_sum + (row.maximum - logits(own.r, t))) + miss * others
                                  : ::cuda::std::numeric_limits<T>::quiet_NaN();
  }
};

/// One block adds the losses of all rows.  Thread t adds the losses of the rows t, t + threads, ...
template <class T>
struct cross_entropy_mean {
  static constexpr char const* name = "mean of cross_entropy";
  static constexpr int warps = 32, threads = warps * warp;
  struct shared {
    double part[warps];
  };

  TRIAD_DEVICE void operator()(block const& b, vec<index_t const> target, vec<T> loss, matrix<T> dlogits) const {
    auto& s = b.shared<shared>();
    index_t const rows = target.extent(0);
    double total = 0, count = 0;
    for (index_t r = b.thread(); r < rows; r += threads)
      if (target(r) >= 0) {
        total += static_cast<double>(dlogits(r, 0));
        count += 1;
      }
    total = block_sum(b, s.part, total);
    count = block_sum(b, s.part, count);
    for (index_t r = b.thread(); r < rows; r += threads) dlogits(r, 0) = static_cast<T>(count);
    if (b.thread() == 0) loss(0) = static_cast<T>(count > 0 ? total / count : 0.0);
  }
};

template <class T, int Held>
struct cross_entropy_gradient {
  static constexpr char const* name = "gradient of cross_entropy";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, matrix<T const> logits, vec<index_t const> target, matrix<T> dlogits,
                               T hit, T miss) const {
    warp_row const own(b, logits);
    lane_values<T, Held> const v(b, logits, own.r, own.d);
    softmax_total<T> const row(b, v, own.d);
    index_t const t = own.live ? target(own.r) : -1;
    T const count = own.live ? dlogits(own.r, 0) : T(1);
    b.sync_warp();  // all lanes have read the value that lane 0 overwrites
    each_column<Held>(b.lane(), own.d, [&](int k, index_t c) {
      dlogits(own.r, c) = t < 0 ? T(0) : (row.probability(v(k, c)) - (c == t ? hit : miss)) / count;
    });
  }
};

template <class T>
struct argmax {
  static constexpr char const* name = "argmax_rows";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, matrix<T const> x, vec<index_t> best) const {
    warp_row const own(b, x);
    T value = own.d > 0 ? x(own.r, 0) : T(0);
    index_t at = 0;
    bool nan = false;
    for (index_t c = b.lane(); c < own.d; c += warp) {
      nan = nan || is_nan(x(own.r, c));
      if (x(own.r, c) > value) {
        value = x(own.r, c);
        at = c;
      }
    }
    bool const none = b.ballot(nan) != 0;
    warp_first_largest(b, value, at);
    if (own.live && b.lane() == 0) best(own.r) = none ? -1 : at;
  }
};

}  // namespace detail

template <class T>
void do_cross_entropy(backend& ex, matrix<T const> logits, vec<index_t const> target, vec<T> loss, matrix<T> dlogits,
                      label_smoothing const& t) {
  index_t const rows = logits.extent(0), v = logits.extent(1);
  if (rows == 0 || v == 0) return do_fill(ex, T(0), vec<T>(loss.data_handle(), 1));
  T const hit = T(t.hit()), miss = T(t.miss(v));
  launch_rows<detail::cross_entropy_losses, T>(ex, rows, v, logits, target, dlogits, hit, miss);
  launch(ex, detail::cross_entropy_mean<T>{}, 1, target, loss, dlogits);
  launch_rows<detail::cross_entropy_gradient, T>(ex, rows, v, logits, target, dlogits, hit, miss);
}

template <class T>
void do_argmax_rows(backend& ex, matrix<T const> x, vec<index_t> best) {
  launch(ex, detail::argmax<T>{}, blocks_for(x.extent(0), row_warps), x, best);
}

}  // namespace triad::cuda
