// Tests triangular attention on the CUDA backend. Compares every form, size, width, mask and dropout rate with the
// reference in double.
// Tests cuda/triangle/, cuda/device/rounding.cuh and cuda/device/tile_product.cuh.
// Tests cuda/device/half_pair.cuh and cuda/device/tensor_core.cuh.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cuda/triangle.cuh"

#include <cmath>
#include <utility>
#include <vector>

#include "session.hpp"

namespace cuda_on_host_triangle_tests {

using namespace triad;
using namespace triad::test;

constexpr triangle_form all_forms[] = {triangle_form::full, triangle_form::value_ablation,
                                       triangle_form::attention_ablation, triangle_form::both_ablations,
                                       triangle_form::flat};

struct shape {
  std::vector<index_t> sizes;  // number of nodes in each graph
  index_t width, heads;
  triangle_form form = triangle_form::full;
  double masked = 0;  // fraction of triangles that are masked out
  double fill = -9;
  double rate = 0;  // dropout rate
  lying how = lying::rows;
  triad::cuda::arithmetic factors = triad::cuda::arithmetic::float32;  // the precision of q and k
  std::vector<index_t> sources = {};                                   // source nodes of each graph; empty: not causal
  index_t before = 0;  // number of triangles of earlier graphs, which dropout counts
  bool biased = false;
  triangle_bias_axes axes = {};
  double large_query = 0;  // if not 0: channel 0 of each query, where channel 0 of each key is -0.01

  index_t d() const { return width * heads; }
};

std::ostream& operator<<(std::ostream& out, shape const& s) {
  out << "n =";
  for (auto n : s.sizes) out << ' ' << n;
  out << ", k = " << s.width << ", h = " << s.heads << ", form " << static_cast<int>(s.form) << ", masked " << s.masked
      << ", fill " << s.fill << ", dropout " << s.rate << ", lying " << static_cast<int>(s.how)
      << (s.biased ? ", with a bias" : "") << (s.sources.empty() ? "" : ", sources");
  for (auto n : s.sources) out << ' ' << n;
  return out;
}

// The operands of one call. The projections are side by side in one matrix, as one matrix product writes them.
template <class T, class S>
struct use {
  S& s;
  shape const& z;
  ragged all;
  graph_batch g;
  triangle_options t;
  matrix<T> x;

