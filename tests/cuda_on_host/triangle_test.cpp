// Triangular attention on the CUDA backend: every form, size, width, mask and dropout against the reference in double.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cuda/triangle.cuh"

#include <cmath>
#include <vector>

#include "session.hpp"
#include "tests/cuda_on_host/settings.hpp"

namespace {

using namespace triad;
using namespace triad::test;

constexpr triangle_form all_forms[] = {triangle_form::full, triangle_form::value_ablation, triangle_form::attention_ablation,
                                       triangle_form::both_ablations, triangle_form::flat};

struct shape {
  std::vector<index_t> sizes;  // nodes of each graph
  index_t width, heads;
  triangle_form form = triangle_form::full;
  double shut = 0;  // share of masked triangles
  double fill = -9;
  double rate = 0;  // of dropout
  lying how = lying::rows;

  index_t d() const { return width * heads; }
};

std::ostream& operator<<(std::ostream& out, shape const& s) {
  out << "n =";
  for (auto n : s.sizes) out << ' ' << n;
  return out << ", k = " << s.width << ", h = " << s.heads << ", form " << static_cast<int>(s.form) << ", masked " << s.shut << ", fill " << s.fill
             << ", dropout " << s.rate << ", lying " << static_cast<int>(s.how);
}

// The operands of one use, projections side by side in one matrix as one product makes them.
template <class T, class S>
struct use {
  S& s;
  shape const& z;
  ragged all;
  graph_batch g;
  triangle_settings t;
  matrix<T> x;

  use(S& session, shape const& z_) : s(session), z(z_), all(z.sizes) {
    g = {all.dims, s.put(all.size), s.put(all.node), s.put(all.edge), s.put(all.triangle)};
    t.form = z.form;
    t.heads = z.heads;
    t.dropout = {z.rate, 99, 3, s.put(std::vector<std::uint64_t>{7}).data_handle()};
    if (z.shut > 0) {
      random_stream random(4, 4);
      std::vector<std::uint8_t> masked(static_cast<std::size_t>(all.dims.triangles));
      for (auto& m : masked) m = random.uniform() < z.shut;
      t.mask = {s.put(masked), z.fill};
    }
    x = s.put(values(4, 1, 1.5), all.dims.rows, 4 * z.d(), z.how);
  }
  std::vector<T> values(index_t parts, std::uint64_t stream, double range) const {
    return random_values<T>(all.dims.rows * parts * z.d(), stream, range);
  }
  template <class E>
  triangle_projections<E> split(matrix<E> m) const {
    auto const part = [&](index_t p) { return column_block(m, p * z.d(), z.d()); };
    return {part(0), part(1), part(2), uses_right_value(z.form) ? part(3) : make_matrix<E>(nullptr, 0, 0, 0)};
  }

