// Functions for tests of all forms of the tree algebra. They make an algebra with a given branching, depth and filler
// width, and random trees.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tests/distance.hpp"
#include "triad/core/buffer.hpp"
#include "triad/tree/tree.hpp"

namespace triad::test {

template <class T>
struct gather_form {
  using value_type = T;
  using algebra_type = gather_algebra<T>;
  algebra_type algebra;
  gather_form(index_t branching, index_t depth, index_t fillers) : algebra({branching, depth}, fillers) {}
};

template <class T>
struct sparse_form {
  using value_type = T;
  using algebra_type = sparse_algebra<T>;
  algebra_type algebra;
  sparse_form(index_t branching, index_t depth, index_t fillers) : algebra(branching, depth, fillers) {}
};

/// Roles that are random, with `Spare` more dimensions than necessary, or unit vectors.
template <class T, index_t Spare, bool Random>
struct dense_form {
  using value_type = T;
  using algebra_type = dense_algebra<T>;
  tree_positions<> positions;
  buffer<host_memory> memory;
  role_maps<T> maps;
  algebra_type algebra;

  dense_form(index_t branching, index_t depth, index_t fillers)
      : positions(branching, depth),
        memory(planned_bytes([this](arena& a) { (void)plan(a); })),
        maps(placed()),
        algebra(positions, fillers, maps) {
    if constexpr (Random)
      make_random(positions, 5, maps);
    else
      make_canonical(positions, maps);
  }

 private:
  role_maps<T> plan(arena& place) const { return role_maps<T>::plan(place, positions, positions.count() + Spare); }
  role_maps<T> placed() {
    auto place = memory.place();
    return plan(place);
  }
};

template <class T>
using canonical_form = dense_form<T, 0, false>;
template <class T>
using random_form = dense_form<T, 3, true>;

template <class T>
std::vector<T> random_values(random_stream& stream, index_t count) {
  std::vector<T> values;
  for (index_t i = 0; i < count; ++i) values.push_back(static_cast<T>(stream.uniform(-1, 1)));
  return values;
}

/// Returns a tree with random fillers at random positions in the first `levels` levels.
template <class A>
tensor_tree<A> random_tree(A const& a, random_stream& stream, index_t levels) {
  using T = typename A::value_type;
  tensor_tree<A> x(a);
  auto const count = tree_positions<>(a.branching(), a.depth()).level_begin(levels);
  for (index_t r = 0; r < count; ++r) {
    auto const s = random_values<T>(stream, a.fillers());
    a.add_bound(1, a.paths().at_position(r), vec<T const>(s.data(), a.fillers()), x.view());
  }
  return x;
}
template <class A>
tensor_tree<A> random_tree(A const& a, random_stream& stream) {
  return random_tree(a, stream, a.depth());
}

/// Returns the fillers at all positions, so that forms can be compared.
template <class A>
std::vector<typename A::value_type> fillings_of(tensor_tree<A> const& x) {
  using T = typename A::value_type;
  auto const count = tree_positions<>(x.algebra().branching(), x.algebra().depth()).count();
  std::vector<T> all(static_cast<std::size_t>(count * x.algebra().fillers()));
  unbind(x.algebra(), x.view(), tensor<T, dyn, dyn>(all.data(), count, x.algebra().fillers()));
  return all;
}

template <class T>
double farthest(std::vector<T> const& a, std::vector<T> const& b) {
  double most = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    most = worse(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return most;
}
template <class A>
double apart(tensor_tree<A> const& x, tensor_tree<A> const& y) {
  auto difference = x;
  x.algebra().add(-1, y.view(), difference.view());
  return std::sqrt(static_cast<double>(inner_product(difference, difference)));
}

}  // namespace triad::test