  use(S& session, shape const& z_) : s(session), z(z_), all(z.sizes) {
    auto triangles = all.triangle_begin;
    for (auto& t0 : triangles) t0 += z.before;
    g = {all.dims, s.put(all.size), s.put(all.node_begin), s.put(all.edge_begin), s.put(triangles)};
    t.form = z.form;
    t.heads = z.heads;
    t.dropout = {z.rate, 99, 3, s.put(std::vector<std::uint64_t>{7}).data_handle()};
    if (z.masked > 0) {
      random_stream random(4, 4);
      std::vector<std::uint8_t> masked(static_cast<std::size_t>(all.dims.triangles));
      for (auto& m : masked) m = random.uniform() < z.masked;
      t.mask = {s.put(masked), z.fill};
    }
    if (!z.sources.empty()) t.sources = s.put(z.sources);
    auto projections = values(4, 1, 1.5);
    for (std::size_t e = 0; e < projections.size(); ++e)
      if (static_cast<index_t>(e) % (4 * z.d()) < 2 * z.d())
        if (z.factors != triad::cuda::arithmetic::float32)
          projections[e] = static_cast<T>(triad::cuda::rounding(z.factors)(static_cast<float>(projections[e])));
    for (std::size_t e = 0; z.large_query != 0 && e < projections.size(); e += static_cast<std::size_t>(4 * z.d())) {
      projections[e] = static_cast<T>(z.large_query);
      projections[e + static_cast<std::size_t>(z.d())] = T(-0.01);
    }
    x = s.put(projections, all.dims.rows, 4 * z.d(), z.how);
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
    triangle_statistics<T> const made{s.template spoiled<T>(rows, z.heads, z.how),
                                      s.template spoiled<T>(rows, z.heads)};
    triangle_statistics<T const> const read{made.maximum, made.inverse_sum};
    auto in = split(matrix<T const>(x));
    auto d_in = split(dx);
    if (z.biased) {
      auto const count = z.axes.count(all.dims, z.heads);
      in.bias = {s.put(random_values<T>(count, 3, 1.5)), z.axes};
      d_in.bias = {make_vec(s.template spoiled<T>(1, count).data_handle(), count), z.axes};
    }
    s.with_scratch([&](auto& ex, call const& c) {
      triangle(ex, *c.scratch, t, in, g, made, o);
      triangle_grad(ex, *c.scratch, t, in, g, read, matrix<T const>(o), matrix<T const>(d_o), d_in);
    });
    s.collect(o);
    s.collect(dx);
    if (z.biased)
      s.collect(make_matrix(d_in.bias.values.data_handle(), 1, d_in.bias.values.extent(0), d_in.bias.values.extent(0)));
    if (z.fill < -100) return;  // relative to so large a maximum, every error is small
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

// Runs four cases: no mask; a mask; a mask and dropout; a mask with the fill value of the released programs.
template <class T>
void expect_right_in_all_ways(shape z) {
  expect_right<T>(z);
  z.masked = 0.4;
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
  for (auto form : {triangle_form::full, triangle_form::value_ablation, triangle_form::attention_ablation}) {
    expect_right<TestType>({{5, 3}, 50, 2, form, 0.2, -9, 0.2});
    expect_right<TestType>({{6, 7, 4}, 31, 1, form, 0.2, -9, 0.2});
    expect_right<TestType>({{16, 9}, 16, 1, form, 0.2, -9, 0.2});
  }
}

TEMPLATE_TEST_CASE("a bias on a device is that of the reference", "", float, double) {
  triangle_bias_axes const some[] = {{true, true, true, true, true},
                                     {false, true, false, true, true},
                                     {false, false, true, true, false},
                                     {false, true, false, false, false}};
  for (auto form : all_forms)
    for (auto const& axes : some) {
      if (form == triangle_form::flat) continue;
      shape z{{4, 4}, 5, 2, form, 0.3, -9, 0.2, lying::rows};
      z.biased = true;
      z.axes = axes;
      z.sources = {1, 4};
      expect_right<TestType>(z);
    }
  for (index_t n : {6, 18}) {  // graphs that have kernels for small graphs or for tiles without a bias
    shape z{{n, 3}, 5, 1};
    z.biased = true;
    z.axes.heads = z.axes.j = false;
    expect_right<TestType>(z);
  }
}

TEMPLATE_TEST_CASE("every number of nodes and of columns in which small graphs pass is right on a device", "", float,
                   double) {
  for (index_t nodes = 1; nodes <= triad::cuda::triangles::whole_graph; ++nodes)
    for (auto form : all_forms) {
      CAPTURE(nodes);
      if (form == triangle_form::flat) continue;
      expect_right<TestType>({{nodes}, 50, 1, form, 0.2, -9, 0.2});
      // In the form `full` with 7 to 16 nodes, columns are processed in passes of 3 or 5 groups of four columns, and a
      // remainder. Graphs of 7 nodes need two chunks if there are more than 21 groups.
      if (form == triangle_form::full && nodes > triad::cuda::triangles::warp_graph)
        for (index_t width : {25, 64, 91}) expect_right<TestType>({{nodes}, width, 1, form});
    }
}

TEMPLATE_TEST_CASE("larger graphs on a device are those of the reference", "", float, double) {
  for (auto form : all_forms) {
    if (form == triangle_form::flat) continue;  // the flat form has no kernels for small graphs
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

shape causal(shape z, std::vector<index_t> sources) {
  z.sources = std::move(sources);
  return z;
}

TEMPLATE_TEST_CASE("causal graphs on a device are those of the reference", "", float, double) {
  for (auto form : all_forms) {
    if (form == triangle_form::flat) continue;
    expect_right_in_all_ways<TestType>(causal({{3, 1, 5, 2, 8}, 5, 3, form}, {1, 0, 2, 2, 3}));
    expect_right<TestType>(causal({{6, 16, 9}, 16, 1, form, 0.2, -9, 0.2}, {0, 4, 9}));
    expect_right<TestType>(causal({{17, 3, 34}, 5, 1, form, 0.2, -9, 0.2}, {0, 1, 9}));
    expect_right<TestType>(causal({{33}, 30, 1, form}, {20}));
    if (form != triangle_form::value_ablation)
      expect_right<TestType>(causal({{17, 2}, 131, 1, form, 0.2, -9, 0.2}, {5, 1}));
  }
  if (sizeof(TestType) == 4) expect_right<TestType>(causal({{19}, 70, 1}, {3}));  // tiles of 128 columns
  expect_right<TestType>(causal({{40}, 50, 1}, {10}));
}

// Tiles without a mask have code of their own, and so have those without dropout in backward. A mask that masks
// nothing, and a rate so small that nothing is dropped, take the general code.
TEMPLATE_TEST_CASE("tiles that need no test have the results of tiles that test every element", "", float, double) {
  using enum triangle_form;
  for (auto z : {shape{{24, 17}, 16, 1}, shape{{24}, 50, 1}, shape{{24}, 16, 1, value_ablation},
                 shape{{24}, 16, 1, attention_ablation}, causal({{24}, 50, 1}, {9})}) {
    CAPTURE(z);
    auto const results = [](shape const& of) {
      session<triad::cuda::backend> s(device());
      use<TestType, decltype(s)>(s, of).run();
      return s.results;
    };
    auto const plain = results(z);
    z.masked = 1e-300;
    auto const masked = results(z);
    z.masked = 0;
    z.rate = 1e-9;  // drops 4 of 2^32 elements
    auto const dropped = results(z);
    CHECK(distance(plain, masked) <= tolerance<TestType>);  // a compiler may contract products and sums
    CHECK(distance(plain, dropped) <= tolerance<TestType> + 2e-9);
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

// The results of a backend with this arithmetic, and the results of the reference.
struct compared {
  std::vector<double> exact, found;
  index_t rows, d;

  compared(shape const& z, triad::cuda::arithmetic how) : rows(ragged(z.sizes).dims.rows), d(z.d()) {
    reference::backend plain;
    session<reference::backend> s(plain);
    use<double, decltype(s)>(s, z).run();
    exact = s.results;
    triad::cuda::backend rough(0, how);
    session<triad::cuda::backend> r(rough);
    use<float, decltype(r)>(r, z).run();
    found = r.results;
  }
  /// Returns the distance of one result. Part 0 is the output, and parts 1 to 4 are the gradients of query, key, left
  /// value and right value.
  double of(index_t part) const {
    auto const some = [&](std::vector<double> const& all) {
      std::vector<double> v;
      for (index_t r = 0; r < rows; ++r)
        for (index_t c = 0; c < d; ++c)
          v.push_back(all[static_cast<std::size_t>(part == 0 ? r * d + c : (rows + 4 * r + part - 1) * d + c)]);
      return v;
    };
    return distance(some(exact), some(found));
  }
};

TEST_CASE("scores of rounded factors have the error of their factors", "") {
  using enum triad::cuda::arithmetic;
  for (auto form : {triangle_form::full, triangle_form::value_ablation})
    for (index_t width : {9, 16, 30, 50}) {
      shape z{{18, 5, 33}, width, 1, form, 0.2, -9, 0.2};
      if (width == 16 || width == 50) z.sources = {0, 2, 11};
      index_t const parts = form == triangle_form::full ? 5 : 4;
      for (auto how : {tf32, f16, bf16}) {
        if (how == f16 && form == triangle_form::full) continue;  // the next test has it
        CAPTURE(z, static_cast<int>(how));
        z.factors = float32;
        double const error = how == bf16 ? 8e-3 : 1e-3;  // for two factors
        compared const both(z, how);
        double worst = 0;
        for (index_t part = 0; part < parts; ++part) worst = std::max(worst, both.of(part));
        CHECK(worst <= error);
        CHECK(worst > tolerance<float>);  // shows that factors were rounded

        z.factors = how;  // only the queries and keys of the reference are rounded, too
        compared const same(z, how);
        for (index_t part = 0; part < parts; ++part) CHECK(same.of(part) <= tolerance<float>);
      }
    }
}

TEST_CASE("values in f16 have the error of numbers of 10 bits") {
  auto const causal_one = causal({{18, 5, 33}, 16, 1, triangle_form::full, 0.2, -9, 0.2}, {0, 2, 11});
  for (auto z : {shape{{18, 5, 33}, 9, 2}, causal_one, shape{{17, 40}, 30, 1, triangle_form::full, 0.2, -9, 0.2},
                 shape{{33}, 50, 1}, shape{{130}, 6, 1}}) {
    z.factors = triad::cuda::arithmetic::f16;  // so the scores are exact
    CAPTURE(z);
    compared const both(z, triad::cuda::arithmetic::f16);
    CHECK(both.of(0) <= 2e-3);  // p, v1, v2, p v1 and up to 8 partial sums are rounded by up to 2^-11
    CHECK(both.of(0) > tolerance<float>);
    for (index_t part : {1, 2}) CHECK(both.of(part) <= 2e-3);  // they read the output: ds has do . o
    for (index_t part : {3, 4}) CHECK(both.of(part) <= tolerance<float>);
    z.factors = triad::cuda::arithmetic::float32;
    compared const all(z, triad::cuda::arithmetic::f16);
    for (index_t part = 0; part < 5; ++part) CHECK(all.of(part) <= 3e-3);
    for (index_t part : {3, 4}) CHECK(all.of(part) > tolerance<float>);  // shows that scores were rounded
  }
}

TEST_CASE("a query that f16 cannot hold makes its outputs NaN, and is not hidden by its score of -infinity") {
  shape z{{18}, 16, 1};
  for (double const large : {65000.0, 66000.0}) {
    z.large_query = large;
    compared const both(z, triad::cuda::arithmetic::f16);
    index_t nans = 0;
    for (index_t e = 0; e < both.rows * both.d; ++e) nans += std::isnan(both.found[static_cast<std::size_t>(e)]);
    CHECK(nans == (large > 65520 ? both.rows * both.d : 0));
  }
}

TEST_CASE("triangles in three parts of tf32 are those of float32") {
  using enum triad::cuda::arithmetic;
  for (index_t width : {9, 50}) {
    shape const z{{18, 5, 33}, width, 1, triangle_form::full, 0.2, -9, 0.2};
    compared const both(z, tf32x3), whole(z, float32);
    CHECK(both.found == whole.found);
  }
}

// Returns the output and the gradients. The products for scores are computed on the path `Path`.
template <int Width, bool RightValue, triad::cuda::product_path Path, triad::cuda::arithmetic Factors>
std::vector<double> made_on(shape const& z) {
  using namespace triad::cuda;
  namespace tri = triad::cuda::triangles;
  session<triad::cuda::backend> s(device());
  use<float, decltype(s)> const u(s, z);
  auto const in = u.split(matrix<float const>(u.x));
  auto const o = s.spoiled<float>(u.all.dims.rows, z.d()), dx = s.spoiled<float>(u.all.dims.rows, 4 * z.d());
  auto const d_o = s.put(u.values(1, 2, 1), u.all.dims.rows, z.d());
  auto const maximum = s.spoiled<float>(u.all.dims.rows, z.heads),
             inverse_sum = s.spoiled<float>(u.all.dims.rows, z.heads),
             delta = s.spoiled<float>(u.all.dims.rows, z.heads);
  auto const p = tri::make_problem(u.t, in, u.g, Factors);
  auto const read = [&](matrix<float const> m) { return tri::make_columns(m, p.width); };
  auto const to = u.split(dx);
  auto const heads = u.all.dims.graphs * z.heads, n = u.all.dims.max_nodes;

  using forward = tri::forward_kernel<float, Width, false, RightValue, Path, Factors>;
  index_t const rows = blocks_for(n, forward::tile_i), columns = blocks_for(n, forward::tile_j);
  launch(s.ex, forward(), heads * rows * columns, p, rows, columns, maximum, inverse_sum,
         tri::make_columns(o, p.width));
  launch(s.ex, tri::delta_kernel<float>(), blocks_for(u.all.dims.rows, tri::delta_kernel<float>::threads / warp),
         read(o), read(d_o), u.all.dims.rows, z.heads, p.width, delta);
  using backward = tri::backward_kernel<float, Width, false, RightValue>;
  index_t const blocks = blocks_for(n, backward::tile_l);
  tri::gradients<float> const gradients{tri::make_columns(to.query, p.width), tri::make_columns(to.key, p.width),
                                        tri::make_columns(to.left_value, p.width),
                                        tri::make_columns(to.right_value, p.width)};
  launch(s.ex, backward(), heads * blocks, p, blocks, read(d_o),
         tri::statistics_views<float>{maximum, inverse_sum, delta}, gradients);
  s.collect(o);
  s.collect(dx);
  return s.results;
}

template <int Width, bool RightValue>
void expect_twins(index_t width, std::vector<index_t> sources = {}) {
  using triad::cuda::product_path;
  using enum triad::cuda::arithmetic;
  shape z{{37, 20}, width, 2, RightValue ? triangle_form::full : triangle_form::value_ablation, 0.2, -9, 0.2};
  z.sources = std::move(sources);
  CAPTURE(Width, RightValue, width);
  auto const exact = made_on<Width, RightValue, product_path::exact, float32>(z);
  auto const expect = [&]<triad::cuda::arithmetic Factors>(std::integral_constant<triad::cuda::arithmetic, Factors>,
                                                           double error) {
    auto const plain = made_on<Width, RightValue, product_path::plain, Factors>(z);
    CHECK(distance(plain, made_on<Width, RightValue, product_path::tensor_cores, Factors>(z)) <= error);
    CHECK(distance(plain, exact) > tolerance<float>);
  };
  expect(std::integral_constant<triad::cuda::arithmetic, tf32>(), tolerance<float>);
  expect(std::integral_constant<triad::cuda::arithmetic, bf16>(), tolerance<float>);
  // Another order of the sums of scores may round p, or a sum of values, the other way.
  expect(std::integral_constant<triad::cuda::arithmetic, f16>(), RightValue ? 2e-3 : tolerance<float>);
}

TEST_CASE("products on tensor cores are those of their plain twin", "") {
  expect_twins<16, true>(13);
  expect_twins<32, true>(30);
  expect_twins<32, true>(22, {7, 2});
  expect_twins<64, false>(50);
}

TEST_CASE("what has no scores of rounded factors is exact with any arithmetic", "") {
  for (auto const& z : {shape{{16, 3}, 5, 2}, shape{{18}, 5, 1, triangle_form::attention_ablation}, shape{{17}, 65, 1},
                        shape{{3}, 5, 1, triangle_form::flat}}) {
    CAPTURE(z);
    for (auto how : {triad::cuda::arithmetic::bf16, triad::cuda::arithmetic::f16}) {
      compared const both(z, how);
      CHECK(distance(both.exact, both.found) <= tolerance<float>);
    }
  }
}

TEST_CASE("dropout of triangles from the 2^34th element on is that of the reference", "") {
  for (index_t width : {6, 65})  // two heads: one begins at 2^34, one crosses it
    for (index_t before : {index_t{1} << 33, (index_t{1} << 33) - 40}) {
      shape z{{5, 18}, width, 2};
      z.rate = 0.3;
      z.before = before;
      expect_right<float>(z);
      z.form = triangle_form::flat;
      expect_right<float>(z);
    }
}

TEST_CASE("an empty batch of triangles is nothing", "") { expect_right<float>({{}, 4, 2}); }

#if defined(TRIAD_CUDA_DOUBLE)  // on a real device, the order of threads cannot be set
TEST_CASE("triangles do not depend on the order in which threads take turns", "") {
  cuda_on_host::with_settings const shuffled({true, 5, true, true});
  for (auto form : all_forms)
    expect_right<float>({{5, form == triangle_form::flat ? 2 : 18}, 6, 2, form, 0.2, -9, 0.2});
}
#endif

TEST_CASE("the bits of a graph do not depend on the other graphs", "") {
  auto const results_of = [&](triangle_form form, std::vector<index_t> sizes) {
    session<triad::cuda::backend> s(device());
    shape const z{sizes, 7, 2, form};
    use<float, session<triad::cuda::backend>> u(s, z);
    auto const o = s.spoiled<float>(u.all.dims.rows, z.d()), dx = s.spoiled<float>(u.all.dims.rows, 4 * z.d());
    auto const d_o = s.put(u.values(1, 2, 1), u.all.dims.rows, z.d());
    triangle_statistics<float> const made{s.spoiled<float>(u.all.dims.rows, 2), s.spoiled<float>(u.all.dims.rows, 2)};
    s.with_scratch([&](auto& ex, call const& c) {
      triangle(ex, *c.scratch, u.t, u.split(matrix<float const>(u.x)), u.g, made, o);
      triangle_grad(ex, *c.scratch, u.t, u.split(matrix<float const>(u.x)), u.g, {made.maximum, made.inverse_sum},
                    matrix<float const>(o), matrix<float const>(d_o), u.split(dx));
    });
    auto const edges = sizes[0] * sizes[0];  // edges of the first graph
    auto results = s.get(o.data_handle(), edges * z.d());
    auto const gradients = s.get(dx.data_handle(), edges * 4 * z.d());
    results.insert(results.end(), gradients.begin(), gradients.end());
    return std::vector<double>(results.begin(), results.end());
  };
  for (auto form : all_forms)
    CHECK(distance(results_of(form, {5}), results_of(form, {5, form == triangle_form::flat ? 3 : 20, 9})) == 0);
  CHECK(distance(results_of(triangle_form::full, {7}), results_of(triangle_form::full, {7, 3, 18})) == 0);
}

}  // namespace cuda_on_host_triangle_tests
