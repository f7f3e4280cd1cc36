// Compares the kernels of examples/python, for the host and for CUDA, with triad's reference. The kernels are called
// through a table.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../examples/python/src/kernels_table.h"
#include "tests/catch.hpp"
#include "tests/distance.hpp"
#include "triad/reference/reference.hpp"
#include "triad/tree/algebra.hpp"
#include "triad/tree/gather.hpp"

namespace triad::test {

/// Arrays in the memory that the kernels use. `Memory` must have put(host, bytes), which copies to this memory and
/// returns the address, and get(host, there, bytes), which copies back.
template <class Memory>
class torch_arrays {
 public:
  explicit torch_arrays(Memory& m) : memory_(m) {}
  template <class T>
  T* put(std::vector<T> const& values) {
    return static_cast<T*>(memory_.put(values.data(), values.size() * sizeof(T)));
  }
  template <class T>
  T* room(index_t count) {
    return put(std::vector<T>(static_cast<std::size_t>(count) + 16, T(77)));
  }
  template <class T>
  std::vector<T> get(void const* there, index_t count) {
    std::vector<T> values(static_cast<std::size_t>(count));
    memory_.get(values.data(), there, values.size() * sizeof(T));
    return values;
  }

 private:
  Memory& memory_;
};

template <class T>
std::vector<T> torch_numbers(index_t count, std::uint64_t seed) {
  random_stream stream(seed, 5);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (auto& v : values) v = static_cast<T>(stream.uniform(-1, 1));
  return values;
}

template <class Call>
std::string torch_call(int (*kernel)(Call const*, char*, std::int64_t), Call const& call) {
  char message[512] = "";
  return kernel(&call, message, sizeof message) == 0 ? "" : message;
}

template <class T>
void expect_near(std::vector<T> const& found, std::vector<double> const& expected) {
  double const tolerance = sizeof(T) == 4 ? 2e-5 : 1e-11;
  REQUIRE(found.size() == expected.size());
  double furthest = 0, largest = 1e-3;
  for (std::size_t i = 0; i < found.size(); ++i) {
    furthest = triad::test::worse(furthest, std::abs(static_cast<double>(found[i]) - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  CHECK(furthest <= tolerance * largest);
}

/// The parameters of one case of triangular attention.
struct torch_triangle_case {
  std::vector<index_t> sizes;
  triangle_form form = triangle_form::full;
  index_t heads = 2, width = 5;
  bool masked = false, causal = false;
  double dropout = 0;
  bool stacked = false;         // the four projections of an edge are side by side, as a module stores them
  std::int64_t bias_axes = -1;  // the axes of a bias, as bits; -1: no bias
};

/// Checks that the value and the gradients from the table's kernels equal those of the reference in double.
template <class T, class Memory>
void check_torch_triangle(triad_kernels const& kernels, triad_place const& place, Memory& memory,
                          torch_triangle_case const& z) {
  torch_arrays<Memory> arrays(memory);
  index_t const d = z.heads * z.width, b = std::ssize(z.sizes);
  std::vector<index_t> node, edge, triangle, sources;
  graph_dims dims;
  dims.graphs = b;
  for (auto const n : z.sizes) {
    node.push_back(dims.nodes), edge.push_back(dims.rows), triangle.push_back(dims.triangles);
    sources.push_back((n + 1) / 2);
    dims.nodes += n, dims.rows += n * n, dims.triangles += n * n * n;
    dims.max_nodes = std::max(dims.max_nodes, n);
  }
  index_t const rows = dims.rows, stride = z.stacked ? 4 * d : d;
  bool const right = uses_right_value(z.form);
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(dims.triangles));
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = i % 5 == 1;
  std::vector<std::uint64_t> const seed{0x1234567890abcdef};
  auto const x = torch_numbers<float>(rows * 4 * d, 1), cotangent = torch_numbers<float>(rows * d, 2);
  auto const number = [&](index_t p, index_t r, index_t c) { return x[static_cast<std::size_t>((r * 4 + p) * d + c)]; };

  // Computes the results of the reference.
  auto const part = [&](index_t p) {
    std::vector<double> values;
    for (index_t r = 0; r < rows; ++r)
      for (index_t c = 0; c < d; ++c) values.push_back(number(p, r, c));
    return values;
  };
  std::vector<double> const in[4] = {part(0), part(1), part(2), part(3)};
  std::vector<double> const d_o(cotangent.begin(), cotangent.end());
  auto const size = [](index_t n) { return static_cast<std::size_t>(n); };
  std::vector<double> o(size(rows * d)), maximum(size(rows * z.heads)), inverse(size(rows * z.heads)), dx[4];
  for (auto& v : dx) v.resize(size(rows * d));
  auto const matrix_of = [&](auto& v, index_t columns) { return make_matrix(v.data(), rows, columns, columns); };
  graph_batch const graphs{dims, make_vec(z.sizes.data(), b), make_vec(node.data(), b), make_vec(edge.data(), b),
                           make_vec(triangle.data(), b)};
  triangle_options how{z.form, z.heads};
  if (z.masked) how.mask = {make_vec(static_cast<std::uint8_t const*>(mask.data()), dims.triangles), -1e9};
  if (z.causal) how.sources = make_vec(static_cast<index_t const*>(sources.data()), b);
  how.dropout = {z.dropout, 0x7472696164, 0, seed.data()};
  auto const none = make_matrix<double const>(nullptr, 0, 0, 0);
  auto const has = [&](std::int64_t axis) { return (z.bias_axes & axis) != 0; };
  triangle_bias_axes const axes{has(triad_axis_graphs), has(triad_axis_heads), has(triad_axis_i), has(triad_axis_l),
                                has(triad_axis_j)};
  index_t const biases = z.bias_axes < 0 ? 0 : axes.count(dims, z.heads);
  auto const bias = torch_numbers<float>(biases, 3);
  std::vector<double> const wide_bias(bias.begin(), bias.end());
  std::vector<double> d_bias(wide_bias.size());
  triangle_projections<double const> const operands{matrix_of(in[0], d),
                                                    matrix_of(in[1], d),
                                                    matrix_of(in[2], d),
                                                    right ? matrix<double const>(matrix_of(in[3], d)) : none,
                                                    {make_vec(wide_bias.data(), biases), axes}};
  triangle_projections<double> const gradients{matrix_of(dx[0], d),
                                               matrix_of(dx[1], d),
                                               matrix_of(dx[2], d),
                                               right ? matrix_of(dx[3], d) : make_matrix<double>(nullptr, 0, 0, 0),
                                               {make_vec(d_bias.data(), biases), axes}};
  reference::backend ex;
  std::vector<double> scratch_memory(1 << 20);
  arena scratch(scratch_memory.data(), scratch_memory.size() * sizeof(double));
  triad::triangle(ex, scratch, how, operands, graphs,
                  triangle_statistics<double>{matrix_of(maximum, z.heads), matrix_of(inverse, z.heads)},
                  matrix_of(o, d));
  triangle_grad(ex, scratch, how, operands, graphs,
                triangle_statistics<double const>{matrix_of(maximum, z.heads), matrix_of(inverse, z.heads)},
                matrix<double const>(matrix_of(o, d)), matrix<double const>(matrix_of(d_o, d)), gradients);

  // Computes the results of the table's kernels.
  triad_triangle_call c{};
  c.place = place;
  c.type = sizeof(T) == 4 ? triad_float32 : triad_float64;
  c.form = static_cast<std::int64_t>(z.form);
  c.graphs = b, c.sizes = z.sizes.data(), c.rows = rows, c.heads = z.heads, c.width = z.width;
  if (z.masked) c.masked = arrays.put(mask), c.masks = dims.triangles;
  c.fill = -1e9;
  if (z.causal) c.sources = arrays.put(sources);
  c.dropout = z.dropout, c.seed = arrays.put(seed);
  if (z.bias_axes >= 0) {
    c.bias = arrays.put(std::vector<T>(bias.begin(), bias.end()));
    c.biases = biases, c.bias_axes = z.bias_axes;
  }
  triad_rows* const places[] = {&c.query, &c.key, &c.left, &c.right};
  std::vector<T> together;
  for (auto const v : x) together.push_back(static_cast<T>(v));
  together.resize(together.size() + 16);
  T* const all = arrays.put(together);
  for (index_t p = 0; p < (right ? 4 : 3); ++p) {
    std::vector<T> alone(in[p].begin(), in[p].end());
    alone.resize(alone.size() + 16);
    *places[p] = {z.stacked ? all + p * d : arrays.put(alone), stride};
  }
  T *const there = arrays.template room<T>(rows * d), *const m = arrays.template room<T>(rows * z.heads),
           *const s = arrays.template room<T>(rows * z.heads);
  c.output = {there, d}, c.maximum = m, c.inverse_sum = s;
  REQUIRE(torch_call(kernels.triangle, c) == "");
  expect_near(arrays.template get<T>(there, rows * d), o);
  std::vector<T> d_there(cotangent.begin(), cotangent.end());
  d_there.resize(d_there.size() + 16);
  c.d_output = {arrays.put(d_there), d};
  triad_rows* const d_places[] = {&c.d_query, &c.d_key, &c.d_left, &c.d_right};
  T* const d_all = arrays.template room<T>(rows * 4 * d);
  for (index_t p = 0; p < (right ? 4 : 3); ++p)
    *d_places[p] = {z.stacked ? d_all + p * d : arrays.template room<T>(rows * d), stride};
  if (z.bias_axes >= 0) c.d_bias = arrays.template room<T>(biases);
  REQUIRE(torch_call(kernels.triangle_grad, c) == "");
  if (z.bias_axes >= 0) {
    expect_near(arrays.template get<T>(c.d_bias, biases), d_bias);
    auto other = c;
    ++other.biases;
    CHECK_THAT(torch_call(kernels.triangle, other),
               contains("the bias has " + std::to_string(biases + 1) + " numbers"));
  }
  auto const got = arrays.template get<T>(d_all, rows * 4 * d);
  for (index_t p = 0; p < (right ? 4 : 3); ++p) {
    CAPTURE(p);
    if (!z.stacked) {
      expect_near(arrays.template get<T>(d_places[p]->data, rows * d), dx[p]);
      continue;
    }
    std::vector<T> column;
    for (index_t r = 0; r < rows; ++r)
      for (index_t k = 0; k < d; ++k) column.push_back(got[size((r * 4 + p) * d + k)]);
    expect_near(column, dx[p]);
  }
}

/// Checks the value and the gradients of fuse-attention from the table's kernels.
template <class T, class Memory>
void check_torch_fuse(triad_kernels const& kernels, triad_place const& place, Memory& memory, double dropout) {
  torch_arrays<Memory> arrays(memory);
  index_t const l = 3, rows = 7, h = 2, d = 6;
  auto const u = torch_numbers<float>(rows * h * d, 1), states = torch_numbers<float>(l * rows * d, 2),
             d_mixed = torch_numbers<float>(rows * h * d, 3), d_kept = torch_numbers<float>(rows * h, 4);
  std::vector<std::uint64_t> const seed{42};
  auto const wide = [](std::vector<float> const& v) { return std::vector<double>(v.begin(), v.end()); };
  auto const u2 = wide(u), states2 = wide(states), d_mixed2 = wide(d_mixed), d_kept2 = wide(d_kept);
  std::vector<double> weights(static_cast<std::size_t>(rows * h * l)), mixed(u.size()), kept(d_kept.size()),
      du(u.size()), d_states(states.size());
  using read = tensor<double const, dyn, dyn>;
  using write = tensor<double, dyn, dyn>;
  reference::backend ex;
  fuse_attention_options const how{h, {dropout, 0x7472696164, 0, seed.data()}};
  layer_states<double const> const x(states2.data(), l, rows, d);
  fuse_attention(ex, how, l, read(u2.data(), rows, h * d), x, write(weights.data(), rows, h * l),
                 write(mixed.data(), rows, h * d), write(kept.data(), rows, h));
  fuse_attention_grad(ex, how, l, read(u2.data(), rows, h * d), x, read(weights.data(), rows, h * l),
                      read(d_mixed2.data(), rows, h * d), read(d_kept2.data(), rows, h), write(du.data(), rows, h * d),
                      layer_states<double>(d_states.data(), l, rows, d));
  auto const put = [&](std::vector<float> const& v) {
    std::vector<T> values(v.begin(), v.end());
    values.resize(values.size() + 16);
    return arrays.put(values);
  };
  triad_fuse_call c{};
  c.place = place;
  c.type = sizeof(T) == 4 ? triad_float32 : triad_float64;
  c.layers = l, c.rows = rows, c.heads = h, c.width = d, c.dropout = dropout, c.seed = arrays.put(seed);
  c.u = put(u), c.states = put(states), c.d_mixed = put(d_mixed), c.d_kept = put(d_kept);
  c.weights = arrays.template room<T>(rows * h * l), c.mixed = arrays.template room<T>(rows * h * d);
  c.kept = arrays.template room<T>(rows * h), c.d_u = arrays.template room<T>(rows * h * d);
  c.d_states = arrays.template room<T>(l * rows * d);
  REQUIRE(torch_call(kernels.fuse, c) == "");
  REQUIRE(torch_call(kernels.fuse_grad, c) == "");
  expect_near(arrays.template get<T>(c.mixed, rows * h * d), mixed);
  expect_near(arrays.template get<T>(c.kept, rows * h), kept);
  expect_near(arrays.template get<T>(c.d_u, rows * h * d), du);
  expect_near(arrays.template get<T>(c.d_states, l * rows * d), d_states);
}

/// Checks the table's kernels that take and graft children, for two branching factors.
template <class T, class Memory>
void check_torch_trees(triad_kernels const& kernels, triad_place const& place, Memory& memory) {
  torch_arrays<Memory> arrays(memory);
  for (index_t branching : {2, 3}) {
    tree_positions<> const positions(branching, 4);
    index_t const filler = 3, trees = 5, numbers = positions.count() * filler;
    gather_algebra<T> const algebra(positions, filler);
    auto values = torch_numbers<T>(trees * numbers, 9);
    std::vector<T> expected(values.size());
    T* const from = arrays.put(values);
    T* const to = arrays.template room<T>(trees * numbers);
    for (index_t which = 0; which < branching; ++which)
      for (bool const grafts : {false, true}) {
        for (index_t t = 0; t < trees; ++t) {
          typename gather_algebra<T>::const_tree const x(values.data() + t * numbers, positions.count(), filler);
          auto const y = algebra.over(expected.data() + t * numbers);
          if (grafts)
            graft(algebra, which, x, y);
          else
            child(algebra, which, x, y);
        }
        triad_tree_call c{};
        c.place = place;
        c.type = sizeof(T) == 4 ? triad_float32 : triad_float64;
        c.trees = trees, c.branching = branching, c.depth = 4, c.filler = filler, c.child = which;
        c.from = from, c.to = to;
        REQUIRE(torch_call(grafts ? kernels.tree_graft : kernels.tree_child, c) == "");
        CHECK(arrays.template get<T>(to, trees * numbers) == expected);
      }
    triad_tree_call c{};
    c.place = place;
    c.branching = branching, c.depth = 4, c.filler = filler, c.child = branching;
    CHECK(torch_call(kernels.tree_child, c) ==
          "trees: child " + std::to_string(branching) + " is asked for, and a node has " + std::to_string(branching));
  }
}

/// Runs all checks.
template <class Memory>
void check_torch_kernels(triad_kernels const& kernels, triad_place const& place, Memory& memory) {
  using enum triangle_form;
  torch_triangle_case const cases[] = {
      {.sizes = {1, 5, 0, 3}},
      {.sizes = {14, 2}, .heads = 3, .width = 4, .masked = true, .stacked = true},
      {.sizes = {6, 6}, .form = value_ablation, .masked = true},
      {.sizes = {5, 15}, .form = attention_ablation},
      {.sizes = {4}, .form = both_ablations},
      {.sizes = {4, 3}, .form = flat},
      {.sizes = {7, 16}, .causal = true},
      {.sizes = {13, 4}, .dropout = 0.4, .stacked = true},
      {.sizes = {3, 0, 5}, .masked = true, .bias_axes = 31},
      {.sizes = {5, 5}, .causal = true, .dropout = 0.3, .bias_axes = triad_axis_heads | triad_axis_l | triad_axis_j},
      {.sizes = {4, 2}, .form = attention_ablation, .stacked = true, .bias_axes = triad_axis_graphs | triad_axis_l},
  };
  for (auto const& z : cases) {
    CAPTURE(static_cast<int>(z.form), z.sizes, z.masked, z.causal, z.dropout, z.stacked, z.bias_axes);
    check_torch_triangle<float>(kernels, place, memory, z);
    check_torch_triangle<double>(kernels, place, memory, z);
  }
  for (double const rate : {0.0, 0.3}) {
    check_torch_fuse<float>(kernels, place, memory, rate);
    check_torch_fuse<double>(kernels, place, memory, rate);
  }
  check_torch_trees<float>(kernels, place, memory);
  check_torch_trees<double>(kernels, place, memory);
  triad_triangle_call wrong{};
  wrong.place = place;
  wrong.type = 7;
  CHECK(torch_call(kernels.triangle, wrong).find("float32 or float64") != std::string::npos);
  wrong.type = triad_float32, wrong.graphs = 1, wrong.nodes = 2, wrong.rows = 4, wrong.heads = 1, wrong.width = 1,
  wrong.dropout = 1;
  CHECK(torch_call(kernels.triangle, wrong).find("the rate is 1.0") != std::string::npos);
  wrong.dropout = 0, wrong.rows = 3;
  CHECK(torch_call(kernels.triangle, wrong).find("more edges than there are rows, 3") != std::string::npos);
  wrong.rows = 5;
  CHECK(torch_call(kernels.triangle, wrong).find("have 4 edges, and there are 5 rows") != std::string::npos);
  std::uint8_t const mask[7]{};
  wrong.rows = 4, wrong.masked = mask, wrong.masks = 7;
  CHECK(torch_call(kernels.triangle, wrong).find("the mask has 7 bytes") != std::string::npos);
}

}  // namespace triad::test
