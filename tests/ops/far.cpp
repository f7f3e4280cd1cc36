// Tests offsets beyond 2^31 elements. If rows are so far apart, results must be the same as for adjacent rows.
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <cmath>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/ragged.hpp"
#include "tests/ragged_grids.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/ops/cross_entropy.hpp"
#include "triad/ops/softmax.hpp"

namespace ops_far_tests {

using namespace triad;
using test::ragged;
using test::random_values;

constexpr index_t apart = (index_t{1} << 31) + 64;  // elements from one row to the next

/// Reserves address space for `rows` rows at this distance. Only pages that are used take memory.
template <class T>
class far_rows {
 public:
  explicit far_rows(index_t rows) : bytes_(static_cast<std::size_t>(rows * apart) * sizeof(T)) {
    data_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ == MAP_FAILED) throw std::bad_alloc();
  }
  far_rows(far_rows const&) = delete;
  far_rows& operator=(far_rows const&) = delete;
  ~far_rows() { ::munmap(data_, bytes_); }
  T* data() const { return static_cast<T*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

/// Several matrices in rows that are `stride` elements apart. Each matrix begins 64 columns after the matrix before.
/// Values are copied from and to packed vectors.
template <class T>
struct table {
  T* data;
  index_t stride;

  matrix<T> at(index_t place, index_t rows, index_t columns) const {
    return make_matrix(data + 64 * place, rows, columns, stride);
  }
  matrix<T> put(index_t place, index_t rows, index_t columns, std::uint64_t stream) const {
    auto const m = at(place, rows, columns);
    auto const values = random_values<T>(rows * columns, stream);
    for (index_t i = 0; i < rows; ++i)
      for (index_t j = 0; j < columns; ++j) m(i, j) = values[static_cast<std::size_t>(i * columns + j)];
    return m;
  }
  static void collect(std::vector<T>& all, matrix<T> m) {
    for (index_t i = 0; i < m.extent(0); ++i)
      for (index_t j = 0; j < m.extent(1); ++j) all.push_back(m(i, j));
  }
};

/// Checks that body(table) has the same results for distant rows as for adjacent rows. Rounding may differ, because
/// BLAS cannot use so long strides, and sums then have another order.
template <class T, class Body>
void expect_same_values(index_t rows, Body&& body) {
  constexpr index_t near = 1024;
  std::vector<T> packed(static_cast<std::size_t>(rows * near) + 64);
  far_rows<T> const memory(rows);
  auto const far = body(table<T>{memory.data(), apart}), expected = body(table<T>{packed.data(), near});
  REQUIRE(far.size() == expected.size());
  for (std::size_t i = 0; i < far.size(); ++i) {
    CAPTURE(i);
    REQUIRE_THAT(far[i], test::WithinAbs(static_cast<double>(expected[i]), sizeof(T) == 4 ? 1e-5 : 1e-13));
  }
}

TEMPLATE_TEST_CASE("rows and products are found beyond 2^31 elements", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  expect_same_values<T>(3, [&](table<T> const& t) {
    std::vector<T> all;
    auto const x = t.put(0, 3, 20, 1), y = t.put(1, 3, 20, 2), result = t.put(2, 3, 20, 3), gain = t.put(3, 2, 20, 4);
    matrix<T const> const rx = x, ry = y;
    softmax(ex, rx, result);
    t.collect(all, result);
    softmax_grad(ex, matrix<T const>(result), ry, result);
    t.collect(all, result);
    std::vector<T> mean(3), rstd(3);
    auto const m = make_vec(mean.data(), 3), r = make_vec(rstd.data(), 3);
    layer_norm(ex, rx, make_vec<T const>(&gain(0, 0), 20), make_vec<T const>(&gain(1, 0), 20), 1e-5, result, m, r);
    t.collect(all, result);
    std::vector<index_t> const ids{2, 0, 2};
    auto const id = make_vec<index_t const>(ids.data(), 3);
    gather_rows(ex, rx, id, result);
    t.collect(all, result);
    auto const square = t.put(4, 3, 3, 5);
    matmul(ex, rx, transposed(ry), square);
    t.collect(all, square);
    matmul(ex, matrix<T const>(square), ry, result);
    t.collect(all, result);
    std::vector<index_t> const answers{19, -1, 4};
    std::vector<T> loss(1);
    cross_entropy(ex, rx, make_vec<index_t const>(answers.data(), 3), make_vec(loss.data(), 1), result);
    t.collect(all, result);
    all.push_back(loss[0]);
    test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
      column_sums_add(backend, *c.scratch, rx, make_vec(&gain(1, 0), 20));
    });
    scatter_add_rows(ex, ry, id, x);
    t.collect(all, x);
    t.collect(all, gain);
    test::ragged_grids const grid({{3, 1}});  // three tokens, and a sum in one row, which has the role of a third
    auto const role = t.put(5, 3, 1, 6), drole = t.put(6, 3, 1, 7);
    noisy_or(ex, grid.batch(), ry, matrix<T const>(role), row_block(result, 1, 1));
    noisy_or_grad(ex, grid.batch(), ry, matrix<T const>(role), matrix<T const>(row_block(result, 1, 1)), x, drole);
    test::ragged_grids const nodes({{1, 1}, {1, 1}, {1, 1}});  // three graphs of one node each, and three relations
    auto const p = t.put(8, 3, 20, 8), label = t.put(9, 3, 20, 9), edge = t.put(10, 3, 3, 10), leaving = t.at(11, 3, 3),
               of_x = t.at(12, 3, 20), of_y = t.at(13, 3, 20), dlabel = t.at(14, 3, 20), dp = t.at(15, 3, 20);
    // Probabilities, and logarithms of probabilities.
    for (auto const& [part, sign] : {std::pair{p, T(1)}, {label, T(-1)}, {edge, T(-1)}})
      for (index_t i = 0; i < part.extent(0); ++i)
        for (index_t j = 0; j < part.extent(1); ++j) part(i, j) = sign * std::abs(part(i, j));
    implied_labels(ex, nodes.batch(), matrix<T const>(edge), matrix<T const>(label), matrix<T const>(p), leaving, of_x,
                   of_y, label);
    implied_labels_grad(ex, nodes.batch(), matrix<T const>(p), matrix<T const>(leaving), matrix<T const>(of_x),
                        matrix<T const>(of_y), rx, dlabel, dp);
    for (auto const& written : {leaving, of_x, of_y, label, dlabel, dp}) t.collect(all, written);
    std::vector<std::uint8_t> wanted(60);
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = i % 7 < 2;
    std::vector<T> const scale(1, T(0.1));
    test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
      binary_cross_entropy(backend, *c.scratch, probability_form::logits, ry,
                           make_matrix<std::uint8_t const>(wanted.data(), 3, 20, 20), make_vec(scale.data(), 1),
                           make_vec(loss.data(), 1), t.at(7, 3, 20));
    });
    all.push_back(loss[0]);
    t.collect(all, t.at(7, 3, 20));
    for (auto const& written : {x, drole, row_block(result, 1, 1)}) t.collect(all, written);
    return all;
  });
}

