// Benchmarks on a GPU of work that moves much data and computes little: the sum of rows, elementwise functions, norms,
// Adam.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "on_cuda.cuh"
#include "scatter_task.hpp"
#include "triad/cuda/adam.cuh"
#include "triad/cuda/dropout.cuh"
#include "triad/cuda/elementwise.cuh"
#include "triad/cuda/gather.cuh"
#include "triad/cuda/layer_norm.cuh"
#include "triad/cuda/matmul_norm.cuh"
#include "triad/ops/adam.hpp"
#include "triad/ops/dropout.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/layer_norm.hpp"
#include "triad/ops/matmul_norm.hpp"

namespace bench {

/// Returns `count` equal values.
inline std::vector<float> all(index_t count, float value) {
  return std::vector<float>(static_cast<std::size_t>(count), value);
}

/// Values on the device.
template <class T>
class on_device {
 public:
  on_device(triad::cuda::backend& ex, std::vector<T> const& values)
      : count_(static_cast<index_t>(values.size())), memory_(values.size() * sizeof(T), ex.where()) {
    memory_.memory().from_host(memory_.data(), values.data(), memory_.bytes());
  }
  /// Returns a view of the values from index k on.
  triad::vec<T> view(index_t k = 0) const { return triad::make_vec(static_cast<T*>(memory_.data()) + k, count_ - k); }
  triad::matrix<T> rows(index_t columns) const {
    return triad::make_matrix(static_cast<T*>(memory_.data()), count_ / columns, columns, columns);
  }
  std::vector<T> values() const {
    std::vector<T> all(static_cast<std::size_t>(count_));
    memory_.memory().to_host(all.data(), memory_.data(), memory_.bytes());
    return all;
  }

 private:
  index_t count_;
  triad::buffer<triad::cuda::device_memory> memory_;
};

enum class scatter_way { chosen, compared, sorted };

/// Adds rows by the method that the backend chooses, or always by one of its two methods.  The backend changes its
/// method at the limit cuda::most_scanned_bytes.  The limit is right if both methods take the same time at this size.
struct scatter_on_cuda {
  triad::cuda::backend& ex;
  scatter_task task;
  scatter_way way;
  on_device<index_t> index{ex, task.indices()};
  on_device<float> dy{ex, task.values()},
      dtable{ex, std::vector<float>(static_cast<std::size_t>(task.table* task.columns))};
  std::size_t bytes = needed();
  triad::buffer<triad::cuda::device_memory> memory{bytes, ex.where()};

  void run() {
    triad::matrix<float const> const from = dy.rows(task.columns);
    triad::vec<index_t const> const at = index.view();
    auto const to = dtable.rows(task.columns);
    triad::workspace const ws{static_cast<std::byte*>(memory.data()), bytes};
    if (bytes == 0)
      triad::cuda::detail::scatter_by_scan(ex, from, at, to);
    else
      triad::cuda::detail::scatter_by_sort(ex, from, at, to, ws);
  }
  verdict check() {
    run();
    return task.check(dtable.values());
  }

 private:
  std::size_t needed() const {
    bool const sorts = way == scatter_way::chosen ? triad::cuda::sorts_rows(task.rows, task.table, task.columns)
                                                  : way == scatter_way::sorted;
    return sorts ? triad::cuda::detail::scatter_by_sort_bytes(ex, task.rows, dtable.rows(task.columns)) : 0;
  }
};

/// y = max(x, 0) for ten million values.  The address of the values is a multiple of 16 bytes, or of only 4 bytes.  In
/// the second case, each instruction moves one element.
struct relu_on_cuda {
  static constexpr index_t count = 10'000'000;
  triad::cuda::backend& ex;
  index_t from;  // 0 or 1: the first value
  on_device<float> x{ex, scatter_task{count + 1, 1, 1}.values()},
      y{ex, std::vector<float>(static_cast<std::size_t>(count + 1))};

  void run() { triad::transform(ex, triad::relu(), triad::vec<float const>(x.view(from)), y.view(from)); }
  static double bytes() { return 8.0 * count; }
  verdict check() {
    run();
    auto const in = x.values(), out = y.values();
    for (auto e = static_cast<std::size_t>(from); e < in.size(); ++e)
      if (out[e] != (in[e] > 0 ? in[e] : 0)) return "element " + std::to_string(e) + " is not relu's";
    return std::nullopt;
  }
};

/// y = drop(gelu(x)) for 40,000 rows of 256 columns: in one pass over the memory, as in a feed-forward block, or by two
/// operations one after the other.
struct dropped_gelu_on_cuda {
  static constexpr index_t rows = 40'000, columns = 256;
  static constexpr double rate = 0.1;
  triad::cuda::backend& ex;
  bool by_parts;
  on_device<float> x{ex, scatter_task{rows, 1, columns}.values()},
      y{ex, std::vector<float>(static_cast<std::size_t>(rows* columns))};