  void run() {
    index_t const rows = all.dims.rows;
    auto const o = s.template spoiled<T>(rows, z.d(), z.how), dx = s.template spoiled<T>(rows, 4 * z.d(), z.how);
    auto const d_o = s.put(values(1, 2, 1), rows, z.d(), z.how);
    triangle_statistics<T> const made{s.template spoiled<T>(rows, z.heads, z.how), s.template spoiled<T>(rows, z.heads)};
    triangle_statistics<T const> const read{made.maximum, made.inverse_sum};
    auto const in = split(matrix<T const>(x));
    s.with_scratch([&](auto& ex, call const& c) {
      triangle(ex, *c.scratch, t, in, g, made, o);
      triangle_grad(ex, *c.scratch, t, in, g, read, matrix<T const>(o), matrix<T const>(d_o), split(dx));
    });
    s.collect(o);
    s.collect(dx);
    if (z.fill < -100) return;  // maxima of that size would hide every error
    s.collect(made.maximum);
    s.collect(made.inverse_sum);
    for (std::size_t graph = 0; graph < z.sizes.size(); ++graph) {
      auto const n = z.sizes[graph];
      auto const w = s.template spoiled<T>(z.heads, z.form == triangle_form::flat ? 2 * n : n);
      triangle_weights(s.ex, t, in, g, static_cast<index_t>(graph), n / 2, n - 1, w);
      s.collect(w);
    }
  }
};

template <class T>
void expect_right(shape const& z) {
  CAPTURE(z);
  expect_reference<T>([&](auto& s, auto zero) {
    use<decltype(zero), std::remove_reference_t<decltype(s)>> u(s, z);
    u.run();
  });
}

// Plain; masked; masked with dropout; masked as the released programs do.
template <class T>
void expect_right_in_all_ways(shape z) {
  expect_right<T>(z);
  z.shut = 0.4;
  expect_right<T>(z);
  z.rate = 0.3;
  expect_right<T>(z);
  z.fill = -1e9;
  expect_right<T>(z);
}

TEMPLATE_TEST_CASE("graphs of a few nodes on a device are those of the reference", "", float, double) {
  for (auto form : all_forms) {
    if (form == triangle_form::flat)
      expect_right_in_all_ways<TestType>({{3, 1, 5}, 5, 3, form});
    else
      expect_right_in_all_ways<TestType>({{3, 1, 5, 2, 8}, 5, 3, form});
    expect_right<TestType>({{1, 2}, 1, 1, form});
  }
  for (auto form : {triangle_form::full, triangle_form::attention_ablation}) {
    expect_right<TestType>({{5, 3}, 50, 2, form, 0.2, -9, 0.2});
    expect_right<TestType>({{16, 9}, 16, 1, form, 0.2, -9, 0.2});
  }
}

TEMPLATE_TEST_CASE("larger graphs on a device are those of the reference", "", float, double) {
  for (auto form : all_forms) {
    if (form == triangle_form::flat) continue;  // has no kernels of its own for them
    expect_right_in_all_ways<TestType>({{17, 3, 33}, 5, 1, form});
    expect_right<TestType>({{33}, 16, 3, form, 0.1, -9, 0.1});
    expect_right<TestType>({{18}, 1, 1, form});
    expect_right<TestType>({{1, 21}, 30, 1, form, 0.2, -9, 0.2});
    expect_right<TestType>({{19}, 50, 1, form});
  }
  expect_right<TestType>({{40}, 32, 1});
}

TEMPLATE_TEST_CASE("wide heads on a device are those of the reference", "", float, double) {
  for (auto form : all_forms) {
    if (form == triangle_form::flat) continue;
    if (sizeof(TestType) == 4) expect_right<TestType>({{17}, 70, 1, form, 0.2});  // tiles of 128 columns
    if (form == triangle_form::full) expect_right<TestType>({{17, 2}, 131, 1, form, 0.2, -9, 0.2});
    if (form == triangle_form::attention_ablation) expect_right<TestType>({{17}, 129, 1, form});
  }
}

TEMPLATE_TEST_CASE("the flat form on a device is that of the reference", "", float, double) {
  expect_right<TestType>({{13}, 3, 1, triangle_form::flat, 0.2, -9, 0.2});
}

TEMPLATE_TEST_CASE("operands of triangles lie anywhere", "", float, double) {
  for (auto how : all_ways)
    for (index_t width : {4, 6}) {
      expect_right<TestType>({{5, 18}, width, 2, triangle_form::full, 0, -9, 0, how});
      expect_right<TestType>({{17}, width, 1, triangle_form::attention_ablation, 0, -9, 0, how});
      expect_right<TestType>({{3}, width, 2, triangle_form::flat, 0, -9, 0, how});
    }
}

TEST_CASE("an empty batch of triangles is nothing", "") { expect_right<float>({{}, 4, 2}); }

TEST_CASE("triangles do not depend on the order in which threads take turns", "") {
  cuda_on_host::with_settings const shuffled({true, 5, true, true});
  for (auto form : all_forms) expect_right<float>({{5, form == triangle_form::flat ? 2 : 18}, 6, 2, form, 0.2, -9, 0.2});
}

TEST_CASE("the bits of a graph do not depend on the graphs beside it", "") {
  for (auto form : all_forms) {
    auto const results_of = [&](std::vector<index_t> sizes) {
      session<triad::cuda::backend> s(device());
      shape const z{sizes, 7, 2, form};
      use<float, session<triad::cuda::backend>> u(s, z);
      auto const o = s.spoiled<float>(u.all.dims.rows, z.d()), dx = s.spoiled<float>(u.all.dims.rows, 4 * z.d());
      auto const d_o = s.put(u.values(1, 2, 1), u.all.dims.rows, z.d());
      triangle_statistics<float> const made{s.spoiled<float>(u.all.dims.rows, 2), s.spoiled<float>(u.all.dims.rows, 2)};
      s.with_scratch([&](auto& ex, call const& c) {
        triangle(ex, *c.scratch, u.t, u.split(matrix<float const>(u.x)), u.g, made, o);
        triangle_grad(ex, *c.scratch, u.t, u.split(matrix<float const>(u.x)), u.g, {made.maximum, made.inverse_sum}, matrix<float const>(o),
                      matrix<float const>(d_o), u.split(dx));
      });
      auto results = s.get(o.data_handle(), 25 * z.d());  // of the first graph
      auto const gradients = s.get(dx.data_handle(), 25 * 4 * z.d());
      results.insert(results.end(), gradients.begin(), gradients.end());
      return std::vector<double>(results.begin(), results.end());
    };
    CHECK(distance(results_of({5}), results_of({5, form == triangle_form::flat ? 3 : 20, 9})) == 0);
  }
}

}  // namespace
