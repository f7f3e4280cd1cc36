// Two layers.  The second layer takes the output of the first layer as its input.
// SPDX-License-Identifier: Apache-2.0
//
//   u = first(x),  y = second(u)                 x: input of first, u (rows, columns), y: output of second
//   du = dsecond/du dy,  dx = dfirst/dx du       a chain of more layers is nested: chain(a, chain(b, c))
#pragma once

#include <type_traits>

#include "triad/core/fields.hpp"
#include "triad/layers/layer.hpp"

namespace triad {

namespace detail {

/// An input that is a struct of views, with the state as its member x.
template <class Input>
concept carries_state = requires(Input in) { in.x; };

/// Checks that the output of a layer fits the input of the next layer.  Both types are template arguments, so a
/// compiler's error message shows them.
template <class Output, class State>
struct joins {
  static_assert(std::is_same_v<element_t<Output>, element_t<State>>,
                "chain: the first layer's output and the second's input differ in element type; both are in "
                "joins<Output, State>");
  static_assert(
      Output::rank() == State::rank(),
      "chain: the first layer's output and the second's input differ in rank; both are in joins<Output, State>");
  static_assert(
      !columns_clash<Output, State>(),
      "chain: the first layer's output and the second's input differ in columns; both are in joins<Output, State>");
  static constexpr bool checked = true;
};

}  // namespace detail

template <class A, class B>
  requires(detail::expect_layer<A>() && detail::expect_layer<B>())
struct chain {
  using T = element_t<typename B::output>;
  using middle = typename A::output;  // (rows, columns)
  using output = typename B::output;
  // If one of the two layers takes graphs, the chain takes graphs.
  using input = std::conditional_t<detail::carries_state<typename B::input>, typename B::input, typename A::input>;

  static_assert(detail::joins<middle, state_of_t<typename B::input>>::checked);
  static_assert(
      !detail::carries_state<typename B::input> ||
          std::is_same_v<state_of_t<typename A::input>, state_of_t<typename B::input>>,
      "chain: the second layer takes graphs, so the first must take states of the same type, or graphs with them");

  A first;
  B second;

  constexpr chain(A a, B b) : first(a), second(b) {
    expect_extent("chain", "columns into the second layer", columns_in(second), columns_out(first));
  }

  constexpr index_t in() const { return columns_in(first); }
  constexpr index_t out() const { return columns_out(second); }

  template <class S>
  struct fields {
    fields_of<A, S> first;
    fields_of<B, S> second;
    template <class F>
    constexpr void each(F&& f) {
      f("first", first);
      f("second", second);
    }
  };
  struct saved {
    typename A::saved first;
    middle between;  // (rows, columns): u
    typename B::saved second;
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(first, place), plan<S>(second, place)};
  }
  /// `dims` are sizes that both layers accept.
  template <class Dims>
  saved plan_saved(arena& place, Dims const& dims, keep kept = keep::everything) const {
    return {first.plan_saved(place, dims, kept), place.make<middle>(dims.rows, columns_out(first)),
            second.plan_saved(place, dims, kept)};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& x, saved const& s, output y) const {
    first.forward(ex, c.child(0), w.first, into_first(x), s.first, s.between);
    second.forward(ex, c.child(1), w.second, into_second(x, s), s.second, y);
  }
  template <backend Ex, class Dx>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& x, saved const& s, const_view<output> dy, Dx dx,
                fields<T> gradient) const {
    auto const frame = c.scratch->open();
    first.backward(ex, c.child(0), w.first, into_first(x), s.first, second_backward(ex, c, w, x, s, dy, gradient), dx,
                   gradient.first);
  }
  /// backward() for a first layer whose input has no gradient, such as an embedding.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& x, saved const& s, const_view<output> dy,
                fields<T> gradient) const {
    auto const frame = c.scratch->open();
    first.backward(ex, c.child(0), w.first, into_first(x), s.first, second_backward(ex, c, w, x, s, dy, gradient),
                   gradient.first);
  }

 private:
  static constexpr typename A::input into_first(input const& x) {
    if constexpr (detail::carries_state<input> && !detail::carries_state<typename A::input>)
      return x.x;
    else
      return x;
  }
  static constexpr typename B::input into_second(input const& x, saved const& s) {
    if constexpr (detail::carries_state<typename B::input>)
      return with_state(x, s.between);
    else
      return typename B::input(s.between);
  }
  /// Runs the backward pass of the second layer.  Returns du, in scratch memory.
  template <backend Ex>
  middle second_backward(Ex& ex, call const& c, fields<T const> w, input const& x, saved const& s,
                         const_view<output> dy, fields<T> gradient) const {
    auto const du = c.scratch->template make<middle>(s.between.extent(0), s.between.extent(1));
    second.backward(ex, c.child(1), w.second, into_second(x, s), s.second, dy, du, gradient.second);
    return du;
  }
};

}  // namespace triad