  void run() {
    using all = triad::tensor<float, triad::dyn, triad::dyn>;
    all const from(x.view().data_handle(), rows, columns), to(y.view().data_handle(), rows, columns);
    triad::dropout_mask const mask{rate, 5, 7};
    if (by_parts)
      triad::dropout_of_by_parts(ex, mask, triad::gelu(), triad::matrix<float const>(triad::as_matrix(from)),
                                 triad::as_matrix(to));
    else
      triad::dropout(ex, mask, triad::gelu(), from, to);
  }
  /// The bytes of one pass.  Two operations move twice as many.
  static double bytes() { return 8.0 * rows * columns; }
  verdict check() {
    run();
    auto const in = x.values(), out = y.values();
    double dropped = 0;
    for (std::size_t e = 0; e < in.size(); ++e) {
      double const kept = static_cast<double>(triad::gelu()(in[e])) / (1 - rate), found = static_cast<double>(out[e]);
      if (found == 0)
        dropped += 1;
      else if (!(std::abs(found - kept) <= 1e-5 * (1 + std::abs(kept))))
        return "element " + std::to_string(e) + " is " + std::to_string(found) + ", expected 0 or " +
               std::to_string(kept);
    }
    double const part = dropped / static_cast<double>(in.size());
    if (!(std::abs(part - rate) <= 0.01)) return "the part " + std::to_string(part) + " is 0, expected 0.1";
    return std::nullopt;
  }
};

/// The gradient of layer normalisation.  With few rows, one launch also adds up the gradients of gain and bias.
struct norm_grad_on_cuda {
  triad::cuda::backend& ex;
  index_t rows, columns;
  on_device<float> x{ex, scatter_task{rows, 1, columns}.values()}, dy{ex, scatter_task{rows + 1, 1, columns}.values()},
      gain{ex, all(columns, 1)}, bias{ex, all(columns, 0)}, y{ex, all(rows* columns, 0)}, mean{ex, all(rows, 0)},
      rstd{ex, all(rows, 0)}, dx{ex, all(rows* columns, 0)}, dgain{ex, all(columns, 0)}, dbias{ex, all(columns, 0)};
  std::size_t bytes_of_sums = triad::cuda::do_layer_norm_grad_workspace(ex, read(x));
  triad::buffer<triad::cuda::device_memory> sums{bytes_of_sums, ex.where()};

  triad::matrix<float const> read(on_device<float> const& of) const {
    return triad::make_matrix<float const>(of.view().data_handle(), rows, columns, columns);
  }
  void run() {
    triad::cuda::do_layer_norm_grad(ex, read(x), triad::vec<float const>(gain.view()),
                                    triad::vec<float const>(mean.view()), triad::vec<float const>(rstd.view()),
                                    read(dy), triad::make_matrix<float const>(nullptr, 0, 0, 0), dx.rows(columns),
                                    dgain.view(), dbias.view(),
                                    triad::workspace{static_cast<std::byte*>(sums.data()), bytes_of_sums});
  }
  verdict check() {
    triad::layer_norm(ex, x.rows(columns), gain.view(), bias.view(), 1e-5, y.rows(columns), mean.view(), rstd.view());
    run();
    auto const z = y.values(), g = dy.values(), found = dx.values(), of_gain = dgain.values(), r = rstd.values();
    std::vector<double> sum(static_cast<std::size_t>(columns));
    double const d = static_cast<double>(columns);
    for (index_t i = 0; i < rows; ++i) {
      auto const at = [&](auto const& v, index_t c) {
        return static_cast<double>(v[static_cast<std::size_t>(i * columns + c)]);
      };
      double of_g = 0, of_gz = 0;
      for (index_t c = 0; c < columns; ++c) of_g += at(g, c) / d, of_gz += at(g, c) * at(z, c) / d;
      for (index_t c = 0; c < columns; ++c) {
        sum[static_cast<std::size_t>(c)] += at(g, c) * at(z, c);
        double const expected =
            static_cast<double>(r[static_cast<std::size_t>(i)]) * (at(g, c) - of_g - at(z, c) * of_gz);
        if (!(std::abs(at(found, c) - expected) <= 1e-4 * (1 + std::abs(expected))))
          return "dx of row " + std::to_string(i) + " is " + std::to_string(at(found, c)) + ", expected " +
                 std::to_string(expected);
      }
    }
    for (std::size_t c = 0; c < sum.size(); ++c)
      if (!(std::abs(static_cast<double>(of_gain[c]) - sum[c]) <= 1e-3 * (1 + std::abs(sum[c]))))
        return "the gradient of the gain is " + std::to_string(of_gain[c]) + ", expected " + std::to_string(sum[c]);
    return std::nullopt;
  }
};

/// A product with dropout and a residual, as at the end of a sublayer, and the norm of its rows: in the kernel that
/// ends the product, or by two operations.
struct product_norm_on_cuda {
  triad::cuda::backend& ex;
  index_t rows, columns;
  bool by_parts;
  on_device<float> a{ex, scatter_task{rows, 1, columns}.values()}, b{ex, scatter_task{columns, 1, columns}.values()},
      gain{ex, all(columns, 1)}, bias{ex, all(columns, 0)}, c{ex, all(rows* columns, 0)}, y{ex, all(rows* columns, 0)},
      mean{ex, all(rows, 0)}, rstd{ex, all(rows, 0)};