TEMPLATE_TEST_CASE("triangles are found beyond 2^31 elements", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (auto form : {triangle_form::full, triangle_form::attention_ablation, triangle_form::flat}) {
    CAPTURE(static_cast<int>(form));
    ragged const graphs({2, 1});
    auto const rows = graphs.dims.rows;
    auto const body = [&](table<T> const& t) {
      std::vector<T> all;
      triangle_options const options{form, 2};
      auto const part = [&](index_t place) { return t.put(place, rows, 12, static_cast<std::uint64_t>(place)); };
      triangle_projections<T> const x{part(0), part(1), part(2),
                                      uses_right_value(form) ? part(3) : make_matrix<T>(nullptr, 0, 0, 0)};
      triangle_projections<T> const dx{part(4), part(5), part(6),
                                       uses_right_value(form) ? part(7) : make_matrix<T>(nullptr, 0, 0, 0)};
      triangle_projections<T const> const in{x.query, x.key, x.left_value, x.right_value};
      auto const o = part(8), d_o = part(9);
      triangle_statistics<T> const saved{t.at(10, rows, 2), t.at(11, rows, 2)};
      test::with_scratch(ex, {}, [&]<class Ex>(Ex& backend, call const& c) {
        triangle<Ex, T>(backend, *c.scratch, options, in, graphs.batch(), saved, o);
        triangle_grad<Ex, T>(backend, *c.scratch, options, in, graphs.batch(), {saved.maximum, saved.inverse_sum}, o,
                             d_o, dx);
      });
      for (auto const& m : {o, dx.query, dx.key, dx.left_value}) t.collect(all, m);
      if (uses_right_value(form)) t.collect(all, dx.right_value);
      return all;
    };
    if constexpr (test::is_device<typename TestType::backend>)
      CHECK_THROWS_WITH(body(table<T>{far_rows<T>(rows).data(), apart}),
                        test::contains("expected below 2^31 on a device"));
    else
      expect_same_values<T>(rows, body);
  }
}

}  // namespace ops_far_tests
