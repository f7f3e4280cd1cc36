// Triangular attention with its projections as one operator, and its gradient.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "torch_pool.hpp"
#include "torch_triangle.hpp"

namespace triad_torch {

inline triad_products const* host_products = nullptr;

/// The arguments of both operators: x (rows, d); five weights (d, d), of which the right value is empty if the form has
/// none; biases (p + 1, d), or none; the arguments of the triangle; heads; and whether the result is bfloat16.
struct attention_arguments {
  static constexpr std::uint64_t tensors = 7 + triangle_arguments::tensors;
  tensor x;
  std::vector<tensor> weights;
  tensor bias;
  triangle_arguments how;
  std::int64_t heads = 0;
  bool rounds = false;

  explicit attention_arguments(arguments& all)
      : x(all.next_tensor()), weights(five(all)), bias(all.next_tensor()), how(all) {
    heads = all.next_int();
    rounds = all.next_int() != 0;
    expect(host_products != nullptr,
           "attention: the package has no library of matrix products here; call triad_torch.products('pytorch')");
    expect(x.device_type() == aoti_torch_device_type_cpu(), "attention: x on a device, expected in the host's memory");
    expect(x.axes() == 2 && x.size(0) > 0,
           [&] { return "attention: x is " + shape_of(x) + ", expected (rows, width) with rows"; });
    expect(heads > 0 && x.size(1) % heads == 0, [&] {
      return "attention: " + std::to_string(heads) + " heads, expected a divisor of the width of x, " + shape_of(x);
    });
    for (std::size_t k = 0; k < weights.size(); ++k) {
      auto& w = weights[k];
      bool const wanted = k != 3 || has_right(how.form);
      expect_alike(w, weights[0], "attention: a weight");
      expect(w.axes() == 2 && w.size(0) == (wanted ? width() : 0) && w.size(1) == width(), [&] {
        return "attention: weight " + std::to_string(k) + " is " + shape_of(w) + ", expected the width of x, " +
               shape_of(x);
      });
      w.put_together(2);
    }
    expect(lie_together(weights[0], x), "attention: weights on another device, expected on that of x");
    if (bias.count() > 0) {
      expect_alike(bias, weights[0], "attention: the bias");
      expect(bias.axes() == 2 && bias.size(0) == projections() + 1 && bias.size(1) == width(), [&] {
        return "attention: the bias is " + shape_of(bias) + ", expected (" + std::to_string(projections() + 1) + ", " +
               std::to_string(width()) + ")";
      });
    }
    x.put_together(2);
    bias.put_together(bias.axes());
  }

  std::int64_t rows() const { return x.size(0); }
  std::int64_t width() const { return x.size(1); }
  std::int64_t projections() const { return has_right(how.form) ? 4 : 3; }
  std::int64_t saved() const { return triad_attention_saved(rows(), projections(), heads, width() / heads); }
  std::int32_t y_type() const { return rounds ? aoti_torch_dtype_bfloat16() : aoti_torch_dtype_float32(); }

  triad_attention_call call(here const& at) const {
    triad_attention_call c{};
    c.triangle = how.call(at, x, triad_float32, heads, width() / heads);
    c.x_type = half_type_of(x);
    c.weight_type = half_type_of(weights[0]);
    c.y_type = rounds ? triad_bfloat16 : triad_float32;
    c.x = x.data();
    for (std::size_t k = 0; k < weights.size(); ++k) c.weights[k] = weights[k].data();
    c.bias = bias.count() > 0 ? bias.data() : nullptr;
    return c;
  }

 private:
  static std::vector<tensor> five(arguments& all) {
    std::vector<tensor> weights;
    for (int k = 0; k < 5; ++k) weights.push_back(all.next_tensor());
    return weights;
  }
  static std::int64_t half_type_of(tensor const& t) {
    bool const is_half = t.type() == aoti_torch_dtype_bfloat16();
    expect(is_half || t.type() == aoti_torch_dtype_float32(),
           "attention: another element type, expected float32 or bfloat16");
    return is_half ? triad_bfloat16 : triad_float32;
  }
};

inline void attention(StableIValue* stack, std::uint64_t inputs, std::uint64_t) {
  arguments all(stack, inputs, attention_arguments::tensors);
  attention_arguments const a(all);
  here const at(a.x);
  auto c = a.call(at);
  auto y = a.x.like({a.rows(), a.width()}, a.y_type()), saved = pooled_floats(a.saved(), a.x);
  c.y = y.data();
  c.saved = saved.data();
  run(host_products->attention, c);
  all.results(y, saved);
}

/// The last argument says whether the gradient of x is computed.  Returns the gradients of x, of the p + 1 weights
/// (p + 1, d, d), and of the bias.  A gradient that is not computed is empty.
inline void attention_grad(StableIValue* stack, std::uint64_t inputs, std::uint64_t) {
  arguments all(stack, inputs, 2 + attention_arguments::tensors);
  auto dy = all.next_tensor(), saved = all.next_tensor();
  attention_arguments const a(all);
  bool const with_x = all.next_int() != 0;
  here const at(a.x);
  auto c = a.call(at);
  expect(dy.type() == a.y_type() && lie_together(dy, a.x) && dy.axes() == 2 && dy.size(0) == a.rows() &&
             dy.size(1) == a.width(),
         [&] { return "attention_grad: dy is " + shape_of(dy) + ", expected the shape and type of the result"; });
  expect(saved.type() == aoti_torch_dtype_float32() && lie_together(saved, a.x) && saved.axes() == 1 &&
             saved.size(0) == a.saved(),
         [&] { return "attention_grad: saved is " + shape_of(saved) + ", expected what attention saved"; });
  dy.put_together(2);
  saved.put_together(1);
  c.d_y = dy.data();
  c.saved = saved.data();
  auto dx = a.x.like({with_x ? a.rows() : 0, a.width()}),
       dw = a.weights[0].like({a.projections() + 1, a.width(), a.width()}),
       db = a.bias.like({a.bias.count() > 0 ? a.projections() + 1 : 0, a.width()});
  c.d_x = with_x ? dx.data() : nullptr;
  c.d_weights = dw.data();
  c.d_bias = db.data();
  run(host_products->attention_grad, c);
  all.results(dx, dw, db);
}

}  // namespace triad_torch
