// Tests that the cpu backend's triangular attention equals the reference's in double, for every form, size, mask and
// dropout rate, and for any number of threads.
// Tests cpu/triangle/.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/triangle.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/distance.hpp"
#include "tests/ragged.hpp"
#include "triad/ops/triangle.hpp"

namespace cpu_triangle_tests {

using namespace triad;
using test::distance;

struct shape {
  std::vector<index_t> sizes;  // number of nodes in each graph
  index_t width, heads;
  triangle_form form = triangle_form::full;
  double rate = 0;    // dropout rate
  double masked = 0;  // fraction of triangles that are masked out
  double fill = -1e9;
  index_t dx_step = 1;                // distance between the columns of dx
  index_t statistics_gap = 0;         // unused columns after every row of inverse_sum
  index_t columns_gap = 3;            // unused columns after every row of the projections
  std::vector<index_t> sources = {};  // number of source nodes in each graph; empty: not causal
};

std::ostream& operator<<(std::ostream& out, shape const& s) {
  out << "n =";
  for (auto n : s.sizes) out << ' ' << n;
  out << ", k = " << s.width << ", h = " << s.heads << ", form " << static_cast<int>(s.form) << ", dropout " << s.rate
      << ", masked " << s.masked << (s.sources.empty() ? "" : ", sources");
  for (auto n : s.sources) out << ' ' << n;
  return out;
}

// The operands of one problem. The four projections are side by side in each row, as one matrix product writes them.
// Each row ends with a few columns that must not be written. After the last row, there is memory that may be read.
template <class T>
struct problem {
  shape s;
  index_t d = s.width * s.heads, columns = 4 * d + s.columns_gap;
  test::ragged graphs_of;
  graph_dims dims = graphs_of.dims;
  std::vector<T> x, dx, o, d_o, maximum, inverse_sum;
  std::vector<std::uint8_t> masked;
  std::vector<std::byte> memory;
  std::uint64_t step = 7;

  static constexpr T gap = T(12345);

  explicit problem(shape const& shape_) : s(shape_), graphs_of(shape_.sizes) {
    auto const rows = static_cast<std::size_t>(dims.rows), slack = std::size_t{16};
    random_stream random(5, 1);
    auto const fill = [&](std::vector<T>& v, std::size_t count, double range) {
      v.resize(count + slack, std::numeric_limits<T>::quiet_NaN());
      for (std::size_t i = 0; i < count; ++i) v[i] = static_cast<T>(static_cast<float>(random.uniform(-range, range)));
    };
    fill(x, rows * static_cast<std::size_t>(columns), 1.5);
    fill(d_o, rows * static_cast<std::size_t>(d + 5), 1);
    dx.assign(rows * static_cast<std::size_t>(columns * s.dx_step) + slack, gap);
    o.assign(rows * static_cast<std::size_t>(d + 1) + slack, gap);
    maximum.assign(rows * static_cast<std::size_t>(s.heads), 0);
    inverse_sum.assign(rows * static_cast<std::size_t>(s.heads + s.statistics_gap), 0);
    if (s.masked > 0)
      for (index_t t = 0; t < dims.triangles; ++t) masked.push_back(random.uniform() < s.masked);
  }

  graph_batch graphs() const { return graphs_of.batch(); }
  triangle_options settings() const {
    triangle_options t;
    t.form = s.form;
    t.heads = s.heads;
    t.dropout = {s.rate, 99, 3, &step};
    if (!masked.empty()) t.mask = {make_vec(masked.data(), dims.triangles), s.fill};
    if (!s.sources.empty()) t.sources = make_vec(s.sources.data(), dims.graphs);
    return t;
  }
  template <class S>
  triangle_projections<S> projections(S* data, index_t apart = 1) const {
    auto const part = [&](index_t i) {
      return make_matrix(data + i * d * apart, dims.rows, d, columns * apart, apart);
    };
    return {part(0), part(1), part(2), uses_right_value(s.form) ? part(3) : make_matrix(data, 0, 0, 0)};
  }
  matrix<T> output() { return make_matrix(o.data(), dims.rows, d, d + 1); }
  matrix<T const> output_gradient() const { return make_matrix(d_o.data(), dims.rows, d, d + 5); }

