// Rewrites formulas into negation normal form by De Morgan's laws.  The formulas are trees of the program's own type,
// encoded as vectors.
// SPDX-License-Identifier: Apache-2.0
//
// Suppose that a program has its own type of formulas.  It encodes them as vectors to compare, store or blend them, and
// must rewrite the vectors without decoding them.  Nothing is learned here.  The program needs only triad/tree/, and
// neither a BLAS nor a backend.  Each part of the program checks its results at its end.  The program fails if a check
// fails.
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>

#include "triad/tree/tree.hpp"

using namespace triad;

// ---- The program's own type: a formula over p, q and r consists of nodes with pointers, and has a truth value. ----
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

// ---- Conversion both ways: a tree in pre-order, node by node. ----
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

// ---- The rules, on vectors.  A sparse tree can be 64 levels deep, and its memory grows with its number of nodes. ----
using language = symbol_algebra<sparse_algebra<double>>;
using tree = language::tree;

struct laws {
  tree none, negation, both, either;  // the empty tree, and a one-node tree for each connective

  explicit laws(language const& l)
      : none(l.none()),
        negation(l.encode(symbol_tree("not"))),
        both(l.encode(symbol_tree("and"))),
        either(l.encode(symbol_tree("or"))) {}

  // Returns the weight of a label at the root.  Fillers are orthonormal, so the weight is the inner product with the
  // one-node tree of the label.
  static double rooted(tree const& x, tree const& label) { return inner_product(x, label); }
  tree negated(tree const& x) const { return cons(x, none, negation); }

  // not (a and b) = (not a) or (not b).  car, cdr and cons are linear, and the weights of the new labels are the weight
  // of the old label.  So the whole rule is a linear map.
  tree de_morgan(tree const& x) const {
    auto const inner = car(x);
    double const to_or = rooted(inner, both), to_and = rooted(inner, either), all = to_or + to_and;
    return cons(cons(car(inner), none, all * negation), cons(cdr(inner), none, all * negation),
                to_or * either + to_and * both);
  }

  // Applies the laws until every `not` stands before a name.  Inner products decide which law to apply.  No symbol is
  // decoded.
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

  // One formula, encoded, rewritten and decoded.  The normal form is as a person would write it.  Its truth value
  // equals that of the original formula for all eight assignments of p, q and r.
  auto const before = to_formula(parse_tree("( not ( and p ( or ( not q ) ( not ( and q r ) ) ) ) )"));
  auto const found = logic.decode(by.normal(logic.encode(to_tree(before))));
  std::printf("%s\n= %s\n", to_text(to_tree(before)).c_str(), to_text(found).c_str());
  expect(to_text(found) == "( or ( not p ) ( and q ( and q r ) ) )", "the normal form");
  for (unsigned world = 0; world < 8; ++world)
    expect(holds(before, world) == holds(to_formula(found), world), "the same formula");

  // Two formulas are added as vectors, and their sum is rewritten in one step: a linear map of a sum is the sum of the
  // results.  If one result is subtracted, the other can be decoded.  In the same way, a model that learns programs can
  // weigh several programs before it chooses one.
  auto const x = logic.encode(parse_tree("( not ( and p q ) )")), z = logic.encode(parse_tree("( not ( or q r ) )"));
  auto const mixed = by.de_morgan(blend({0.7, 0.3}, {x, z}));
  auto const rest = (1 / 0.3) * (mixed - by.de_morgan(0.7 * x));
  expect(to_text(logic.decode(rest)) == "( and ( not q ) ( not r ) )", "the other formula of the blend");
  auto const gap = rest - by.de_morgan(z);
  expect(std::sqrt(inner_product(gap, gap)) < 1e-12, "to the last digits");
  return failed ? 1 : 0;
}
