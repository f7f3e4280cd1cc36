// Triangular attention and its gradient as operators, with four separate projections or one stacked tensor.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "torch_kernels.hpp"
#include "triad/ops/triangle.hpp"

namespace triad_torch {

/// The arguments of both operators except the projections, and the checks of these arguments.
struct triangle_arguments {
  static constexpr std::uint64_t tensors = 4;
  tensor sizes, masked, sources, seed;
  std::int64_t nodes = 0, form = 0;
  double fill = 0, dropout = 0;

  explicit triangle_arguments(arguments& all)
      : sizes(all.next_tensor()), masked(all.next_tensor()), sources(all.next_tensor()), seed(all.next_tensor()) {
    nodes = all.next_int();
    form = all.next_int();
    fill = all.next_float();
    dropout = all.next_float();
    for (auto* t : {&sizes, &masked, &sources, &seed}) t->put_together(t->axes());
    expect(sizes.type() == aoti_torch_dtype_int64() && sources.type() == aoti_torch_dtype_int64() &&
               seed.type() == aoti_torch_dtype_int64() && masked.type() == aoti_torch_dtype_bool(),
           "triangle: another element type, expected int64 for sizes, sources and seed, and bool for masked");
    expect(sizes.count() == 0 || sizes.device_type() == aoti_torch_device_type_cpu(),
           "triangle: sizes on a device, expected in the host's memory");
    expect(nodes >= 0 && nodes < (std::int64_t{1} << 20),
           [&] { return "triangle: nodes is " + std::to_string(nodes) + ", expected 0 to 2^20 - 1"; });
    expect(dropout == 0 || seed.count() == 1,
           [&] { return "triangle: " + std::to_string(seed.count()) + " seeds with dropout, expected 1"; });
  }

  /// Returns a call without arrays of projections.  `query` has a row for each edge.
  triad_triangle_call call(here const& at, tensor const& query) const {
    return call(at, query, type_of(query), query.size(query.axes() - 2), query.size(query.axes() - 1));
  }
  triad_triangle_call call(here const& at, tensor const& query, std::int64_t type, std::int64_t heads,
                           std::int64_t width) const {
    triad_triangle_call c{};
    c.place = at.place;
    c.type = type;
    c.form = form;
    c.heads = heads;
    c.width = width;
    c.rows = query.size(0);
    if (nodes > 0) {
      expect(sizes.count() == 0, "triangle: nodes and sizes, expected one of both");
      c.graphs = c.rows / (nodes * nodes);
      c.nodes = nodes;
    } else {
      c.graphs = sizes.count();
      c.sizes = static_cast<std::int64_t const*>(sizes.data());
    }
    c.masks = masked.count();
    if (c.masks > 0) {
      expect(lie_together(masked, query), "triangle: a mask on another device, expected on that of the query");
      c.masked = static_cast<std::uint8_t const*>(masked.data());
    }
    c.fill = fill;
    if (sources.count() > 0) {
      expect(sources.count() == c.graphs, [&] {
        return "triangle: " + std::to_string(sources.count()) + " numbers of sources, expected " +
               std::to_string(c.graphs) + ", one for each graph";
      });
      expect(lie_together(sources, query), "triangle: sources on another device, expected on that of the query");
      c.sources = static_cast<std::int64_t const*>(sources.data());
    }
    c.dropout = dropout;
    if (dropout > 0) {
      expect(lie_together(seed, query), "triangle: a seed on another device, expected on that of the query");
      c.seed = static_cast<std::uint64_t const*>(seed.data());
    }
    return c;
  }
};

inline bool has_right(std::int64_t form) { return triad::uses_right_value(static_cast<triad::triangle_form>(form)); }

/// Returns the rows of x (rows, h, k), or the rows of one projection in x (rows, p, h, k), which begins at `offset` in
/// each row of x.  If there is only one row, its stride has no meaning and is set to its width.
inline triad_rows rows_of(tensor const& x, std::int64_t offset = 0) {
  std::int64_t const bytes = type_of(x) == triad_float32 ? 4 : 8;
  auto* const data = static_cast<char*>(x.data());
  std::int64_t width = 1;
  for (std::int64_t a = 1; a < x.axes(); ++a) width *= x.size(a);
  return {data ? data + offset * bytes : nullptr, x.size(0) > 1 ? x.stride(0) : width};
}

/// A bias of the scores: (b, h, n, n, n) with a size of 1 along each axis that it lacks.  For graphs of different
/// sizes, (h sum of n^3) or, if all heads share it, (sum of n^3).  No numbers: no bias.
struct bias_operand {
  static constexpr std::uint64_t tensors = 1;
  tensor all;