  template <class Ex>
  void run(Ex& ex) {
    T const* const input = x.data();
    auto const in = projections(input);
    triangle_statistics<T> const statistics{
        make_matrix(maximum.data(), dims.rows, s.heads, s.heads),
        make_matrix(inverse_sum.data(), dims.rows, s.heads, s.heads + s.statistics_gap)};
    triangle_statistics<T const> const read{statistics.maximum, statistics.inverse_sum};
    auto const both = [&](auto& backend, arena& scratch) {
      triangle(backend, scratch, settings(), in, graphs(), statistics, output());
      triangle_grad(backend, scratch, settings(), in, graphs(), read, matrix<T const>(output()), output_gradient(),
                    projections(dx.data(), s.dx_step));
    };
    arena measure;
    measuring<Ex> planner{&ex};
    both(planner, measure);
    memory.assign(measure.peak() + 128, std::byte{0xff});  // scratch memory starts with NaN
    auto const begin = (reinterpret_cast<std::uintptr_t>(memory.data()) + 63) / 64 * 64 -
                       reinterpret_cast<std::uintptr_t>(memory.data());
    arena scratch(memory.data() + begin, measure.peak());
    both(ex, scratch);
  }

  // Returns whether the columns of o and dx that do not belong to an edge are unchanged.
  bool gaps_untouched() const {
    auto const parts = uses_right_value(s.form) ? 4 : 3;
    for (index_t r = 0; r < dims.rows; ++r) {
      if (o[static_cast<std::size_t>(r * (d + 1) + d)] != gap) return false;
      for (index_t c = parts * d; c < columns; ++c)
        if (dx[static_cast<std::size_t>((r * columns + c) * s.dx_step)] != gap) return false;
    }
    for (std::size_t i = 0; i < 16; ++i)
      if (o[o.size() - 1 - i] != gap || dx[dx.size() - 1 - i] != gap) return false;
    return true;
  }
};

// The tolerance allows for rounding errors in sums of up to a hundred products in single precision, and for the error
// of exponentials, 2e-7.
constexpr double tolerance = 1e-5;

void expect_reference(shape const& s) {
  INFO(s);
  problem<float> ours(s);
  problem<double> exact(s);
  cpu::backend fast(1);
  reference::backend plain;
  ours.run(fast);
  exact.run(plain);
  CHECK(distance(ours.o, exact.o) < tolerance);
  CHECK(distance(ours.maximum, exact.maximum) < tolerance);
  CHECK(distance(ours.inverse_sum, exact.inverse_sum) < tolerance);
  CHECK(distance(ours.dx, exact.dx) < tolerance);
  CHECK(ours.gaps_untouched());

  problem<float> twice(s);
  cpu::backend two(2);
  twice.run(two);
  CHECK(twice.o == ours.o);
  CHECK(twice.dx == ours.dx);
}

TEST_CASE("triangular attention equals the reference at every small size") {
  for (index_t n = 1; n <= 20; ++n) expect_reference({{n}, 50, 2});
}

TEST_CASE("triangular attention equals the reference at every kind of width") {
  for (index_t k : {1, 3, 8, 15, 16, 17, 31, 32, 33, 48, 64, 90}) {
    expect_reference({{1, 5, 7}, k, 2});
    expect_reference({{18}, k, 1});
  }
}

TEST_CASE("triangular attention equals the reference where rows lie a multiple of 512 bytes apart") {
  for (auto const form : {triangle_form::full, triangle_form::value_ablation, triangle_form::attention_ablation})
    for (index_t k : {16, 20, 64})
      expect_reference({{3, 4, 7, 20, 21}, k, k == 20 ? 8 : 4, form, 0.3, 0.2, -1e9, 1, 0, 0});
}

TEST_CASE("triangular attention equals the reference where tiles have remainders") {
  for (index_t n : {24, 31, 33, 40, 47, 65}) expect_reference({{n}, 18, 2});
  expect_reference({{70}, 90, 1});  // large enough for the smaller blocks of l
}

TEST_CASE("triangular attention of a ragged batch equals the reference") {
  expect_reference({{3, 17, 1, 5, 12, 33, 2, 13, 4}, 10, 3});
  expect_reference({std::vector<index_t>(20, 4), 50, 4});
}

TEST_CASE("triangular attention with masks and dropout equals the reference") {
  for (index_t n : {1, 2, 3, 4, 5, 6, 7, 10, 13, 16, 21, 34})
    for (double rate : {0.0, 0.3})
      for (double masked : {0.0, 0.4, 1.0}) {
        expect_reference({{n, 3}, 20, 2, triangle_form::full, rate, masked});
        expect_reference({{n}, 50, 1, triangle_form::full, rate, masked, -1e3});
      }
}

TEST_CASE("the ablations of triangular attention equal the reference") {
  for (auto form : {triangle_form::value_ablation, triangle_form::attention_ablation, triangle_form::both_ablations,
                    triangle_form::flat})
    for (index_t n : {1, 2, 3, 4, 5, 6, 9, 12, 13, 17, 33})
      for (double rate : {0.0, 0.3}) expect_reference({{n, 4}, 18, 2, form, rate, n % 3 == 0 ? 0.3 : 0.0});
}

TEST_CASE("causal triangular attention equals the reference, whatever the threads") {
  for (auto form : {triangle_form::full, triangle_form::value_ablation, triangle_form::attention_ablation,
                    triangle_form::both_ablations}) {
    auto const expect = [&](std::vector<index_t> sizes, index_t width, index_t heads, std::vector<index_t> sources,
                            bool disturbed = false) {
      expect_reference({std::move(sizes), width, heads, form, disturbed ? 0.3 : 0.0, disturbed ? 0.3 : 0.0, -3, 1, 0, 3,
                        std::move(sources)});
    };
    for (index_t n = 1; n <= 20; ++n) expect({n, 3}, 18, 2, {n / 3, n % 4}, n % 2 == 0);
    for (index_t n : {21, 32, 34, 47})
      for (index_t s : {index_t{0}, n / 3, n - 1}) expect({n}, 18, 1, {s}, s > 0);
    expect({3, 17, 1, 40, 12, 33, 2}, 10, 2, {0, 5, 1, 11, 20, 1, 2}, true);
    expect({65}, 10, 2, {15});
    expect(std::vector<index_t>(20, 4), 20, 4, std::vector<index_t>(20, 1));
  }
  expect_reference(
      {{70}, 90, 1, triangle_form::full, 0, 0, -3, 1, 0, 3, {9}});  // large enough for the smaller blocks of l
}

TEST_CASE("the causal triangle has kernels of its own on the cpu") {
  for (auto form : {triangle_form::full, triangle_form::both_ablations})
    for (index_t n : {6, 24}) {
      shape s{{n}, 24, 2, form};
      s.sources = {2};
      problem<float> fast(s), slow(s);
      cpu::backend ex(1);
      reference::backend plain;
      fast.run(ex);
      slow.run(plain);
      CHECK(fast.o != slow.o);  // another order of summation changes bits of some of the five hundred numbers
      CHECK(fast.dx != slow.dx);
    }
}

TEST_CASE("strides that the kernels do not read give the reference's result") {
  for (index_t n : {4, 24})
    for (auto form : {triangle_form::full, triangle_form::both_ablations}) {
      shape s{{n}, 18, 2, form};
      s.dx_step = 2;
      expect_reference(s);
      s.dx_step = 1;
      s.statistics_gap = 3;
      expect_reference(s);
    }
}

TEST_CASE("what is not a number in a query comes out wherever it does in the reference") {
  constexpr auto nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (auto form : {triangle_form::full, triangle_form::value_ablation, triangle_form::attention_ablation,
                    triangle_form::both_ablations})
    for (index_t n : {1, 4, 7, 18, 24, 40})
      for (float bad : {nan, std::bit_cast<float>(0xffffffffu), infinity})
        for (index_t l : {index_t{0}, n / 2, n - 1}) {
          shape const s{{n, 3}, 18, 2, form};
          INFO(s << ", " << bad << " at l = " << l);
          problem<float> ours(s);
          problem<double> exact(s);
          auto const at =
              // The query of edge (n / 3, l), in the second head.
              static_cast<std::size_t>((n / 3 * n + l) * ours.columns + 20);
          ours.x[at] = bad;
          exact.x[at] = static_cast<double>(bad);
          cpu::backend fast(1);
          reference::backend plain;
          ours.run(fast);
          exact.run(plain);
          auto const agree = [](std::vector<float> const& a, std::vector<double> const& b) {
            for (std::size_t i = 0; i < b.size(); ++i)
              if (std::isnan(a[i]) != std::isnan(b[i])) return false;
            return true;
          };
          CHECK(agree(ours.o, exact.o));
          CHECK(agree(ours.inverse_sum, exact.inverse_sum));
          auto const row = n / 3 * n;
          CHECK(std::isfinite(ours.output()(row, 17)));
          if (std::isinf(bad)) continue;  // minus infinity is a valid score: its weight is zero
          CHECK(std::isnan(ours.output()(row, 18)));
          CHECK(std::isnan(ours.dx[static_cast<std::size_t>(row * ours.columns + 18)]));
        }
}

TEST_CASE("dropout of everything leaves no output and no gradient") {
  problem<float> ours({{5, 14}, 20, 2, triangle_form::full, 1.0});
  cpu::backend ex(2);
  ours.run(ex);
  for (index_t r = 0; r < ours.dims.rows; ++r)
    for (index_t c = 0; c < ours.d; ++c) REQUIRE(ours.output()(r, c) == 0.0f);
}

}  // namespace cpu_triangle_tests
