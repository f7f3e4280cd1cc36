// Checks results before they are timed.  Compares them with the results of another backend.  For triangles, also
// compares a few edges with the definition.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "triad/core/fields.hpp"
#include "triad/core/random.hpp"
#include "triad/reference/triangle.hpp"
#include "work.hpp"

namespace bench {

/// The largest relative difference.  The default allows for float sums of up to a hundred thousand terms that are added
/// in another order.  A program with less exact products sets a larger value.
inline double tolerance = 1e-4;

/// Returns an error if the largest difference exceeds the tolerance times the largest expected value.  If `least` is
/// larger than this value, the tolerance is relative to `least`.
inline verdict compare(std::string const& what, float const* found, double const* expected, index_t count,
                       double least = 0) {
  double difference = 0, largest = least;
  for (index_t i = 0; i < count; ++i) {
    double const here = std::abs(static_cast<double>(found[i]) - expected[i]);
    difference = here > difference || std::isnan(here) ? here : difference;
    if (std::isnan(here)) break;
    largest = std::max(largest, std::abs(expected[i]));
  }
  if (difference <= tolerance * largest) return std::nullopt;
  char text[160];
  std::snprintf(text, sizeof text, "%s differs from the reference by %.3g, %.3g of its largest value", what.c_str(),
                difference, difference / largest);
  return text;
}

template <class Found, class Expected>
verdict compare_views(std::string const& what, Found found, Expected expected) {
  if (found.size() != expected.size()) return what + " has another size than the reference's";
  return compare(what, found.data_handle(), expected.data_handle(), static_cast<index_t>(found.size()));
}

/// Compares all tensors of the same layer in two fields.  Some gradients are zero up to rounding, such as the gradient
/// of a bias before a softmax.  So with the default tolerance, a difference is also accepted if it is at most 1e-6
/// times the largest of all gradients.
template <class Found, class Expected>
verdict compare_fields(Found found, Expected expected) {
  std::vector<std::pair<double const*, index_t>> wanted;
  triad::walk(expected, [&](std::string const&, auto view) {
    wanted.emplace_back(view.data_handle(), static_cast<index_t>(view.size()));
  });
  double largest = 0;
  for (auto const& [data, count] : wanted)
    for (index_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(data[i]));
  std::size_t next = 0;
  verdict wrong;
  triad::walk(found, [&](std::string const& path, auto view) {
    auto const [data, count] = wanted.at(next++);
    if (!wrong) wrong = compare("the gradient of " + path, view.data_handle(), data, count, 0.01 * largest);
  });
  return wrong;
}

/// Checks the results of triangle and triangle_grad at a few edges by the definition.  This is fast for any n.
class sampled_triangle {
  using projections = triad::triangle_projections<float const>;

 public:
  sampled_triangle(triad::triangle_options const& t, projections const& x, triad::graph_batch const& g,
                   triad::matrix<float const> o, triad::matrix<float const> d_o)
      : t_(t), x_(x), g_(g), o_(o), d_o_(d_o) {}

  verdict check(triad::triangle_projections<float> const& dx, index_t edges) const {
    triad::random_stream random(11, 0);
    for (index_t e = 0; e < edges; ++e) {
      auto const graph = random.below(static_cast<std::uint32_t>(g_.dims.graphs));
      auto const nodes = static_cast<std::uint32_t>(g_.size(graph));
      index_t const a = random.below(nodes), b = random.below(nodes);
      for (index_t c = 0; c < t_.heads; ++c) {
        head const at(t_, x_, g_, graph, c);
        if (auto wrong = check_edge(at, a, b, dx)) return wrong;
        if (auto wrong = check_bias(at, dx.bias.of_head(g_, graph, c, t_.heads), a, b, dx.bias.axes)) return wrong;
      }
    }
    return std::nullopt;
  }

 private:
  using head = triad::reference::triangle_head<float>;

  /// Returns p(i, l, j) for all l.  It is 0 if l is not a middle node of the edge.
  static std::vector<double> weights(head const& at, index_t i, index_t j) {
    std::vector<double> p;
    double maximum = -1e300, sum = 0;
    for (index_t l = 0; l < at.open(i, j); ++l) maximum = std::max(maximum, p.emplace_back(at.score(i, l, j)));
    for (auto& v : p) sum += v = std::exp(v - maximum);
    for (auto& v : p) v /= sum;
    p.resize(static_cast<std::size_t>(at.terms()));
    return p;
  }
  /// Returns ds(i, l, j) / sqrt(k), given the weight p(i, l, j).
  double slope(head const& at, index_t i, index_t l, index_t j, double p) const {
    double dp = 0, delta = 0;
    auto const row = at.edge(i, j);
    for (index_t e = 0; e < at.width; ++e) {
      dp += static_cast<double>(d_o_(row, at.column(e))) * static_cast<double>(at.value(i, l, j, e));
      delta += static_cast<double>(d_o_(row, at.column(e))) * static_cast<double>(o_(row, at.column(e)));
    }
    return p * (dp - delta) / std::sqrt(static_cast<double>(at.width));
  }

