// Tests matrix products and pair sums. Compares the CUDA backend with the reference, in device memory and with cuBLAS.
// Tests that need neither are in ops/ and run on every backend.
// Tests cuda/device/blas.cuh, cuda/device/blas_lt.cuh and cuda/device/growing_memory.cuh.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "session.hpp"
#include "triad/cuda/matmul.cuh"
#include "triad/cuda/matmul_norm.cuh"
#include "triad/cuda/pair_sum.cuh"

namespace cuda_on_host_products_tests {

using namespace triad;
using namespace triad::test;

struct size {
  index_t m, k, n;
};

template <class T>
std::vector<T> values(index_t rows, index_t columns, std::uint64_t stream) {
  return random_values<T>(rows * columns, stream);
}

TEST_CASE("factors are rounded as the backend was set, and as cuBLAS does it") {
  struct policy {
    triad::cuda::arithmetic how;
    double least, most;
  };
  index_t const m = 20, k = 30, n = 25;
  auto const a = values<float>(m, k, 1), b = values<float>(k, n, 2);
  using enum triad::cuda::arithmetic;
  for (auto const [how, least, most] : {policy{float32, 0, 1e-6}, {tf32, 1e-5, 2e-3}, {bf16, 1e-4, 2e-2}}) {
    triad::cuda::backend ex(0, how);
    for (auto la : {lying::rows, lying::padded, lying::columns})
      for (auto lb : {lying::rows, lying::padded, lying::columns})
        for (auto lc : {lying::rows, lying::padded, lying::columns}) {
          CAPTURE(static_cast<int>(how), static_cast<int>(la), static_cast<int>(lb), static_cast<int>(lc));
          reference::backend plain;
          session<reference::backend> exact(plain);
          session<triad::cuda::backend> s(ex);
          auto const multiply = [&](auto& on) {
            auto const c = on.template spoiled<float>(m, n, lc);
            matmul(on.ex, on.put(a, m, k, la), on.put(b, k, n, lb), c);
            on.collect(c);
          };
          multiply(exact);
          multiply(s);
          double const error = distance(exact.results, s.results);
          CHECK(error <= most);
#if defined(TRIAD_CUDA_DOUBLE)
          CHECK(error >= least);  // shows that cuBLAS was used, not our exact product
#else
          (void)least;
#endif
        }
  }
}

TEST_CASE("products in three parts of tf32 have the error of float32, whatever lies how") {
  using enum triad::cuda::arithmetic;
  triad::cuda::backend split(0, tf32x3), float_only(0, float32);
  reference::backend plain;
  for (auto const [m, k, n] : {size{400, 30, 402}, {402, 7, 400}})
    for (auto la : {lying::rows, lying::padded, lying::columns})
      for (auto lb : {lying::rows, lying::padded, lying::columns})
        for (auto lc : {lying::rows, lying::columns}) {
          CAPTURE(m, k, n, static_cast<int>(la), static_cast<int>(lb), static_cast<int>(lc));
          session<reference::backend> exact(plain);
          session<triad::cuda::backend> s(split), whole(float_only);
          auto const multiply = [&, m = m, k = k, n = n](auto& on, auto zero) {
            using T = decltype(zero);
            auto const c = on.put(values<T>(m, n, 3), m, n, lc);
            matrix<T const> const a = on.put(values<T>(m, k, 1), m, k, la), b = on.put(values<T>(k, n, 2), k, n, lb);
            matmul(on.ex, a, b, c, {.bias = on.put(random_values<T>(n, 6)), .relu = true});
            on.collect(c);
            matmul(on.ex, a, b, c, {.residual = on.put(values<T>(m, n, 4), m, n, lc)});
            on.collect(c);
            matmul_add(on.ex, a, b, c);
            on.collect(c);
          };
          multiply(exact, double());
          multiply(s, float());
          multiply(whole, float());
          CHECK(distance(exact.results, s.results) <= 1e-6);
          CHECK(s.results != whole.results);  // shows that factors were rounded
        }
}

TEST_CASE("products that splitting would not make faster, or that have no room, are those of float32") {
  using enum triad::cuda::arithmetic;
  using triad::cuda::detail::pays_to_split;
  CHECK(pays_to_split(400, 400, 30));
  CHECK_FALSE(pays_to_split(100000, 200, 200));
  CHECK(pays_to_split(50000, 800, 200));
  CHECK_FALSE(pays_to_split(1 << 20, 800, 200));  // 2.5 GB
  triad::cuda::backend split(0, tf32x3), float_only(0, float32);
  session<triad::cuda::backend> s(split), whole(float_only);
  auto const multiply = [&](auto& on) {
    auto const c = on.template spoiled<float>(399, 400, lying::rows);
    matmul(on.ex, on.put(values<float>(399, 5, 1), 399, 5), on.put(values<float>(5, 400, 2), 5, 400), c);
    on.collect(c);
  };
  multiply(s);
  multiply(whole);
  CHECK(s.results == whole.results);
  CHECK(split.split_factors().bytes() == 0);
}

TEST_CASE("memory that grows becomes twice as large, and not larger than its limit while no call asks for more") {
  triad::cuda::growing_memory memory(1000);
  auto const grown = [&](std::size_t bytes) {
    CHECK(memory.at_least(bytes) != nullptr);
    return memory.bytes();
  };
  CHECK(grown(300) == 300);
  CHECK(grown(200) == 300);
  CHECK(grown(301) == 600);
  CHECK(grown(601) == 1000);
  CHECK(grown(1000) == 1000);
  CHECK(memory.bytes_in_all() == 1900);
  CHECK(grown(1200) == 1200);
  CHECK(memory.bytes_in_all() == 3100);
  triad::cuda::growing_memory moved(std::move(memory));
  CHECK((moved.bytes() == 1200 && moved.bytes_in_all() == 3100));
  CHECK(moved.at_least(1200) != nullptr);
  CHECK(moved.bytes_in_all() == 3100);
  triad::cuda::backend split(0, triad::cuda::arithmetic::tf32x3);
  CHECK(split.split_factors().at_least(8) != nullptr);
  CHECK(split.split_factors().bytes_in_all() == 8);
}

TEST_CASE("room for the parts of factors may grow next to what was recorded in less") {
  triad::cuda::backend recorded(0, triad::cuda::arithmetic::tf32x3), told(0, triad::cuda::arithmetic::tf32x3);
  told.record(false);
  auto const results = [](triad::cuda::backend& ex) {
    session<triad::cuda::backend> s(ex);
    struct {
      matrix<float const> a, b;
      matrix<float> c;
    } all[2];
    for (index_t i = 0; i < 2; ++i) {
      index_t const k = i == 0 ? 3 : 40;
      all[i] = {s.put(values<float>(400, k, 1), 400, k), s.put(values<float>(k, 400, 2), k, 400),
                s.put(std::vector<float>(400 * 400), 400, 400)};
    }
    for (std::size_t i : {0, 0, 0, 1, 1, 1, 0, 1})
      replay(ex, 7 + i, [&] { matmul_add(ex, all[i].a, all[i].b, all[i].c); });
    for (auto const& product : all) s.collect(product.c);
    forget_replays(ex);
    return s.results;
  };
  CHECK(results(recorded) == results(told));
  CHECK(recorded.recordings().replayed() == 6);
}

// ops/matmul.cpp tests every combination. In this test, the addend is the old value of the result.
TEMPLATE_TEST_CASE("what follows a product in place follows it on a device in the same order", "", float, double) {
  for (auto const [m, k, n] : {size{3, 5, 7}, {9, 4, 130}, {1, 2, 65}, {2, 0, 3}})
    for (auto how : all_ways)
      for (unsigned parts = 0; parts < 16; ++parts) {
        CAPTURE(m, k, n, static_cast<int>(how), parts);
        expect_reference<TestType>([=, m = m, k = k, n = n](auto& s, auto zero) {
          using T = decltype(zero);
          matrix<T const> const a = s.put(values<T>(m, k, 1), m, k),
                                b = s.put(values<T>(k, n, 2), k, n, lying::columns);
          auto const c = s.put(values<T>(m, n, 5), m, n, how);
          epilogue<T> e;
          if (parts & 1) e.bias = s.put(random_values<T>(n, 6));
          e.relu = (parts & 2) != 0;
          if (parts & 4) e.gate = s.put(values<T>(m, n, 4), m, n, how), e.gate_scale = T(1.25);
          if (parts & 8) e.dropout = {0.3, 1, 2, s.put(std::vector<std::uint64_t>{3}).data_handle()};
          e.residual = c;
          matmul(s.ex, a, b, c, e);
          if (parts == 0) detail::matmul_checked<true>(s.ex, a, b, c, e);  // c = c + (c + a b)
          s.collect(c);
        });
      }
}

TEST_CASE(
    "bias and a residual that follows at once are cublasLt's where it has a way, a kernel's where it has none, and "
    "relu "
    "is always a kernel's") {
  struct use {
    bool bias, relu, residual, drops;
    index_t n;
    bool fused;
  };
  for (auto const u : {use{true, false, false, false, 8, true},
                       {true, true, false, true, 8, true},
                       {true, true, true, false, 8, true},
                       {false, true, true, false, 8, false},
                       {false, true, false, false, 8, false},
                       {true, false, true, false, 8, true},
                       {false, false, true, false, 8, true},
                       {false, false, true, false, 7, false},
                       {false, false, true, true, 8, false},
                       {true, false, false, false, 7, false}}) {
    CAPTURE(u.bias, u.relu, u.residual, u.drops, u.n);
    auto const before = device().fused().queued();
    expect_reference<float>([&](auto& s, auto zero) {
      using T = decltype(zero);
      index_t const m = 5, k = 3;
      auto const c = s.template spoiled<T>(m, u.n);
      epilogue<T> e;
      if (u.bias) e.bias = s.put(random_values<T>(u.n, 1));
      e.relu = u.relu;
      if (u.drops) e.dropout = {0.3, 1, 2, s.put(std::vector<std::uint64_t>{3}).data_handle()};
      if (u.residual) e.residual = s.put(values<T>(m, u.n, 2), m, u.n);
      matmul(s.ex, matrix<T const>(s.put(values<T>(m, k, 3), m, k)),
             matrix<T const>(s.put(values<T>(k, u.n, 4), k, u.n)), c, e);
      s.collect(c);
    });
#if defined(TRIAD_CUDA_DOUBLE)  // a device may choose other algorithms
    CHECK(device().fused().queued() - before == (u.fused ? 2u : 0u));
#else
    if (u.bias && !u.relu && !u.residual && u.n == 8)
      CHECK(device().fused().queued() > before);  // every device must have this algorithm
#endif
  }
}

TEMPLATE_TEST_CASE("a product with a norm on a device is the product and the norm", "", float, double) {
  index_t const k = 6;
  for (auto const [m, terms, n] : {size{0, k, 3}, {1, k, 1}, {9, k, 33}, {70, k, 64}, {17, k, 256}, {5, k, 300}})
    for (auto lc : {lying::rows, lying::padded, lying::columns})
      for (double const rate : {0.0, 0.3, 1.0}) {
        CAPTURE(m, n, static_cast<int>(lc), rate);
        session<triad::cuda::backend> s(device());
        auto const put = [&](index_t rows, index_t columns, std::uint64_t stream, lying how = lying::rows) {
          return s.put(values<TestType>(rows, columns, stream), rows, columns, how);
        };
        auto const step = s.put(std::vector<std::uint64_t>{4});
        auto const gain = s.put(random_values<TestType>(n, 1)), bias = s.put(random_values<TestType>(n, 2));
        epilogue<TestType> const e{.bias = bias, .dropout = {rate, 5, 7, step.data_handle()}, .residual = put(m, n, 3)};
        auto const a = put(m, terms, 4), b = put(terms, n, 5);
        for (bool const together : {true, false}) {
          auto const c = s.template spoiled<TestType>(m, n, lc), y = s.template spoiled<TestType>(m, n, lc);
          auto const mean = s.template spoiled<TestType>(m), rstd = s.template spoiled<TestType>(m);
          if (together) {
            following_norm<TestType> const norm_of_c{gain, bias, TestType(1e-5), y, mean, rstd};
            do_matmul_norm(s.ex, matrix<TestType const>(a), matrix<TestType const>(b), c, e, norm_of_c);
          } else {
            matmul(s.ex, a, b, c, e);
            layer_norm(s.ex, c, gain, bias, 1e-5, y, mean, rstd);
          }
          for (auto const& of : {c, y}) s.collect(of);
          for (auto const& v : {mean, rstd}) s.collect(v);
        }
        auto const half = s.results.begin() + static_cast<std::ptrdiff_t>(s.results.size() / 2);
        // A norm divides by a standard deviation that may be as small as the root of epsilon, which is 0.003.
        CHECK(distance({half, s.results.end()}, {s.results.begin(), half}) <= 100 * tolerance<TestType>);
      }
}

// cublasLt chooses its kernels by shape and arithmetic. In TF32 and bf16, the relu of cublasLt changed NaN to 0 at the
// third of these shapes, so triad does not use it in these precisions.
TEST_CASE("a NaN passes the relu that follows a product, in every arithmetic") {
  using enum triad::cuda::arithmetic;
  for (auto how : {float32, tf32x3, tf32, f16, bf16}) {
    triad::cuda::backend ex(0, how);
    for (auto const [m, k, n] : {size{5, 3, 8}, {33, 200, 200}, {130, 64, 400}, {400, 30, 402}})
      for (bool biased : {false, true}) {
        CAPTURE(static_cast<int>(how), m, k, n, biased);
        session<triad::cuda::backend> s(ex);
        auto a = values<float>(m, k, 1);
        a[static_cast<std::size_t>(k)] = NAN;  // in the second row
        auto const c = s.spoiled<float>(m, n);
        epilogue<float> e;
        e.relu = true;
        if (biased) e.bias = s.put(random_values<float>(n, 3));
        matmul(ex, matrix<float const>(s.put(a, m, k)), matrix<float const>(s.put(values<float>(k, n, 2), k, n)), c, e);
        s.collect(c);
        for (index_t i = 0; i < m; ++i) {
          auto const row = s.results.begin() + i * n;
          CHECK(std::count_if(row, row + n, [](double x) { return std::isnan(x); }) == (i == 1 ? n : 0));
        }
      }
  }
}

TEMPLATE_TEST_CASE("a batch of products whose numbers do not lie side by side is each product", "", float, double) {
  for (index_t count : {0, 1, 2, 9})
    for (bool turned : {false, true}) {
      index_t const right = 2;
      CAPTURE(count, turned);
      expect_reference<TestType>([=](auto& s, auto zero) {
        using T = decltype(zero);
        index_t const m = 3, k = 5, n = 4;
        auto const batch = [=](auto* data, index_t rows, index_t columns, index_t step, bool by_columns) {
          using view = matrices<std::remove_pointer_t<decltype(data)>>;
          ::cuda::std::array<index_t, 3> const strides{step * right, by_columns ? right : columns * right,
                                                       by_columns ? rows * right : right};
          return view(data, typename view::mapping_type(extents<dyn, dyn, dyn>(count, rows, columns), strides));
        };
        T const *const a = s.put(random_values<T>(20 * m * k, 1)).data_handle(),
                       *const b = s.put(random_values<T>(20 * k * n, 2)).data_handle();
        auto const c = s.put(std::vector<T>(static_cast<std::size_t>(20 * m * n), T(9)));
        batched_matmul<std::remove_reference_t<decltype(s.ex)>, T>(s.ex, batch(a, m, k, m * k, turned),
                                                                   batch(b, k, n, k * n, !turned),
                                                                   batch(c.data_handle(), m, n, m * n, false));
        s.collect(c);
      });
    }
}

TEMPLATE_TEST_CASE("pair sums on a device are those of the host", "", float, double) {
  for (auto const& nodes : {std::vector<index_t>{3, 1, 5, 2}, std::vector<index_t>{0, 19, 0, 1, 0},
                            std::vector<index_t>(40, 2), std::vector<index_t>{}})
    for (index_t d : {1, 7, 65, 130})
      for (double rate : {0.0, 0.4, 1.0}) {
        auto const how = rate == 0.4 ? lying::every_second : lying::rows;
        CAPTURE(nodes.size(), d, rate);
        expect_reference<TestType>([&](auto& s, auto zero) {
          using T = decltype(zero);
          ragged const host(nodes);
          auto const g = s.put(host);
          index_t const n = host.dims.nodes, rows = host.dims.rows;
          matrix<T const> const a = s.put(values<T>(n, d, 1), n, d, how), b = s.put(values<T>(n, d, 2), n, d, how);
          auto const residual = s.put(values<T>(rows, d, 3), rows, d, how), y = s.template spoiled<T>(rows, d, how);
          auto const da = s.template spoiled<T>(n, d, how), db = s.template spoiled<T>(n, d, how);
          dropout_mask const mask{rate, 5, 2, s.put(std::vector<std::uint64_t>{6}).data_handle()};
          pair_sum(s.ex, g, a, b, mask, make_matrix<T const>(nullptr, 0, 0, 0), y);
          pair_sum(s.ex, g, a, b, mask, matrix<T const>(residual), residual);  // in place
          pair_sum_grad(s.ex, g, mask, matrix<T const>(residual), da, db);
          for (auto const& m : {y, residual, da, db}) s.collect(m);
        });
      }
}

}  // namespace cuda_on_host_products_tests
