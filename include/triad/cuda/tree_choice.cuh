// Soft choices with one block per sample and one thread per softmax.  A sample has a few softmaxes, each of a few
// numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/std/cmath>

#include "triad/cuda/device/rows.cuh"
#include "triad/ops/tree_choice.hpp"

namespace triad::cuda {

namespace detail {

/// Sets y(i) to the softmax of x(i), for i < count.
template <class T, class X, class Y>
TRIAD_DEVICE void small_softmax(index_t count, X&& x, Y&& y) {
  T maximum = x(0), sum = 0;
  for (index_t i = 1; i < count; ++i) maximum = x(i) > maximum ? x(i) : maximum;
  for (index_t i = 0; i < count; ++i) sum += y(i) = ::cuda::std::exp(x(i) - maximum);
  for (index_t i = 0; i < count; ++i) y(i) /= sum;
}

/// dx(i) = (y(i) (dy(i) - y . dy) + e (y(i) - 1 / count)) / t
template <class T, class Y, class Dy, class Dx>
TRIAD_DEVICE void small_softmax_grad(index_t count, T t, T e, Y&& y, Dy&& dy, Dx&& dx) {
  T dot = 0, even = T(1) / static_cast<T>(count);
  for (index_t i = 0; i < count; ++i) dot += y(i) * dy(i);
  for (index_t i = 0; i < count; ++i) dx(i) = (y(i) * (dy(i) - dot) + e * (y(i) - even)) / t;
}

template <class T>
struct tree_choice_samples {
  static constexpr char const* name = "tree_choice";
  static constexpr int threads = 64;

  TRIAD_DEVICE void operator()(block const& b, tree_choice_options<T> options, index_t step, tree_logits<T const> x,
                               tree_choices<T> chosen, tree_weights_view<T> weights, matrix<T> weighted_root) const {
    index_t const sample = b.index(), arguments = weights.extent(3), cons = arguments / 2,
                  trees = options.choices_at(step);
    auto const of_operation = static_cast<T>(options.operation_temperature);
    auto const of_argument = static_cast<T>(options.argument_temperature);
    auto const noisy = [&](matrix<T const> const& logits, matrix<T const> const& noise, T temperature, index_t i,
                           T charge = 0) {
      return (logits(sample, i) + (noise.extent(0) != 0 ? noise(sample, i) : T(0)) - charge) / temperature;
    };
    auto const logit = [&](index_t l, index_t c) {
      return noisy(x.arguments, options.argument_noise, of_argument, l * arguments + c, options.charge(step, l));
    };
    auto const& p = chosen.arguments;
    if (b.thread() == 0)
      small_softmax<T>(
          cons + 1, [&](index_t j) { return noisy(x.operation, options.operation_noise, of_operation, j); },
          [&](index_t j) -> T& { return chosen.operation(sample, j); });
    if (options.over == choice_over::trees) {
      for (index_t c = b.thread(); c < arguments; c += threads)
        small_softmax<T>(
            trees, [&](index_t l) { return logit(l, c); }, [&](index_t l) -> T& { return p(step, sample, l, c); });
    } else {
      for (index_t l = b.thread(); l < trees; l += threads)
        small_softmax<T>(
            arguments, [&](index_t c) { return logit(l, c); }, [&](index_t c) -> T& { return p(step, sample, l, c); });
    }
    b.sync();
    for (index_t e = b.thread(); e < trees * arguments; e += threads) {
      index_t const l = e / arguments, c = e % arguments;
      weights(step, sample, l, c) = chosen.operation(sample, c < cons ? c : cons) * p(step, sample, l, c);
    }
    for (index_t f = b.thread(); f < x.root.extent(1); f += threads)
      weighted_root(sample, f) = chosen.operation(sample, cons) * x.root(sample, f);
  }
};

template <class T>
struct tree_choice_grad_samples {
  static constexpr char const* name = "tree_choice_grad";
  static constexpr int threads = 64;
  struct shared {
    T part[threads / warp];
  };

  TRIAD_DEVICE void operator()(block const& b, tree_choice_options<T> options, index_t step, matrix<T const> root,
                               tree_choices<T const> chosen, tree_weights_view<T const> d_weights,
                               matrix<T const> d_weighted_root, tree_logits<T> dx) const {
    index_t const sample = b.index(), arguments = d_weights.extent(3), cons = arguments / 2,
                  trees = options.choices_at(step);
    auto const of_operation = static_cast<T>(options.operation_temperature);
    auto const of_argument = static_cast<T>(options.argument_temperature);
    auto const even = static_cast<T>(options.evenness);
    auto const& p = chosen.arguments;
    T of_root = 0;
    for (index_t f = b.thread(); f < root.extent(1); f += threads) {
      of_root += root(sample, f) * d_weighted_root(sample, f);
      dx.root(sample, f) = chosen.operation(sample, cons) * d_weighted_root(sample, f);
    }
    of_root = block_sum(b, b.shared<shared>().part, of_root);
    if (b.thread() == 0) {
      auto const d_chosen = [&](index_t j) {
        T sum = j == cons ? of_root : T(0);
        for (index_t c = j < cons ? j : cons; c < (j < cons ? j + 1 : arguments); ++c)
          for (index_t l = 0; l < trees; ++l) sum += p(step, sample, l, c) * d_weights(step, sample, l, c);
        return sum;
      };
      small_softmax_grad(
          cons + 1, of_operation, even, [&](index_t j) { return chosen.operation(sample, j); }, d_chosen,
          [&](index_t j) -> T& { return dx.operation(sample, j); });
    }
    auto const probability = [&](index_t l, index_t c) { return p(step, sample, l, c); };
    auto const d_probability = [&](index_t l, index_t c) {
      return chosen.operation(sample, c < cons ? c : cons) * d_weights(step, sample, l, c);
    };
    auto const to = [&](index_t l, index_t c) -> T& { return dx.arguments(sample, l * arguments + c); };
    if (options.over == choice_over::trees) {
      for (index_t c = b.thread(); c < arguments; c += threads)
        small_softmax_grad(
            trees, of_argument, even, [&](index_t l) { return probability(l, c); },
            [&](index_t l) { return d_probability(l, c); }, [&](index_t l) -> T& { return to(l, c); });
    } else {
      for (index_t l = b.thread(); l < trees; l += threads)
        small_softmax_grad(
            arguments, of_argument, even, [&](index_t c) { return probability(l, c); },
            [&](index_t c) { return d_probability(l, c); }, [&](index_t c) -> T& { return to(l, c); });
    }
  }
};

}  // namespace detail

template <class T>
void do_tree_choice(backend& ex, tree_choice_options<T> const& options, index_t step, tree_logits<T const> const& x,
                    tree_choices<T> const& chosen, tree_weights_view<T> weights, matrix<T> weighted_root) {
  launch(ex, detail::tree_choice_samples<T>{}, weights.extent(1), options, step, x, chosen, weights, weighted_root);
}

template <class T>
void do_tree_choice_grad(backend& ex, tree_choice_options<T> const& options, index_t step, matrix<T const> root,
                         tree_choices<T const> const& chosen, tree_weights_view<T const> d_weights,
                         matrix<T const> d_weighted_root, tree_logits<T> const& dx) {
  launch(ex, detail::tree_choice_grad_samples<T>{}, d_weights.extent(1), options, step, root, chosen, d_weights,
         d_weighted_root, dx);
}

}  // namespace triad::cuda