  explicit bias_operand(arguments& a) : all(a.next_tensor()) { all.put_together(all.axes()); }
  bool given() const { return all.count() > 0; }
  void put(triad_triangle_call& c, tensor const& query) const {
    if (!given()) return;
    expect_alike(all, query, "triangle: the bias");
    expect(c.rows > 0, "triangle: a bias and no edges, expected edges; leave out the bias");
    c.bias = all.data();
    c.biases = all.count();
    if (c.sizes == nullptr) {
      std::int64_t const wanted[] = {c.graphs, c.heads, c.nodes, c.nodes, c.nodes};
      bool fits = all.axes() == 5;
      for (std::int64_t a = 0; fits && a < 5; ++a) {
        fits = all.size(a) == wanted[a] || all.size(a) == 1;
        if (all.size(a) == wanted[a]) c.bias_axes |= std::int64_t{1} << a;
      }
      expect(fits, [&] {
        auto const n = std::to_string(c.nodes);
        return "triangle: the bias is " + shape_of(all) + ", expected (" + std::to_string(c.graphs) + ", " +
               std::to_string(c.heads) + ", " + n + ", " + n + ", " + n + ") with 1 for each axis that it lacks";
      });
      return;
    }
    std::int64_t triangles = 0;
    for (std::int64_t g = 0; g < c.graphs; ++g) triangles += c.sizes[g] * c.sizes[g] * c.sizes[g];
    c.bias_axes = triad_axis_graphs | triad_axis_i | triad_axis_l | triad_axis_j;
    if (all.count() != triangles) c.bias_axes |= triad_axis_heads;  // the kernels compare the count
  }
  /// Returns the gradient, or a tensor without numbers if it is not wanted.
  tensor gradient(triad_triangle_call& c, bool wanted) const {
    std::vector<std::int64_t> sizes{0};
    if (wanted && given()) {
      sizes.clear();
      for (std::int64_t a = 0; a < all.axes(); ++a) sizes.push_back(all.size(a));
    }
    auto made = all.like(sizes);
    if (wanted && given()) c.d_bias = made.data();
    return made;
  }
};

/// The arrays for the four projections of a call, or for their gradients.
struct projection_rows {
  triad_rows &query, &key, &left, &right;
};
inline projection_rows operands_of(triad_triangle_call& c) { return {c.query, c.key, c.left, c.right}; }
inline projection_rows gradients_of(triad_triangle_call& c) { return {c.d_query, c.d_key, c.d_left, c.d_right}; }

/// Query, key and values as four tensors (rows, h, k).
struct four {
  static constexpr std::uint64_t tensors = 4;
  std::vector<tensor> parts;

  explicit four(arguments& all) {
    for (std::uint64_t p = 0; p < tensors; ++p) parts.push_back(all.next_tensor());
    for (auto& x : parts) {
      expect(x.axes() == 3,
             [&] { return "triangle: an operand is " + shape_of(x) + ", expected (rows, heads, width)"; });
      expect_alike(x, query(), "triangle: a key or value");
      x.put_together(2);
    }
  }
  tensor const& query() const { return parts[0]; }
  void put(triad_triangle_call& c) const {
    for (std::size_t p = 1; p < (has_right(c.form) ? 4 : 3); ++p)
      for (std::int64_t a = 0; a < 3; ++a)
        expect(parts[p].size(a) == query().size(a),
               [&] { return "triangle: a key or value is " + shape_of(parts[p]) + ", expected " + shape_of(query()); });
    place(parts, c, operands_of(c));
  }
  /// Returns four tensors.  The last tensor is empty if the form has no right value.
  std::vector<tensor> gradients(triad_triangle_call& c) const {
    std::vector<tensor> made;
    for (std::uint64_t p = 0; p < tensors; ++p)
      made.push_back(query().like({p < 3 || has_right(c.form) ? c.rows : 0, c.heads, c.width}));
    place(made, c, gradients_of(c));
    return made;
  }
  static void place(std::vector<tensor> const& x, triad_triangle_call const& c, projection_rows const& at) {
    at.query = rows_of(x[0]);
    at.key = rows_of(x[1]);
    at.left = rows_of(x[2]);
    if (has_right(c.form)) at.right = rows_of(x[3]);
  }
};

/// Query, key and values as one tensor (rows, p, h, k).
struct stacked {
  static constexpr std::uint64_t tensors = 1;
  tensor all;

