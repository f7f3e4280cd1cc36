// Soft choices, one sample after another, directly from their definition in ops/tree_choice.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "triad/ops/tree_choice.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

/// Sets y(i), i < count, to the softmax of x(0) .. x(count - 1).
template <class X, class Y>
void softmax_of(index_t count, X&& x, Y&& y) {
  auto maximum = x(0);
  for (index_t i = 1; i < count; ++i) maximum = x(i) > maximum ? x(i) : maximum;
  auto sum = maximum - maximum;
  for (index_t i = 0; i < count; ++i) sum += y(i) = std::exp(x(i) - maximum);
  for (index_t i = 0; i < count; ++i) y(i) /= sum;
}

/// Sets dx(i) = (y(i) (dy(i) - y . dy) + e (y(i) - 1 / count)) / t: the gradients of softmax and evenness.
template <class T, class Y, class Dy, class Dx>
void softmax_of_grad(index_t count, T t, T e, Y&& y, Dy&& dy, Dx&& dx) {
  T dot = 0, even = T(1) / T(count);
  for (index_t i = 0; i < count; ++i) dot += y(i) * dy(i);
  for (index_t i = 0; i < count; ++i) dx(i) = (y(i) * (dy(i) - dot) + e * (y(i) - even)) / t;
}

template <class T>
void do_tree_choice(backend&, tree_choice_options<T> const& options, index_t step, tree_logits<T const> const& x,
                    tree_choices<T> const& chosen, tree_weights_view<T> weights, matrix<T> weighted_root) {
  index_t const arguments = weights.extent(3), cons = arguments / 2, trees = options.choices_at(step);
  auto const p = chosen.arguments;
  auto const noisy = [&](matrix<T const> logits, matrix<T const> noise, double temperature, index_t b, index_t i,
                         T charge = 0) {
    return (logits(b, i) + (noise.extent(0) != 0 ? noise(b, i) : T(0)) - charge) / T(temperature);
  };
  for (index_t b = 0; b < weights.extent(1); ++b) {
    softmax_of(
        cons + 1,
        [&](index_t j) { return noisy(x.operation, options.operation_noise, options.operation_temperature, b, j); },
        [&](index_t j) -> T& { return chosen.operation(b, j); });
    auto const logit = [&](index_t l, index_t c) {
      return noisy(x.arguments, options.argument_noise, options.argument_temperature, b, l * arguments + c,
                   options.charge(step, l));
    };
    if (options.over == choice_over::trees) {
      for (index_t c = 0; c < arguments; ++c)
        softmax_of(trees, [&](index_t l) { return logit(l, c); }, [&](index_t l) -> T& { return p(step, b, l, c); });
    } else {
      for (index_t l = 0; l < trees; ++l)
        softmax_of(
            arguments, [&](index_t c) { return logit(l, c); }, [&](index_t c) -> T& { return p(step, b, l, c); });
    }
    for (index_t l = 0; l < trees; ++l)
      for (index_t c = 0; c < arguments; ++c)
        weights(step, b, l, c) = chosen.operation(b, c < cons ? c : cons) * p(step, b, l, c);
    for (index_t f = 0; f < x.root.extent(1); ++f) weighted_root(b, f) = chosen.operation(b, cons) * x.root(b, f);
  }
}

template <class T>
void do_tree_choice_grad(backend&, tree_choice_options<T> const& options, index_t step, matrix<T const> root,
                         tree_choices<T const> const& chosen, tree_weights_view<T const> d_weights,
                         matrix<T const> d_weighted_root, tree_logits<T> const& dx) {
  index_t const arguments = d_weights.extent(3), cons = arguments / 2, trees = options.choices_at(step);
  auto const of_operation = T(options.operation_temperature), of_argument = T(options.argument_temperature),
             even = T(options.evenness);
  auto const p = chosen.arguments;
  for (index_t b = 0; b < d_weights.extent(1); ++b) {
    auto const operation = [&](index_t c) { return chosen.operation(b, c < cons ? c : cons); };
    auto const d_chosen = [&](index_t j) {
      T sum = 0;
      for (index_t c = 0; c < arguments; ++c)
        for (index_t l = 0; l < trees && (c < cons ? c : cons) == j; ++l)
          sum += p(step, b, l, c) * d_weights(step, b, l, c);
      for (index_t f = 0; f < root.extent(1) && j == cons; ++f) sum += root(b, f) * d_weighted_root(b, f);
      return sum;
    };
    softmax_of_grad(
        cons + 1, of_operation, even, [&](index_t j) { return chosen.operation(b, j); }, d_chosen,
        [&](index_t j) -> T& { return dx.operation(b, j); });
    auto const probability = [&](index_t l, index_t c) { return p(step, b, l, c); };
    auto const d_probability = [&](index_t l, index_t c) { return operation(c) * d_weights(step, b, l, c); };
    auto const to = [&](index_t l, index_t c) -> T& { return dx.arguments(b, l * arguments + c); };
    if (options.over == choice_over::trees) {
      for (index_t c = 0; c < arguments; ++c)
        softmax_of_grad(
            trees, of_argument, even, [&](index_t l) { return probability(l, c); },
            [&](index_t l) { return d_probability(l, c); }, [&](index_t l) -> T& { return to(l, c); });
    } else {
      for (index_t l = 0; l < trees; ++l)
        softmax_of_grad(
            arguments, of_argument, even, [&](index_t c) { return probability(l, c); },
            [&](index_t c) { return d_probability(l, c); }, [&](index_t c) -> T& { return to(l, c); });
    }
    for (index_t f = 0; f < root.extent(1); ++f) dx.root(b, f) = chosen.operation(b, cons) * d_weighted_root(b, f);
  }
}

}  // namespace triad::TRIAD_REFERENCE
