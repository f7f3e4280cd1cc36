// The layer of docs/layers.md: written from the pieces of the library, and checked by finite differences.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <vector>

#include "triad/cpu/cpu.hpp"
#include "triad/layers/linear.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/train/gradient_check.hpp"

namespace mine {

using namespace triad;

// y = a * b,  a = relu(x u' + c),  b = x v' + e          * element by element; x (rows, in), u, v (out, in)
// da = dy * b where a > 0, else 0;  db = dy * a;  dx = da u + db v
template <class T>
struct gated_linear {
  using input = tensor<T const, dyn, dyn>;  // (rows, in)
  using output = tensor<T, dyn, dyn>;       // (rows, out)

  linear<T> gate, map;

  gated_linear(index_t in, index_t out) : gate{extents<dyn, dyn>(in, out)}, map{extents<dyn, dyn>(in, out)} {}

  template <class S>
  struct fields {
    fields_of<linear<T>, S> gate, map;
    template <class F>
    constexpr void each(F&& f) {
      f("gate", gate);
      f("map", map);
    }
  };
  struct saved {
    output a, b;  // (rows, out) each
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(gate, place), plan<S>(map, place)};
  }
  saved plan_saved(arena& place, row_dims dims, keep = keep::everything) const {
    return {place.make<output>(dims.rows, gate.out()), place.make<output>(dims.rows, gate.out())};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input x, saved const& s, output y) const {
    gate.forward(ex, c, w.gate, x, {}, s.a, {.relu = true});
    map.forward(ex, c, w.map, x, {}, s.b);
    transform(ex, times{}, s.a, s.b, y);
  }

  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input x, saved const& s, const_view<output> dy, output dx,
                fields<T> gradient) const {
    auto const frame = c.scratch->open();
    auto const d = c.scratch->template make<output>(x.extent(0), gate.out());
    transform(ex, times{}, dy, s.b, d);
    transform(ex, relu_grad{}, s.a, d, d);
    gate.backward(ex, c, w.gate, x, {}, d, dx, gradient.gate);
    transform(ex, times{}, dy, s.a, d);
    map.backward(ex, c, w.map, x, {}, d, dx, gradient.map, {.residual = as_matrix(read_only(dx))});
  }
};

}  // namespace mine

int main() {
  std::vector<double> values(7 * 3);
  triad::random_stream random(1, 2);
  for (double& v : values) v = random.uniform(-1, 1);

  triad::cpu::backend ex;
  mine::gated_linear<double> const layer(3, 5);
  triad::tensor<double const, triad::dyn, triad::dyn> const x(values.data(), 7, 3);
  auto const report = triad::gradient_check(ex, layer, triad::row_dims(7), x, {7, 5});
  std::printf("%s\n", report.text().c_str());

  double largest = -1;
  triad::on_host(ex, [&] {
    for (triad::index_t r = 0; r < x.extent(0); ++r) largest = std::max(largest, x(r, 0));
  });
  return report && largest >= x(6, 0) ? 0 : 1;
}
