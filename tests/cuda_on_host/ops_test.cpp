// Operations on rows and on flat memory: the CUDA backend against the reference.
// Tests cuda/device/rows.cuh.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "session.hpp"
#include "triad/cuda/adam.cuh"
#include "triad/cuda/cross_entropy.cuh"
#include "triad/cuda/dropout.cuh"
#include "triad/cuda/elementwise.cuh"
#include "triad/cuda/gather.cuh"
#include "triad/cuda/layer_norm.cuh"
#include "triad/cuda/reduce.cuh"
#include "triad/cuda/softmax.cuh"

namespace {

using namespace triad;
using namespace triad::test;

// Around what a kernel does at once: nothing, one, a warp, a block of rows, the columns a lane holds, more than those.
struct size {
  index_t rows, columns;
};
constexpr size sizes[] = {{0, 3}, {1, 1}, {3, 1}, {9, 7}, {5, 32}, {70, 33}, {17, 256}, {9, 300}};

template <class T>
std::vector<T> values(size s, std::uint64_t stream, double range = 1) {
  return random_values<T>(s.rows * s.columns, stream, range);
}

TEMPLATE_TEST_CASE("elementwise functions on a device are those of the host", "", float, double) {
  for (index_t n : {0, 1, 255, 1024, 1025, 3000}) {
    CAPTURE(n);
    expect_reference<TestType>([n](auto& s, auto zero) {
      using T = decltype(zero);
      auto const a = s.put(random_values<T>(n, 1)), b = s.put(random_values<T>(n, 2)), y = s.template spoiled<T>(n),
                 z = s.template spoiled<T>(n);
      transform(s.ex, relu(), a, y);
      transform(s.ex, relu_grad(), y, b, y);
      transform(s.ex, plus(), a, b, b);
      transform(s.ex, scale_by<double>{3}, a, a);
      fill(s.ex, T(2), z);
      for (auto const& v : {a, b, y, z}) s.collect(v);
    });
  }
}

TEMPLATE_TEST_CASE("sums on a device, in two passes, are those of the host", "", float, double) {
  for (index_t n : {0, 1, 31, 4096, 4097, 9000})
    for (bool spoiled : {false, true}) {
      if (spoiled && n == 0) continue;
      CAPTURE(n, spoiled);
      expect_reference<TestType>([=](auto& s, auto zero) {
        using T = decltype(zero);
        auto x = random_values<T>(n, 1);
        if (spoiled) x[static_cast<std::size_t>(n / 2)] = T(NAN);
        auto const v = s.put(x), total = s.template spoiled<T>(1), length = s.template spoiled<T>(1);
        s.with_scratch([&](auto& ex, call const& c) {
          sum(ex, *c.scratch, v, total);
          norm(ex, *c.scratch, v, length);
        });
        s.collect(total);
        s.collect(length);
      });
    }
  for (auto const z : sizes)
    for (auto how : all_ways) {
      CAPTURE(z.rows, z.columns, static_cast<int>(how));
      expect_reference<TestType>([=](auto& s, auto zero) {
        using T = decltype(zero);
        auto const x = s.put(values<T>(z, 1), z.rows, z.columns, how);
        auto const total = s.put(random_values<T>(z.columns, 2));
        s.with_scratch([&](auto& ex, call const& c) { column_sums_add(ex, *c.scratch, x, total); });
        s.collect(total);
      });
    }
}

TEMPLATE_TEST_CASE("softmax on a device is that of the host, NaN and masked scores too", "", float, double) {
  for (auto const z : sizes)
    for (auto how : all_ways) {
      CAPTURE(z.rows, z.columns, static_cast<int>(how));
      expect_reference<TestType>([=](auto& s, auto zero) {
        using T = decltype(zero);
        auto scores = values<T>(z, 1, 5);
        if (z.rows > 8) scores[0] = scores[static_cast<std::size_t>(3 * z.columns - 1)] = T(NAN);
        if (z.rows > 8) std::fill_n(scores.begin() + 4 * z.columns, z.columns, T(-1e9));
        if (z.rows > 8) std::fill_n(scores.begin() + 5 * z.columns, z.columns, -std::numeric_limits<T>::infinity());
        auto const x = s.put(scores, z.rows, z.columns, how), y = s.template spoiled<T>(z.rows, z.columns, how);
        auto const dy = s.put(values<T>(z, 2), z.rows, z.columns, how);
        softmax(s.ex, x, y);
        softmax(s.ex, x, x);  // in place
        softmax_grad(s.ex, y, dy, dy);
        for (auto const& m : {x, y, dy}) s.collect(m);
      });
    }
}

TEMPLATE_TEST_CASE("layer norm and its gradient on a device are those of the host", "", float, double) {
  for (auto const z : sizes)
    for (auto how : all_ways)
      for (int add : {0, 1, 2}) {  // none, another, the gradient itself
        CAPTURE(z.rows, z.columns, static_cast<int>(how), add);
        double const within =
            z.columns == 1
                ? 1e-2
                : 100 * tolerance<TestType>;  // a row of one value has no variance: 1 / sqrt(epsilon) times rounding
        expect_reference<TestType>(
            [=](auto& s, auto zero) {
              using T = decltype(zero);
              auto const x = s.put(values<T>(z, 1, 3), z.rows, z.columns, how),
                         y = s.template spoiled<T>(z.rows, z.columns, how);
              auto const dy = s.put(values<T>(z, 2), z.rows, z.columns, how),
                         extra = s.put(values<T>(z, 3), z.rows, z.columns, how);
              auto const gain = s.put(random_values<T>(z.columns, 4)), bias = s.put(random_values<T>(z.columns, 5));
              auto const dgain = s.put(random_values<T>(z.columns, 6)), dbias = s.put(random_values<T>(z.columns, 7));
              auto const mean = s.template spoiled<T>(z.rows), rstd = s.template spoiled<T>(z.rows);
              layer_norm(s.ex, x, gain, bias, 1e-5, y, mean, rstd);
              for (auto const& v : {mean, rstd}) s.collect(v);
              auto const dx = add == 0 ? dy : add == 1 ? y : extra;
              if (add == 1) s.collect(y);
              s.with_scratch([&](auto& ex, call const& c) {
                auto const added = add == 0 ? make_matrix<T const>(nullptr, 0, 0, 0) : matrix<T const>(extra);
                layer_norm_grad(ex, *c.scratch, x, gain, mean, rstd, dy, added, dx, dgain, dbias);
              });
              s.collect(dx);
              for (auto const& v : {dgain, dbias}) s.collect(v);
            },
            within);
      }
}

TEMPLATE_TEST_CASE("dropout on a device keeps the elements that the host keeps", "", float, double) {
  for (auto const z : {size{0, 3}, {1, 1}, {3, 63}, {9, 65}, {2, 130}, {1, 1000}})
    for (auto how : all_ways)
      for (double rate : {0.0, 0.3, 1.0}) {
        CAPTURE(z.rows, z.columns, static_cast<int>(how), rate);
        expect_reference<TestType>([=](auto& s, auto zero) {
          using T = decltype(zero);
          auto const step = s.put(std::vector<std::uint64_t>{4});
          auto const x = s.put(values<T>(z, 1), z.rows, z.columns, how),
                     y = s.template spoiled<T>(z.rows, z.columns, how);
          dropout(s.ex, {rate, 5, 7, step.data_handle()}, x, y);
          dropout(s.ex, {rate, 5, std::uint64_t{7} << 40, nullptr}, x, x);
          s.collect(x);
          s.collect(y);
        });
      }
}

TEMPLATE_TEST_CASE("rows are gathered and added on a device as on the host", "", float, double) {
  struct shape {
    index_t table, indices, columns;
  };
  for (auto const z : {shape{3, 0, 2}, {5, 70, 33}, {3, 2500, 2}, {300, 7, 40}, {90, 89, 1}, {1, 1, 1}, {4, 4, 300}})
    for (auto how : all_ways) {
      CAPTURE(z.table, z.indices, z.columns, static_cast<int>(how));
      expect_reference<TestType>([=](auto& s, auto zero) {
        using T = decltype(zero);
        random_stream random(3, 9);
        std::vector<index_t> rows(static_cast<std::size_t>(z.indices));
        for (auto& r : rows) r = random.below(static_cast<std::uint32_t>(std::min<index_t>(z.table, 20)));
        vec<index_t const> const index = s.put(rows);
        auto const table = s.put(random_values<T>(z.table * z.columns, 1), z.table, z.columns, how),
                   y = s.template spoiled<T>(z.indices, z.columns, how);
        gather_rows(s.ex, table, index, y);
        scatter_add_rows(s.ex, y, index, table);
        s.collect(y);
        s.collect(table);
      });
    }
  session<triad::cuda::backend> s(device());
  vec<index_t const> const wild = s.put(std::vector<index_t>{1, 2, -1, 0});
  auto const table = s.put(std::vector<TestType>{1, 2}, 2, 1), y = s.put(std::vector<TestType>(4), 4, 1);
  gather_rows(device(), table, wild, y);
  scatter_add_rows(device(), y, wild, table);
  s.collect(y);
  s.collect(table);
  CHECK(distance({2, NAN, NAN, 1, 2, 4}, s.results) == 0);
}

TEMPLATE_TEST_CASE("cross entropy and argmax on a device are those of the host", "", float, double) {
  enum targets { some, none, all };
  for (auto const z : {size{0, 3}, {1, 1}, {9, 7}, {70, 33}, {3, 300}, {1100, 2}})
    for (auto which : {some, none, all})
      for (auto how : all_ways) {
        if (z.rows > 1024 && (which != some || how != lying::padded)) continue;
        CAPTURE(z.rows, z.columns, static_cast<int>(which), static_cast<int>(how));
        expect_reference<TestType>([=](auto& s, auto zero) {
          using T = decltype(zero);
          std::vector<index_t> target(static_cast<std::size_t>(z.rows));
          for (std::size_t r = 0; r < target.size(); ++r)
            target[r] = which == none || (which == some && r % 3 == 1) ? -1 : static_cast<index_t>(r * 5) % z.columns;
          auto scores = values<T>(z, 1, 5);
          if (which == some && z.rows == 70) scores[40] = T(NAN);  // row 1, which does not count
          if (which == all && z.rows == 9) scores[30] = T(NAN);
          auto const x = s.put(scores, z.rows, z.columns, how), dx = s.template spoiled<T>(z.rows, z.columns, how);
          vec<index_t const> const t = s.put(target);
          auto const loss = s.template spoiled<T>(1);
          cross_entropy(s.ex, x, t, loss, dx, {which == all && z.columns > 1 ? 0.1 : 0.0});
          s.collect(loss);
          s.collect(dx);
        });
      }
  for (auto const z : sizes) {
    CAPTURE(z.rows, z.columns);
    expect_reference<TestType>([=](auto& s, auto zero) {
      using T = decltype(zero);
      auto scores = values<T>(z, 2);
      for (auto& v : scores) v = std::round(v * T(4));  // many ties
      if (z.rows > 8) scores[0] = scores[static_cast<std::size_t>(3 * z.columns - 1)] = T(NAN);
      if (z.rows > 8) std::fill_n(scores.begin() + 5 * z.columns, z.columns, -std::numeric_limits<T>::infinity());
      auto const best = s.put(std::vector<index_t>(static_cast<std::size_t>(z.rows), -1));
      argmax_rows(s.ex, s.put(scores, z.rows, z.columns), best);
      s.collect(best);
    });
  }
  session<triad::cuda::backend> s(device());
  vec<index_t const> const wild = s.put(std::vector<index_t>{2});
  auto const loss = s.put(std::vector<TestType>(1));
  cross_entropy(device(), s.put(std::vector<TestType>{1, 2}, 1, 2), wild, loss, s.put(std::vector<TestType>(2), 1, 2));
  s.collect(loss);
  CHECK(std::isnan(s.results[0]));
}

TEMPLATE_TEST_CASE("Adam and clipping on a device are those of the host", "", float, double) {
  for (index_t n : {0, 1, 2500})
    for (bool decoupled : {false, true}) {
      CAPTURE(n, decoupled);
      expect_reference<TestType>([=](auto& s, auto zero) {
        using T = decltype(zero);
        auto squares = random_values<T>(n, 4);
        for (auto& e : squares) e = std::abs(e);
        auto const p = s.put(random_values<T>(n, 1)), g = s.put(random_values<T>(n, 2)),
                   m = s.put(random_values<T>(n, 3)), v = s.put(squares);
        vec<double const> const rate = s.put(std::vector<double>{0.01});
        auto const step = s.put(std::vector<std::uint64_t>{4});
        adam(s.ex, {0.9, 0.98, 1e-8, 0.1, decoupled}, rate, step.data_handle(), p, g, m, v);
        for (double length : {0.5, 2.0, static_cast<double>(NAN)}) {
          auto const norm_of = s.put(std::vector<T>{T(length)});
          clip(s.ex, 1, norm_of, g);
          s.collect(g);
        }
        for (auto const& r : {p, m, v}) s.collect(r);
      });
    }
}

}  // namespace