  /// Compares the gradient of the bias of one edge, if no axis is shared.
  verdict check_bias(head const& at, triad::triangle_bias_head<float> const& d_bias, index_t a, index_t b,
                     triad::triangle_bias_axes const& axes) const {
    if (d_bias.data == nullptr || !axes.all()) return std::nullopt;
    auto const p = weights(at, a, b);
    std::vector<float> found;
    std::vector<double> expected;
    for (index_t l = 0; l < at.n; ++l) {
      found.push_back(d_bias.at(a, l, b));
      expected.push_back(slope(at, a, l, b, p[static_cast<std::size_t>(l)]) * std::sqrt(static_cast<double>(at.width)));
    }
    return compare("(one sampled edge) the gradient of the bias", found.data(), expected.data(), at.n);
  }

  verdict check_edge(head const& at, index_t a, index_t b, triad::triangle_projections<float> const& dx) const {
    auto const k = static_cast<std::size_t>(at.width);
    std::vector<double> o(k), dq(k), dk(k), dv1(k), dv2(k);
    bool const right = triad::uses_right_value(t_.form), own_key = triad::uses_own_key(t_.form);
    auto const add = [&](std::vector<double>& to, double factor, triad::matrix<float const> m, index_t row) {
      for (std::size_t e = 0; e < k; ++e)
        to[e] += factor * static_cast<double>(m(row, at.column(static_cast<index_t>(e))));
    };
    auto const gated = [&](std::vector<double>& to, double factor, index_t row, triad::matrix<float const> m,
                           index_t value_row) {
      for (std::size_t e = 0; e < k; ++e) {
        auto const column = at.column(static_cast<index_t>(e));
        to[e] += factor * static_cast<double>(d_o_(row, column)) * static_cast<double>(m(value_row, column));
      }
    };
    auto const from_a_b = weights(at, a, b);
    for (index_t l = 0; l < at.n; ++l) {
      double const p = from_a_b[static_cast<std::size_t>(l)];
      for (std::size_t e = 0; e < k; ++e) o[e] += p * static_cast<double>(at.value(a, l, b, static_cast<index_t>(e)));
      if (own_key) add(dk, slope(at, a, l, b, p), x_.query, at.edge(a, l));
    }
    for (index_t other = 0; other < at.n; ++other) {  // for (a, b) = (i, l), then for (a, b) = (l, j)
      double const p = weights(at, a, other)[static_cast<std::size_t>(b)];
      add(dq, slope(at, a, b, other, p), x_.key, at.key_edge(a, b, other));
      right ? gated(dv1, p, at.edge(a, other), x_.right_value, at.edge(b, other))
            : add(dv1, p, d_o_, at.edge(a, other));
      if (own_key && !right) continue;
      double const r = weights(at, other, b)[static_cast<std::size_t>(a)];
      if (!own_key) add(dk, slope(at, other, a, b, r), x_.query, at.edge(other, a));
      if (right) gated(dv2, r, at.edge(other, b), x_.left_value, at.edge(other, a));
    }
    auto const row = at.edge(a, b);
    auto const here = [&](auto m) { return &m(row, at.column(0)); };
    auto const width = static_cast<index_t>(k);
    auto const sampled = "(one sampled edge) ";
    if (auto w = compare(std::string(sampled) + "o", here(o_), o.data(), width)) return w;
    if (auto w = compare(std::string(sampled) + "dq", here(dx.query), dq.data(), width)) return w;
    if (auto w = compare(std::string(sampled) + "dk", here(dx.key), dk.data(), width)) return w;
    if (auto w = compare(std::string(sampled) + "dv1", here(dx.left_value), dv1.data(), width)) return w;
    if (right)
      if (auto w = compare(std::string(sampled) + "dv2", here(dx.right_value), dv2.data(), width)) return w;
    return std::nullopt;
  }

  triad::triangle_options t_;
  projections x_;
  triad::graph_batch g_;
  triad::matrix<float const> o_, d_o_;
};

}  // namespace bench