  explicit stacked(arguments& a) : all(a.next_tensor()) {
    expect(all.axes() == 4, [&] {
      return "triangle_stacked: projections are " + shape_of(all) + ", expected (rows, 4 or 3, heads, width)";
    });
    all.put_together(3);
  }
  tensor const& query() const { return all; }
  void put(triad_triangle_call& c) const {
    expect(all.size(1) == (has_right(c.form) ? 4 : 3), [&] {
      return "triangle_stacked: " + std::to_string(all.size(1)) + " projections, expected " +
             (has_right(c.form) ? "4" : "3");
    });
    place(all, c, operands_of(c));
  }
  std::vector<tensor> gradients(triad_triangle_call& c) const {
    std::vector<tensor> made;
    made.push_back(all.like({c.rows, all.size(1), c.heads, c.width}));
    place(made[0], c, gradients_of(c));
    return made;
  }
  static void place(tensor const& x, triad_triangle_call const& c, projection_rows const& at) {
    std::int64_t const d = c.heads * c.width;
    at.query = rows_of(x);
    at.key = rows_of(x, d);
    at.left = rows_of(x, 2 * d);
    if (has_right(c.form)) at.right = rows_of(x, 3 * d);
  }
};

template <class Operands>
inline void triangle(StableIValue* stack, std::uint64_t inputs, std::uint64_t) {
  arguments all(stack, inputs, Operands::tensors + bias_operand::tensors + triangle_arguments::tensors);
  Operands const x(all);
  bias_operand const bias(all);
  triangle_arguments const how(all);
  here const at(x.query());
  auto c = how.call(at, x.query());
  x.put(c);
  bias.put(c, x.query());
  auto o = x.query().like({c.rows, c.heads, c.width}), maximum = x.query().like({c.rows, c.heads}),
       inverse_sum = x.query().like({c.rows, c.heads});
  c.output = rows_of(o);
  c.maximum = maximum.data();
  c.inverse_sum = inverse_sum.data();
  run(at.kernels->triangle, c);
  all.results(o, maximum, inverse_sum);
}

struct saved {
  static constexpr std::uint64_t tensors = 4;
  tensor d_output, output, maximum, inverse_sum;

  explicit saved(arguments& all)
      : d_output(all.next_tensor()),
        output(all.next_tensor()),
        maximum(all.next_tensor()),
        inverse_sum(all.next_tensor()) {
    for (auto* x : {&d_output, &output}) {
      expect(x->axes() == 3, [&] {
        return "triangle_grad: the output or its gradient is " + shape_of(*x) + ", expected (rows, heads, width)";
      });
      x->put_together(2);
    }
    for (auto* x : {&maximum, &inverse_sum}) {
      expect(x->axes() == 2,
             [&] { return "triangle_grad: maximum or inverse_sum is " + shape_of(*x) + ", expected (rows, heads)"; });
      x->put_together(2);
    }
  }
  void put(triad_triangle_call& c, tensor const& query) const {
    for (auto const* x : {&d_output, &output}) {
      expect_alike(*x, query, "triangle_grad: the output or its gradient");
      expect(x->size(0) == c.rows && x->size(1) == c.heads && x->size(2) == c.width, [&] {
        return "triangle_grad: the output or its gradient is " + shape_of(*x) + ", expected the shape of the query";
      });
    }
    for (auto const* x : {&maximum, &inverse_sum}) {
      expect_alike(*x, query, "triangle_grad: a statistic");
      expect(x->size(0) == c.rows && x->size(1) == c.heads,
             [&] { return "triangle_grad: maximum or inverse_sum is " + shape_of(*x) + ", expected (rows, heads)"; });
    }
    c.output = rows_of(output);
    c.d_output = rows_of(d_output);
    c.maximum = maximum.data();
    c.inverse_sum = inverse_sum.data();
  }
};

/// The last argument says whether the gradient of the bias is computed.
template <class Operands>
inline void triangle_grad(StableIValue* stack, std::uint64_t inputs, std::uint64_t) {
  arguments all(stack, inputs,
                saved::tensors + Operands::tensors + bias_operand::tensors + triangle_arguments::tensors);
  saved const s(all);
  Operands const x(all);
  bias_operand const bias(all);
  triangle_arguments const how(all);
  bool const with_bias = all.next_int() != 0;
  here const at(x.query());
  auto c = how.call(at, x.query());
  x.put(c);
  bias.put(c, x.query());
  s.put(c, x.query());
  auto gradients = x.gradients(c);
  gradients.push_back(bias.gradient(c, with_bias));
  run(at.kernels->triangle_grad, c);
  all.results(gradients);
}

}  // namespace triad_torch
