// Tests that the bits of a function's value depend only on the number, not on its position in a row or on the other
// numbers of the row.
// SPDX-License-Identifier: Apache-2.0
//
// Kernels process whole registers. They compute the rest of a row in another way: with a mask, from a copy, or one
// element at a time. All ways must compute the same function.
#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/ops/every_operation.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/reference/reference.hpp"

namespace ops_places_tests {

using namespace triad;
using test::random_values;
using test::with_scratch;
using test::operations::in;
using test::operations::numbers;
using test::operations::out;

/// The longest rows fill two of the widest registers, or two warps of a device. The lengths have every kind of
/// remainder.
constexpr index_t sizes[] = {2, 3, 4, 5, 7, 8, 9, 11, 15, 16, 17, 19, 31, 32, 33, 35, 47, 67};

/// Compares bits, so NaNs and the sign of 0 are compared, too.
template <class T>
bool same(T a, T b) {
  using word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return __builtin_bit_cast(word, a) == __builtin_bit_cast(word, b);
}

/// Calls f(name, operands, make) for each function y = make(operands) that computes n elements independently.
template <class Ex, class T, class F>
void each_elementwise(F&& f) {
  auto const unary = [&](char const* name, auto function) {
    f(name, 1, [=](Ex& ex, numbers<T> const& x, index_t n) {
      std::vector<T> y(static_cast<std::size_t>(n));
      transform(ex, function, in(x[0], n), out(y, n));
      return y;
    });
  };
  auto const binary = [&](char const* name, auto function) {
    f(name, 2, [=](Ex& ex, numbers<T> const& x, index_t n) {
      std::vector<T> y(static_cast<std::size_t>(n));
      transform(ex, function, in(x[0], n), in(x[1], n), out(y, n));
      return y;
    });
  };
  unary("scale_by", scale_by<double>{0.3});
  unary("relu", relu{});
  unary("leaky_relu", leaky_relu<double>{0.2});
  unary("elu", elu{});
  unary("gelu", gelu{});
  unary("sigmoid", sigmoid{});
  binary("plus", plus{});
  binary("times", times{});
  binary("relu_grad", relu_grad{});
  binary("leaky_relu_grad", leaky_relu_grad<double>{0.2});
  binary("elu_grad", elu_grad{});
  binary("gelu_grad", gelu_grad{});
  binary("sigmoid_grad", sigmoid_grad{});
  for (bool const decoupled : {false, true})
    for (std::size_t result = 0; result < 3; ++result)
      f(decoupled ? "adam, decoupled" : "adam", 4, [=](Ex& ex, numbers<T> const& x, index_t n) {
        numbers<T> y{x[0], x[2], x[3]};
        for (auto& v : y[2]) v = v * v;
        double const rate = 0.1;
        std::uint64_t const step = 3;
        adam(ex, {.weight_decay = 0.1, .decoupled = decoupled}, make_vec(&rate, 1), &step, out(y[0], n), in(x[1], n),
             out(y[1], n), out(y[2], n));
        return y[result];
      });
  f("clip", 1, [](Ex& ex, numbers<T> const& x, index_t n) {
    auto y = x[0];
    T const norm = T(3.7);
    clip(ex, 1, make_vec(&norm, 1), out(y, n));
    return y;
  });
  f("the bias, relu, gate and residual of a product", 4, [](Ex& ex, numbers<T> const& x, index_t n) {
    std::vector<T> y(static_cast<std::size_t>(n)), nothing(static_cast<std::size_t>(n));
    T const one = 1;
    epilogue<T> e;
    e.bias = in(x[0], n);
    e.relu = true;
    e.gate = in(x[1], 1, n);
    e.gate_scale = T(1.3);
    e.residual = in(x[2], 1, n);
    matmul(ex, make_matrix(&one, 1, 1, 1), in(nothing, 1, n), out(y, 1, n), e);
    return y;
  });
}

TEMPLATE_TEST_CASE("an element has the same bits alone and at every place among others", "",
                   TRIAD_TEST_BACKENDS_BY_PRECISION) {
  using T = typename TestType::scalar;
  using Ex = typename TestType::backend;
  Ex ex;
  each_elementwise<Ex, T>([&](char const* name, int operands, auto const& make) {
    numbers<T> one, all;
    for (int k = 0; k < operands; ++k) {
      one.push_back(random_values<T>(24, static_cast<std::uint64_t>(k), 2));
      all.push_back(random_values<T>(100, static_cast<std::uint64_t>(k + 50), 2));
    }
    for (std::size_t tried = 0; tried < (test::is_device<Ex> ? 2 : 24); ++tried) {
      numbers<T> alone;
      for (auto const& v : one) alone.push_back({v[tried]});
      T const expected = make(ex, alone, 1)[0];
      for (index_t const n : sizes) {
        auto among = all;  // the number is at several positions
        for (std::size_t k = 0; k < among.size(); ++k)
          for (index_t at = static_cast<index_t>(tried) % 3; at < n; at += 3)
            among[k][static_cast<std::size_t>(at)] = one[k][tried];
        auto const found = make(ex, among, n);
        for (index_t at = static_cast<index_t>(tried) % 3; at < n; at += 3) {
          CAPTURE(name, tried, n, at, expected, found[static_cast<std::size_t>(at)]);
          REQUIRE(same(found[static_cast<std::size_t>(at)], expected));
        }
      }
    }
  });
}

/// Functions of a row. Several positions of the row have the same number. Each function returns the results at these
/// positions.
template <class Ex, class T, class F>
void each_row_operation(F&& f) {
  f("softmax", [](Ex& ex, std::vector<T> const& x, index_t n) {
    std::vector<T> y(x.size());
    softmax(ex, in(x, 1, n), out(y, 1, n));
    return y;
  });
  f("softmax_grad", [](Ex& ex, std::vector<T> const& x, index_t n) {
    std::vector<T> y(x.size());
    softmax_grad(ex, in(x, 1, n), in(x, 1, n), out(y, 1, n));
    return y;
  });
  for (double const smoothing : {0.0, 0.1})
    f("cross_entropy", [=](Ex& ex, std::vector<T> const& x, index_t n) {
      std::vector<T> y(x.size());
      T loss = 0;
      index_t const target = 1;  // no test checks position 1
      cross_entropy(ex, in(x, 1, n), make_vec(&target, 1), make_vec(&loss, 1), out(y, 1, n), {smoothing});
      return y;
    });
  f("layer_norm", [](Ex& ex, std::vector<T> const& x, index_t n) {
    std::vector<T> y(x.size()), gain(x.size(), T(1.3)), bias(x.size(), T(0.2)), statistics(2);
    layer_norm(ex, in(x, 1, n), in(gain, n), in(bias, n), 1e-5, out(y, 1, n), make_vec(&statistics[0], 1),
               make_vec(&statistics[1], 1));
    return y;
  });
  for (std::size_t result = 0; result < 3; ++result)
    f("layer_norm_grad", [=](Ex& ex, std::vector<T> const& x, index_t n) {
      numbers<T> y(3, std::vector<T>(x.size()));
      std::vector<T> const gain(x.size(), T(1.3));
      T const mean = T(0.1), rstd = T(0.7);
      with_scratch(ex, {}, [&](auto& on, call const& c) {
        layer_norm_grad(on, *c.scratch, in(x, 1, n), in(gain, n), make_vec(&mean, 1), make_vec(&rstd, 1), in(x, 1, n),
                        in(x, 1, n), out(y[0], 1, n), out(y[1], n), out(y[2], n));
      });
      return y[result];
    });
  for (bool const divergence : {false, true})
    f("tree_loss", [=](Ex& ex, std::vector<T> const& x, index_t n) {
      std::vector<T> y(x.size());
      T loss = 0;
      index_t const target = 1;
      with_scratch(ex, {}, [&](auto& on, call const& c) {
        tree_loss(on, *c.scratch, in(x, 1, n), make_vec(&target, 1), make_vec(&loss, 1), out(y, 1, n),
                  {.distance = divergence ? tree_distance::divergence : tree_distance::squared});
      });
      return y;
    });
  for (bool const over_trees : {true, false})
    f("tree_choice", [=](Ex& ex, std::vector<T> const& x, index_t n) {
      // There are n choices of operations, and x has a logit for each choice.
      index_t const arguments = 2 * (n - 1);
      std::vector<T> chosen(x.size()), some(static_cast<std::size_t>(arguments)), p(some), w(some), root(1),
          weighted(1);
      tree_choice_options<T> t;
      t.over = over_trees ? choice_over::trees : choice_over::arguments;
      auto const four = [&](std::vector<T>& v) { return tree_weights_view<T>(v.data(), 1, 1, 1, arguments); };
      tree_choice<Ex, T>(ex, t, 0, {in(x, 1, n), in(some, 1, arguments), in(root, 1, 1)}, {out(chosen, 1, n), four(p)},
                         four(w), out(weighted, 1, 1));
      return chosen;
    });
  for (auto const form : {probability_form::logits, probability_form::log_misses})
    for (bool const answer : {false, true})
      f("binary_cross_entropy", [=](Ex& ex, std::vector<T> const& x, index_t n) {
        std::vector<T> from(x), y(x.size());
        if (form == probability_form::log_misses)
          for (T& v : from) v -= T(3);
        std::vector<std::uint8_t> const target(x.size(), answer);
        T loss = 0;
        T const scale = T(0.3);
        with_scratch(ex, {}, [&](auto& on, call const& c) {
          binary_cross_entropy(on, *c.scratch, form, in(from, 1, n),
                               make_matrix<std::uint8_t const>(target.data(), 1, n, n), make_vec(&scale, 1),
                               make_vec(&loss, 1), out(y, 1, n));
        });
        return y;
      });
  for (bool const backward : {false, true})
    f("noisy_or", [=](Ex& ex, std::vector<T> const& x, index_t n) {
      test::ragged_grids const grid({{1, 2}});  // one token; the columns of p are the positions of the row
      std::vector<T> p(x), s(static_cast<std::size_t>(4 * n)), dp(x.size()), role{T(0.3), T(0.9), T(0.5), T(0.2)},
          drole(role);
      for (T& v : p) v = (v + T(2.6)) / T(5.2);
      std::vector<T> const ds(s.size(), T(0.7));
      noisy_or<Ex, T>(ex, grid.batch(), in(p, 1, n), in(role, 2, 2), out(s, 4, n));
      noisy_or_grad<Ex, T>(ex, grid.batch(), in(p, 1, n), in(role, 2, 2), in(ds, 4, n), out(dp, 1, n),
                           out(drole, 2, 2));
      return backward ? dp : s;
    });
  for (bool const backward : {false, true})
    f("implied_labels", [=](Ex& ex, std::vector<T> const& x, index_t n) {
      test::ragged_grids const grid({{1, 1}});  // one node and two relations; the labels are the positions of the row
      std::vector<T> from(x), p(2 * x.size()), of_x(x.size()), of_y(x), result(x), dp(p), edge(2);
      for (std::size_t i = 0; i < x.size(); ++i) from[i] = x[i] - T(2.6);
      for (index_t i = 0; i < 2 * n; ++i)
        p[static_cast<std::size_t>(i)] = (x[static_cast<std::size_t>(i % n)] + T(2.6)) / T(5.2);
      std::vector<T> const s{T(-0.7), T(-3)}, d(x.size(), T(0.7));
      implied_labels<Ex, T>(ex, grid.batch(), in(s, 1, 2), in(from, 1, n), in(p, 2, n), out(edge, 1, 2),
                            out(of_x, 1, n), out(of_y, 1, n), out(result, 1, n));
      implied_labels_grad<Ex, T>(ex, grid.batch(), in(p, 2, n), in(edge, 1, 2), in(of_x, 1, n), in(of_y, 1, n),
                                 in(d, 1, n), out(from, 1, n), out(dp, 2, n));
      return backward ? dp : result;
    });
  f("arc_cross_entropy", [](Ex& ex, std::vector<T> const& x, index_t n) {
    test::ragged const graph({n});
    std::vector<T> score(static_cast<std::size_t>(n * n)), dscore(score);
    std::copy_n(x.begin(), n, score.begin());
    std::vector<index_t> parent(static_cast<std::size_t>(n), -1);
    parent[0] = 1;
    T loss = 0;
    with_scratch(ex, {}, [&](auto& on, call const& c) {
      arc_cross_entropy(on, *c.scratch, {}, graph.batch(), in(score, n * n), make_vec<index_t const>(parent.data(), n),
                        make_vec(&loss, 1), out(dscore, n * n));
    });
    return dscore;
  });
}

/// Attention of one query, whose scores are x. Each key has one column that is not zero. The values are unit vectors,
/// so the output has the weights. Each sum has only one term that is not zero, so only the softmax rounds.
template <class Ex, class T, class F>
void each_attention(F&& f) {
  auto const unit = [](index_t n) {
    std::vector<T> v(static_cast<std::size_t>(n * n + 64));
    for (index_t i = 0; i < n; ++i) v[static_cast<std::size_t>(i * n + i)] = T(1);
    return v;
  };
  auto const first_columns = [](std::vector<T> const& x, index_t n) {  // (n, n): x in column 0
    std::vector<T> v(static_cast<std::size_t>(n * n + 64));
    for (index_t i = 0; i < n; ++i) v[static_cast<std::size_t>(i * n)] = x[static_cast<std::size_t>(i)];
    return v;
  };
  auto const ones = [](index_t rows, index_t n) {  // 1 in column 0
    std::vector<T> v(static_cast<std::size_t>(rows * n + 64));
    for (index_t i = 0; i < rows; ++i) v[static_cast<std::size_t>(i * n)] = T(1);
    return v;
  };
  f("attention", [=](Ex& ex, std::vector<T> const& x, index_t n) {
    std::vector<T> c(static_cast<std::size_t>(n)), lse(1);
    index_t const one = 1, nothing = 0;
    sequence_batch const query{1, 1, 1, make_vec(&one, 1), make_vec(&nothing, 1)},
        keys{1, n, n, make_vec(&n, 1), make_vec(&nothing, 1)};
    auto const q = ones(1, n), k = first_columns(x, n), v = unit(n);
    with_scratch(ex, {}, [&](auto& on, call const& at) {
      using B = std::remove_reference_t<decltype(on)>;
      attention<B, T>(on, *at.scratch, {}, {query, keys}, {in(q, 1, n), in(k, n, n), in(v, n, n)}, out(lse, 1),
                      out(c, 1, n));
    });
    return c;
  });
  f("relation_attention", [=](Ex& ex, std::vector<T> const& x, index_t n) {
    test::ragged const graph({n});
    std::vector<T> weights(static_cast<std::size_t>(n * n)), c(weights);
    auto const q = ones(n, n), k = first_columns(x, n), v = unit(n);
    std::vector<T> const none(static_cast<std::size_t>(n * n * n + 64));
    relation_attention<Ex, T>(ex, {}, {in(q, n, n), in(k, n, n), in(v, n, n), in(none, n * n, n), in(none, n * n, n)},
                              graph.batch(), out(weights, n * n), out(c, n, n));
    return c;
  });
  f("graph_attention", [=](Ex& ex, std::vector<T> const& x, index_t n) {
    test::ragged const graph({n});
    std::vector<T> weights(static_cast<std::size_t>(n * n)), c(weights);
    std::vector<index_t> const label(static_cast<std::size_t>(n * n), 1);
    auto const v = unit(n);
    std::vector<T> const none(static_cast<std::size_t>(n * n * n + 64));
    graph_attention<Ex, T>(ex, {}, {in(none, n, 1), in(x, n, 1), in(none, n * n, 1), in(v, n, n), in(none, n * n, n)},
                           graph.batch(), make_vec<index_t const>(label.data(), n * n), out(weights, n * n),
                           out(c, n, n));
    return c;
  });
  f("fuse_attention", [=](Ex& ex, std::vector<T> const& x, index_t n) {
    std::vector<T> weights(static_cast<std::size_t>(n)), mixed(weights), kept(1);
    auto const u = ones(1, n), states = first_columns(x, n);
    fuse_attention<Ex, T>(
        ex, {}, n, test::operations::table_in<T>(u.data(), 1, n), layer_states<T const>(states.data(), n, 1, n),
        test::operations::table_out<T>(weights.data(), 1, n), test::operations::table_out<T>(mixed.data(), 1, n),
        test::operations::table_out<T>(kept.data(), 1, 1));
    return weights;
  });
  for (auto const form : {triangle_form::full, triangle_form::value_ablation, triangle_form::flat})
    f(form == triangle_form::flat ? "triangle, flat" : "triangle", [=](Ex& ex, std::vector<T> const& x, index_t n) {
      // Edge (l, j) has the key x(l), and edge (i, l) has the value e_l. So o(0, 0) has the weights.
      test::ragged const graph({n});
      index_t const rows = n * n;
      std::vector<T> const q = ones(rows, n);
      std::vector<T> k(static_cast<std::size_t>(rows * n + 64)), left(k), right(k.size(), T(1)), o(k), maximum(k),
          sum(k);
      for (index_t l = 0; l < n; ++l)
        for (index_t j = 0; j < n; ++j) {
          // In the flat form, each term belongs to an edge in row 0 or in column 0.
          bool const flat = form == triangle_form::flat;
          k[static_cast<std::size_t>((l * n + j) * n)] = x[static_cast<std::size_t>(flat ? (l == 0 ? j : l) : l)];
          if (!flat || l == 0) left[static_cast<std::size_t>((l * n + j) * n + j)] = T(1);
        }
      with_scratch(ex, {}, [&](auto& on, call const& at) {
        using B = std::remove_reference_t<decltype(on)>;
        triangle<B, T>(on, *at.scratch, {.form = form},
                       {in(q, rows, n), in(k, rows, n), in(left, rows, n),
                        uses_right_value(form) ? in(right, rows, n) : no_matrix<T const>()},
                       graph.batch(), {out(maximum, rows, 1), out(sum, rows, 1)}, out(o, rows, n));
      });
      return o;
    });
}

TEMPLATE_TEST_CASE("equal numbers of a row have equal results, whatever their places", "",
                   TRIAD_TEST_BACKENDS_BY_PRECISION) {
  using T = typename TestType::scalar;
  using Ex = typename TestType::backend;
  Ex ex;
  auto const look = [&](char const* name, auto const& make) {
    for (index_t const n : sizes) {
      if (n > 35 && std::string(name).starts_with("triangle")) continue;
      for (int tried = 0; tried < (test::is_device<Ex> ? 2 : 5); ++tried) {
        // The numbers at positions 0, 2, 4, ... are equal. The largest number is at position 1.
        auto x = random_values<T>(n + 64, static_cast<std::uint64_t>(100 * n + tried), 2);
        for (index_t at = 2; at < n; at += 2) x[static_cast<std::size_t>(at)] = x[0];
        if (tried % 2 == 0) x[static_cast<std::size_t>(n - 1)] = x[0];
        x[1] = n == 2 && tried % 2 == 0 ? x[0] : T(2.5);
        auto const y = make(ex, x, n);
        // <empty> has no score. Edge (0, 0) is in row 0 and in column 0, so it counts as two terms.
        index_t const first = name == std::string("tree_loss") || name == std::string("triangle, flat") ? 2 : 0;
        for (index_t at = first + 1; at < n; ++at) {
          if (at == 1 || !same(x[static_cast<std::size_t>(at)], x[static_cast<std::size_t>(first)])) continue;
          CAPTURE(name, n, at, y[static_cast<std::size_t>(first)], y[static_cast<std::size_t>(at)]);
          REQUIRE(same(y[static_cast<std::size_t>(at)], y[static_cast<std::size_t>(first)]));
        }
      }
    }
  };
  each_row_operation<Ex, T>(look);
  each_attention<Ex, T>(look);
}

TEMPLATE_TEST_CASE("a row has the same bits alone and among others", "", TRIAD_TEST_BACKENDS_BY_PRECISION) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  constexpr index_t rows = 5;
  for (index_t const n : sizes) {
    auto const x = random_values<T>(rows * n + 64, static_cast<std::uint64_t>(n), 2);
    numbers<T> y(3, std::vector<T>(static_cast<std::size_t>(rows * n)));
    std::vector<T> const gain(static_cast<std::size_t>(n), T(1.3));
    auto const run = [&](std::vector<T> const& from, index_t count, index_t wanted, numbers<T>& to) {
      std::vector<T> mean(rows), rstd(rows);
      T loss = 0;
      std::vector<index_t> target(rows, -1);
      target[static_cast<std::size_t>(wanted)] = 1;
      softmax(ex, in(from, count, n), out(to[0], count, n));
      layer_norm(ex, in(from, count, n), in(gain, n), in(gain, n), 1e-5, out(to[1], count, n), out(mean, count),
                 out(rstd, count));
      cross_entropy(ex, in(from, count, n), make_vec<index_t const>(target.data(), count), make_vec(&loss, 1),
                    out(to[2], count, n), {0.1});
    };
    for (index_t r = 0; r < rows; ++r) {
      std::vector<T> row(x.begin() + r * n, x.begin() + (r + 1) * n);
      row.resize(row.size() + 64);
      numbers<T> alone(3, std::vector<T>(static_cast<std::size_t>(n)));
      run(x, rows, r, y);
      run(row, 1, 0, alone);
      for (std::size_t k = 0; k < 3; ++k)
        for (index_t c = 0; c < n; ++c) {
          CAPTURE(n, r, k, c);
          REQUIRE(same(y[k][static_cast<std::size_t>(r * n + c)], alone[k][static_cast<std::size_t>(c)]));
        }
    }
  }
}

}  // namespace ops_places_tests
