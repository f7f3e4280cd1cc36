// Trees as vectors in a program that has its own: formulas are pushed into negation normal form by De Morgan's laws.
// SPDX-License-Identifier: Apache-2.0
//
// A program has formulas as its own type.  To compare, store or blend them it wants vectors, and it wants to
// rewrite them without going back to symbols.  Nothing is learned here, and nothing but triad/tree/ is needed: no BLAS,
// no backend.  What each part says is checked at its end; the program fails where it is not so.
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>

#include "triad/tree/tree.hpp"

using namespace triad;

// ---- What the program has: formulas over p, q and r, as pointers, and what they mean. ----
struct formula {
  std::string label;  // not, and, or; else a name
  std::shared_ptr<formula const> left{}, right{};
};
bool holds(formula const& f, unsigned world) {
  if (f.label == "not") return !holds(*f.left, world);
  if (f.label == "and") return holds(*f.left, world) && holds(*f.right, world);
  if (f.label == "or") return holds(*f.left, world) || holds(*f.right, world);
  return ((world >> (f.label[0] - 'p')) & 1U) != 0;
}

// ---- The way in and out: a tree in pre-order, node by node. ----
void write(formula const& f, symbol_tree::builder& b) {
  b.open(f.label);
  if (f.left) write(*f.left, b);
  if (f.right) write(*f.right, b);
  b.close();
}
symbol_tree to_tree(formula const& f) {
  symbol_tree::builder b;
  write(f, b);
  return b.finish();
}
formula to_formula(symbol_tree const& t, index_t at = 0) {
  formula f{t.label(at)};
  if (auto const l = t.child(at, 0); l != no_node) f.left = std::make_shared<formula const>(to_formula(t, l));
  if (auto const r = t.child(at, 1); r != no_node) f.right = std::make_shared<formula const>(to_formula(t, r));
  return f;
}

// ---- The rules, on vectors.  A sparse tree grows as deep as 64 levels, and costs what it has in nodes. ----
using language = symbol_algebra<sparse_algebra<double>>;
using tree = language::tree;

struct laws {
  tree none, negation, both, either;  // the empty tree, and the three connectives as trees of one node

  explicit laws(language const& l)
      : none(l.none()),
        negation(l.encode(symbol_tree("not"))),
        both(l.encode(symbol_tree("and"))),
        either(l.encode(symbol_tree("or"))) {}

  // Fillers are orthonormal, so the inner product with a tree of one node is how much of that label stands at the root.
  static double rooted(tree const& x, tree const& label) { return inner_product(x, label); }
  tree negated(tree const& x) const { return cons(x, none, negation); }

  // not (a and b) = (not a) or (not b).  car, cdr and cons are linear, and the new labels are weighed by how much of
  // the old one was there: so the rule as a whole is a linear map.
  tree de_morgan(tree const& x) const {
    auto const inner = car(x);
    double const to_or = rooted(inner, both), to_and = rooted(inner, either), all = to_or + to_and;
    return cons(cons(car(inner), none, all * negation), cons(cdr(inner), none, all * negation),
                to_or * either + to_and * both);
  }

  // Until every `not` stands before a name.  A decision looks at one inner product, never at a symbol.
  tree normal(tree const& x) const {
    auto const is = [](tree const& t, tree const& label) { return rooted(t, label) > 0.5; };
    if (is(x, both) || is(x, either)) return cons(normal(car(x)), normal(cdr(x)), x);
    if (!is(x, negation)) return x;
    if (is(car(x), negation)) return normal(car(car(x)));
    return is(car(x), both) || is(car(x), either) ? normal(de_morgan(x)) : x;
  }
};

bool failed = false;
void expect(bool so, char const* what) {
  if (!so) std::fprintf(stderr, "not so: %s\n", what);
  failed = failed || !so;
}

int main() {
  vocabulary words;
  for (auto const* label : {"not", "and", "or", "p", "q", "r"}) words.insert(symbol_tree(label));
  language const logic(sparse_algebra<double>(2, 64, words.size()), words, 1);  // binary, 64 levels; drawn by seed 1
  laws const by(logic);

  // One formula, there and back.  The normal form is what one writes by hand, and true in the same eight worlds.
  auto const before = to_formula(parse_tree("( not ( and p ( or ( not q ) ( not ( and q r ) ) ) ) )"));
  auto const found = logic.decode(by.normal(logic.encode(to_tree(before))));
  std::printf("%s\n= %s\n", to_text(to_tree(before)).c_str(), to_text(found).c_str());
  expect(to_text(found) == "( or ( not p ) ( and q ( and q r ) ) )", "the normal form");
  for (unsigned world = 0; world < 8; ++world)
    expect(holds(before, world) == holds(to_formula(found), world), "the same formula");

  // Two formulas in one vector, one rewriting: what a linear map makes of a blend is the blend of what it makes.  Take
  // one part away, and the other is there to be decoded.  A learner can so weigh programs that it has not chosen yet.
  auto const x = logic.encode(parse_tree("( not ( and p q ) )")), z = logic.encode(parse_tree("( not ( or q r ) )"));
  auto const mixed = by.de_morgan(blend({0.7, 0.3}, {x, z}));
  auto const rest = (1 / 0.3) * (mixed - by.de_morgan(0.7 * x));
  expect(to_text(logic.decode(rest)) == "( and ( not q ) ( not r ) )", "the other formula of the blend");
  auto const gap = rest - by.de_morgan(z);
  expect(std::sqrt(inner_product(gap, gap)) < 1e-12, "to the last digits");
  return failed ? 1 : 0;
}