  void run() {
    triad::matrix<float const> const x = a.rows(columns), w = b.rows(columns);
    triad::epilogue<float> e;
    e.bias = bias.view();
    e.residual = x;
    e.dropout = {0.1, 5, 7};
    triad::following_norm<float> const n{gain.view(), bias.view(), 1e-5f, y.rows(columns), mean.view(), rstd.view()};
    if (by_parts)
      triad::matmul_norm_by_parts(ex, x, w, c.rows(columns), e, n);
    else
      triad::cuda::do_matmul_norm(ex, x, w, c.rows(columns), e, n);
  }
  verdict check() {
    run();
    auto const in = a.values(), weight = b.values(), product = c.values(), normed = y.values();
    double dropped = 0;
    index_t const checked = std::min<index_t>(rows, 64);
    for (index_t r = 0; r < checked; ++r) {
      auto const at = [&](auto const& v, index_t i, index_t k) {
        return static_cast<double>(v[static_cast<std::size_t>(i * columns + k)]);
      };
      double sum = 0, squares = 0;
      for (index_t k = 0; k < columns; ++k) sum += at(product, r, k);
      double const middle = sum / static_cast<double>(columns);
      for (index_t k = 0; k < columns; ++k) squares += (at(product, r, k) - middle) * (at(product, r, k) - middle);
      double const scale = 1 / std::sqrt(squares / static_cast<double>(columns) + 1e-5);
      for (index_t k = 0; k < columns; ++k) {
        double kept = 0;
        for (index_t l = 0; l < columns; ++l) kept += at(in, r, l) * at(weight, l, k) / 0.9;
        double const found = at(product, r, k) - at(in, r, k), expected = (at(product, r, k) - middle) * scale;
        bool const is_dropped = std::abs(found) < 1e-6;
        dropped += is_dropped ? 1 : 0;
        if (!is_dropped && !(std::abs(found - kept) <= 1e-3 * (1 + std::abs(kept))))
          return "the product of row " + std::to_string(r) + " is " + std::to_string(found) + ", expected 0 or " +
                 std::to_string(kept);
        if (!(std::abs(at(normed, r, k) - expected) <= 1e-3))
          return "the norm of row " + std::to_string(r) + " is " + std::to_string(at(normed, r, k)) + ", expected " +
                 std::to_string(expected);
      }
    }
    double const part = dropped / static_cast<double>(checked * columns);
    if (!(std::abs(part - 0.1) <= 0.02)) return "the part " + std::to_string(part) + " is dropped, expected 0.1";
    return std::nullopt;
  }
};

/// One update of Adam with ten million parameters, as in the benchmark of the same name on the host.
struct adam_on_cuda {
  static constexpr index_t count = 10'000'000;
  triad::cuda::backend& ex;
  on_device<float> p{ex, all(count, 0.1f)}, g{ex, all(count, 1e-3f)}, m{ex, all(count, 1e-3f)},
      v{ex, all(count, 1e-6f)};
  on_device<double> rate{ex, {1e-4}};
  on_device<std::uint64_t> step{ex, {10'000}};

  void run() {
    triad::adam(ex, {.beta2 = 0.95, .weight_decay = 0.1, .decoupled = true}, triad::vec<double const>(rate.view()),
                step.view().data_handle(), p.view(), g.view(), m.view(), v.view());
  }
  static double bytes() { return 28.0 * count; }  // reads four arrays and writes three
  verdict check() {
    run();
    // m' = 0.9 m + 0.1 g = 1e-3,  v' = 0.95 v + 0.05 g^2 = 1e-6; after 10000 steps, the bias correction is negligible.
    double const expected = 0.1 * (1 - 1e-4 * 0.1) - 1e-4 * 1e-3 / 1e-3;
    for (float const found : p.values())
      if (!(std::abs(static_cast<double>(found) - expected) <= 1e-7))
        return "a parameter is " + std::to_string(found) + ", expected " + std::to_string(expected);
    return std::nullopt;
  }
};

}  // namespace bench
