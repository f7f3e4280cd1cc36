// The code of docs/trees.md.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <vector>

#include "triad/core/buffer.hpp"
#include "triad/tree/tree.hpp"

namespace {

bool failed = false;

void expect(bool holds, char const* what) {
  if (!holds) std::fprintf(stderr, "not so: %s\n", what);
  failed = failed || !holds;
}

void first_tree() {
  using namespace triad;
  auto const sentence = parse_tree("( S ( NP the fox ) ( VP sleeps ) )");
  vocabulary words;
  words.insert(sentence);  // numbers from 1, by first appearance; 0 is the empty node

  // Trees have two children and four levels. Fillers are orthonormal and drawn with seed 1. Their width is the number
  // of labels.
  symbol_algebra const language(gather_algebra<double>({2, 4}, words.size()), words, 1);
  auto const x = language.encode(sentence);
  auto const swapped = cons(cdr(x), car(x), x);  // right, left, and the root of x
  auto const both = blend({0.7, 0.3}, {swapped, x});
  auto const found = language.decode(swapped);
  expect(to_text(found) == "( S ( VP sleeps ) ( NP the fox ) )", "swapped");
  expect(language.decode(both - 0.7 * swapped) == sentence, "the other part");
}

void with_a_table_of_fillers() {
  using namespace triad;
  auto const sentence = parse_tree("( S ( NP the fox ) ( VP sleeps ) )");
  vocabulary words;
  words.insert(sentence);
  gather_algebra<double> const algebra({2, 4}, words.size());
  std::vector<double> table(static_cast<std::size_t>(words.size() * words.size()));
  tensor<double, dyn, dyn> const fillers(table.data(), words.size(), words.size());  // (V, f)
  random_fillers(1, as_matrix(fillers));                                             // orthonormal: at most f labels
  auto const x = encode(algebra, fillers, words.number(sentence));
  auto const subject = words.label(decode(fillers, car(x)));
  expect(to_text(subject) == "( NP the fox )", "its left child");
}

void in_own_memory() {
  using namespace triad;
  using trees = tensor<float, dyn, dyn, dyn>;  // (batch, positions, fillers)
  index_t const batch = 3, width = 8;
  gather_algebra<float> const algebra({2, 5}, width);
  struct memory {
    trees x, dx, y, dy;
  };
  auto const plan = [&](arena& place) {
    auto const one = [&] { return place.make<trees>(batch, algebra.positions().count(), width); };
    auto const x = one(), dx = one(), y = one();
    return memory{x, dx, y, one()};
  };
  buffer<host_memory> const held(planned_bytes([&](arena& measure) { (void)plan(measure); }));
  auto place = held.place();
  memory const m = plan(place);

  m.x(2, 1, 0) = 1;               // third tree, left child of the root
  car(algebra, m.x, m.y);         // y = D_0 x, of every tree
  m.dy(2, 0, 0) = 1;              // some gradient of y
  car_grad(algebra, m.dy, m.dx);  // dx += E_0 dy
  expect(m.y(2, 0, 0) == 1 && m.dx(2, 1, 0) == 1, "the left child is the root of car, and back");
}

void own_roles() {
  using namespace triad;
  tree_positions<> const positions(2, 4);
  index_t const width = 20, fillers = 6;
  auto const plan = [&](arena& place) { return role_maps<double>::plan(place, positions, width); };
  buffer<host_memory> const held(planned_bytes([&](arena& measure) { (void)plan(measure); }));
  auto place = held.place();
  auto const maps = plan(place);
  make_random(positions, 7, maps);  // or set maps.roles and call make_given, which checks their orthonormality
  dense_algebra<double> const algebra(positions, fillers, maps);
  std::vector<double> numbers(static_cast<std::size_t>(2 * algebra.elements()));
  auto const x = algebra.over(numbers.data()), y = algebra.over(numbers.data() + algebra.elements());
  x(3, 0) = 1;
  cdr(algebra, x, y);  // the same call, now a product with D_1
  expect(algebra.inner_product(y, y) <= 1, "D shortens");
}

void deep() {
  using namespace triad;
  sparse_algebra<double> const algebra(2, 63, 4);
  tensor_tree<sparse_algebra<double>> leaf(algebra), x(algebra);
  std::vector<double> const s{0, 1, 0, 0.5};
  plant(algebra, vec<double const>(s.data(), 4), leaf.view());
  x = leaf;
  for (int level = 1; level < 63; ++level) x = cons(leaf, x, leaf);  // a chain to the right, with a leaf on every node
  for (int level = 1; level < 63; ++level) x = cdr(x);
  expect(x.view() == leaf.view(), "exact");

  x = cons(leaf, leaf, leaf);
  pruned const gone = algebra.prune(x.view(), 3);  // the three values of 0.5 are removed
  expect(gone.count == 3 && gone.square == 0.75 && gone.largest == 0.5, "what went");
}

}  // namespace

int main() {
  first_tree();
  with_a_table_of_fillers();
  in_own_memory();
  own_roles();
  deep();
  return failed ? 1 : 0;
}
