// Tests matrix products for every stride, size and epilogue. Compares them with sums in long double.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/matmul.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/distance.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/matmul.hpp"
#include "triad/reference/matmul.hpp"

// OpenBLAS defines this function. For other libraries, it is null. The typed tests on a device do not use a BLAS.
#if !defined(TRIAD_TEST_ON_CUDA)
extern "C" int openblas_get_num_threads(void) __attribute__((weak));
#endif

namespace ops_matmul_tests {

using namespace triad;
using triad::test::contains;
using triad::test::random_values;

// The tolerance allows for rounding in precision T in a sum of k products of numbers up to 1, in any order.
template <class T>
double tolerance(index_t k) {
  return static_cast<double>(std::numeric_limits<T>::epsilon()) * 2 * static_cast<double>(k + 4);
}

enum class storage { rows, columns, padded_rows, padded_columns, every_second };
constexpr storage all_storages[] = {storage::rows, storage::columns, storage::padded_rows, storage::padded_columns,
                                    storage::every_second};

// A matrix with one of these layouts. The layout has gaps, which must not be written.
template <class T>
struct stored {
  static constexpr T gap = T(777);
  index_t rows, columns;
  storage how;
  std::vector<T> data;

  stored(index_t r, index_t c, storage s, std::uint64_t stream, bool empty = false)
      : rows(r), columns(c), how(s), data(static_cast<std::size_t>(2 * (r + 3) * (c + 3)), gap) {
    auto const values = random_values<T>(r * c, stream);
    for (index_t i = 0; i < r; ++i)
      for (index_t j = 0; j < c; ++j)
        view()(i, j) = empty ? std::numeric_limits<T>::quiet_NaN() : values[static_cast<std::size_t>(i * c + j)];
  }
  matrix<T> view() {
    switch (how) {
      case storage::rows:
        return make_matrix(data.data(), rows, columns, columns);
      case storage::columns:
        return make_matrix(data.data(), rows, columns, index_t{1}, std::max<index_t>(rows, 1));
      case storage::padded_rows:
        return make_matrix(data.data() + 1, rows, columns, columns + 3);
      case storage::padded_columns:
        return make_matrix(data.data() + 1, rows, columns, index_t{1}, rows + 3);
      case storage::every_second:
        break;
    }
    return make_matrix(data.data(), rows, columns, 2 * columns + 3, 2);
  }
  matrix<T const> read() { return view(); }
  std::size_t gaps() const {
    std::size_t count = 0;
    for (T v : data) count += v == gap ? 1u : 0u;
    return count;
  }
};

// Returns the largest difference between c and the definition.
template <class T>
double error_of(matrix<T const> a, matrix<T const> b, matrix<T const> before, bool add, epilogue<T> const& e,
                matrix<T const> c) {
  double worst = 0;
  for (index_t i = 0; i < c.extent(0); ++i)
    for (index_t j = 0; j < c.extent(1); ++j) {
      long double v = add ? static_cast<long double>(before(i, j)) : 0;
      for (index_t k = 0; k < a.extent(1); ++k)
        v += static_cast<long double>(a(i, k)) * static_cast<long double>(b(k, j));
      if (e.bias.extent(0) != 0) v += static_cast<long double>(e.bias(j));
      if (e.relu && v < 0) v = 0;
      if (e.gate.extent(0) != 0) v = e.gate(i, j) > T(0) ? v * static_cast<long double>(e.gate_scale) : 0;
      if (e.dropout.active())
        v = e.dropout.keeps(dropout_element(i, j, c.extent(1))) ? v * static_cast<long double>(e.dropout.scale()) : 0;
      if (e.residual.extent(0) != 0) v += static_cast<long double>(e.residual(i, j));
      double const difference = std::abs(static_cast<double>(static_cast<long double>(c(i, j)) - v));
      worst = test::worse(worst, difference);
      if (std::isnan(difference)) return difference;
    }
  return worst;
}

TEMPLATE_TEST_CASE("a product is the sum of products, however its matrices lie in memory", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  struct size {
    index_t m, k, n;
  };
  for (auto const [m, k, n] : {size{0, 3, 2},
                               {3, 0, 2},
                               {2, 3, 0},
                               {1, 1, 1},
                               {1, 5, 1},
                               {5, 1, 7},
                               {3, 4, 1},
                               {1, 4, 3},
                               {7, 33, 17},
                               {64, 16, 16}})
    for (auto sa : all_storages)
      for (auto sb : all_storages)
        for (auto sc : all_storages)
          for (bool add : {false, true}) {
            CAPTURE(m, k, n, static_cast<int>(sa), static_cast<int>(sb), static_cast<int>(sc), add);
            stored<T> a(m, k, sa, 1), b(k, n, sb, 2), before(m, n, sc, 3), c(m, n, sc, 3, !add);
            auto const gaps = c.gaps();
            if (add)
              matmul_add(ex, a.read(), b.read(), c.view());
            else
              matmul(ex, a.read(), b.read(), c.view());
            REQUIRE(error_of<T>(a.read(), b.read(), before.read(), add, {}, c.read()) <= tolerance<T>(k));
            REQUIRE(c.gaps() == gaps);
          }
}

TEMPLATE_TEST_CASE("products that are cut into blocks are right at every seam", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  struct size {
    index_t m, k, n;
  };
  for (auto const [m, k, n] : {size{385, 3, 5}, {800, 2, 97}, {5, 600, 401}, {1201, 1, 33}}) {
    CAPTURE(m, k, n);
    stored<T> a(m, k, storage::rows, 1), b(k, n, storage::columns, 2), c(m, n, storage::padded_rows, 3, true);
    matmul(ex, a.read(), b.read(), c.view());
    CHECK(error_of<T>(a.read(), b.read(), c.read(), false, {}, c.read()) <= tolerance<T>(k));
  }
}

TEMPLATE_TEST_CASE("bias, relu, gate, dropout and residual follow a product in that order, in every combination", "",
                   TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  std::uint64_t const step = 3;
  struct size {
    index_t m, k, n;
  };
  for (auto const [m, k, n] : {size{3, 5, 7}, {1, 2, 65}, {9, 4, 130}, {770, 2, 3}, {2, 0, 3}})
    for (auto sc : {storage::rows, storage::padded_rows, storage::columns, storage::every_second})
      for (unsigned parts = 0; parts < 32; ++parts) {
        CAPTURE(m, k, n, static_cast<int>(sc), parts);
        stored<T> a(m, k, storage::rows, 1), b(k, n, storage::padded_columns, 2), c(m, n, sc, 3, true),
            gate(m, n, sc, 4), residual(m, n, sc, 5);
        auto const bias = random_values<T>(n, 6);
        epilogue<T> e;
        if (parts & 1) e.bias = make_vec(bias.data(), n);
        e.relu = (parts & 2) != 0;
        if (parts & 4) e.gate = gate.read(), e.gate_scale = T(1.25);
        if (parts & 8) e.dropout = {0.3, 1, 2, &step};
        if (parts & 16) e.residual = residual.read();
        CHECK(e.empty() == (parts == 0));
        matmul(ex, a.read(), b.read(), c.view(), e);
        REQUIRE(error_of<T>(a.read(), b.read(), c.read(), false, e, c.read()) <= 2 * tolerance<T>(k));
      }
  // The residual may be the result itself.
  stored<T> a(4, 3, storage::rows, 1), b(3, 6, storage::rows, 2), c(4, 6, storage::rows, 3),
      before(4, 6, storage::rows, 3);
  epilogue<T> e;
  e.residual = c.read();
  matmul(ex, a.read(), b.read(), c.view(), e);
  CHECK(error_of<T>(a.read(), b.read(), before.read(), true, {}, c.read()) <= tolerance<T>(3));
}

TEMPLATE_TEST_CASE("NaN of an operand is in every element of a product that it is a term of, through relu too", "",
                   TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (index_t const m : {3, 40})
    for (bool const rectified : {false, true})
      for (int operand = 0; operand < 5; ++operand)
        for (bool const below : {false, true}) {  // NaN with both signs
          CAPTURE(m, rectified, operand, below);
          index_t const k = 5, n = 19;
          stored<T> a(m, k, storage::rows, 1), b(k, n, storage::rows, 2), c(m, n, storage::rows, 3, true),
              gate(m, n, storage::rows, 4), residual(m, n, storage::rows, 5);
          auto bias = random_values<T>(n, 6);
          for (index_t i = 0; i < k; ++i) a.view()(1, i) = T(0);  // 0 times NaN is NaN
          for (index_t i = 0; i < m * n; ++i) gate.view()(i / n, i % n) = T(1);
          T const nan = below ? -std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::quiet_NaN();
          if (operand == 0) a.view()(2, 3) = nan;
          if (operand == 1) b.view()(3, 18) = nan;
          if (operand == 2) bias[18] = nan;
          if (operand == 3) gate.view()(2, 18) = nan;
          if (operand == 4) residual.view()(2, 18) = nan;
          epilogue<T> e;
          e.bias = make_vec<T const>(bias.data(), n);
          e.relu = rectified;
          e.gate = gate.read();
          if (operand >= 4) e.residual = residual.read();
          matmul(ex, a.read(), b.read(), c.view(), e);
          for (index_t i = 0; i < m; ++i)
            for (index_t j = 0; j < n; ++j) {
              bool const expected = operand == 0 ? i == 2 : operand <= 2 ? j == 18 : operand == 4 && i == 2 && j == 18;
              CAPTURE(i, j);
              REQUIRE(std::isnan(c.read()(i, j)) == expected);
            }
        }
}

TEMPLATE_TEST_CASE("a batch of products is each product", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  using mapping = typename matrices<T>::mapping_type;
  auto const batch = [](auto* data, index_t count, index_t r, index_t c, index_t step, bool turned) {
    return matrices<std::remove_pointer_t<decltype(data)>>(
        data, mapping(extents<dyn, dyn, dyn>(count, r, c),
                      ::cuda::std::array<index_t, 3>{step, turned ? 1 : c, turned ? r : 1}));
  };
  for (index_t count : {0, 1, 2, 9})
    for (bool turned : {false, true}) {
      CAPTURE(count, turned);
      index_t const m = 3, k = 5, n = 4;
      auto const a = random_values<T>(10 * m * k, 1), b = random_values<T>(10 * k * n, 2);
      std::vector<T> c(static_cast<std::size_t>(count * m * n), T(9));
      auto const x = batch(a.data(), count, m, k, m * k, turned), y = batch(b.data(), count, k, n, k * n, !turned);
      batched_matmul<typename TestType::backend, T>(ex, x, y, batch(c.data(), count, m, n, m * n, false));
      for (index_t i = 0; i < count; ++i) {
        matrix<T const> const result = make_matrix<T const>(c.data() + i * m * n, m, n, n);
        CHECK(error_of<T>(matrix_of(x, i), matrix_of(y, i), result, false, {}, result) <= tolerance<T>(k));
      }
    }
}

TEST_CASE("products have the same bits for one, two and three threads") {
  auto const run = [](int threads) {
    cpu::backend ex(threads);
    std::vector<float> all;
    for (index_t m : {33, 500, 1000})
      for (index_t n : {40, 400}) {
        stored<float> a(m, 60, storage::rows, 1), b(60, n, storage::columns, 2), c(m, n, storage::rows, 3, true);
        epilogue<float> e;
        e.relu = true;
        matmul(ex, a.read(), b.read(), c.view(), e);
        all.insert(all.end(), c.data.begin(), c.data.end());
        matmul_add(ex, transposed(a.view()), c.read(), make_matrix(b.data.data(), 60, n, n));
        all.insert(all.end(), b.data.begin(), b.data.end());
      }
    return all;
  };
  auto const one = run(1);
  CHECK(one == run(2));
  CHECK(one == run(3));
}

TEST_CASE("products of matrices that do not fit are refused with a sentence") {
  reference::backend ex;
  std::vector<double> data(100);
  auto const m = [&](index_t r, index_t c) { return make_matrix(data.data(), r, c, c); };
  CHECK_THROWS_WITH(matmul(ex, m(2, 3), m(4, 5), m(2, 5)), contains("matmul: 4 rows of b, expected 3"));
  CHECK_THROWS_WITH(matmul(ex, m(2, 3), m(3, 5), m(2, 4)), contains("matmul: c is (2, 4), expected (2, 5)"));
  epilogue<double> e;
  e.bias = make_vec<double const>(data.data(), 2);
  CHECK_THROWS_WITH(matmul(ex, m(2, 3), m(3, 5), m(2, 5), e), contains("bias is (2), expected (5)"));
  e = {};
  e.residual = m(5, 2);
  CHECK_THROWS_WITH(matmul(ex, m(2, 3), m(3, 5), m(2, 5), e), contains("residual is (5, 2), expected (2, 5)"));
  e = {};
  e.gate = m(2, 4);
  CHECK_THROWS_WITH(matmul(ex, m(2, 3), m(3, 5), m(2, 5), e), contains("gate is (2, 4), expected (2, 5)"));
}

#if !defined(TRIAD_TEST_ON_CUDA)
TEST_CASE("a BLAS that can be asked for one thread is, and one that threads by OpenMP cannot be") {
  // Returns if the BLAS is not OpenBLAS, or if the user has set the number of threads.
  if (openblas_get_parallel == nullptr || std::getenv("OMP_NUM_THREADS") != nullptr) return;
  CHECK(cpu::blas_is_serial() == (openblas_get_parallel() != 2));
  if (cpu::blas_is_serial() && openblas_get_num_threads) CHECK(openblas_get_num_threads() == 1);
}
#endif

}  // namespace ops_matmul_tests
