// The compounds of a corpus: small connected parts of derivations, and the weight of each in each example.
// SPDX-License-Identifier: Apache-2.0
//
//   w(G, q) = max over occurrences g of G in example q of  1 - max over G' with one rule more than G of P(G' | G)
//   P(G' | G) = share of all occurrences of G in the corpus that lie inside an occurrence of G'
// (Keysers et al. 2020, section 2.1): a compound that always occurs inside a larger one has weight 0.
// Choices of this library:
//   - compounds have 2 to `largest` rules; the rules around a compound of the largest size are looked at too, so that
//     its weight may be below 1;
//   - G' runs over compounds of one rule more instead of all larger ones, since a larger one contains one of these
//     around the same occurrence;
//   - shares are of occurrences, and an edge knows which child it leads to, so that subject and object of a rule
//     differ;
//   - weights are whole numbers, 4096 for 1, so that sums over examples are exact in any order;
//   - a compound is known by 64 bits made of its nodes (rule and path from its top): among ten million compounds, two
//     have the same bits with a probability of 3e-6.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/core/errors.hpp"
#include "triad/io/text/derivation.hpp"

namespace triad::text {

/// A weight of 1 as a whole number.
inline constexpr int weight_of_one = 4096;

/// The count or weight of an atom or compound in an example.
struct item {
  int what, amount;

  friend bool operator==(item const&, item const&) = default;
};

struct item_table {
  std::vector<std::vector<item>> of;  // by example; each `what` at most once in an example
  int kinds = 0;
};

/// The rules of each example, and how many times each is applied; `rules` is the number of rules.
inline item_table atoms_of(std::vector<derivation> const& trees, int rules) {
  item_table table{{}, rules};
  for (auto const& tree : trees) {
    auto sorted = tree.rule;
    std::sort(sorted.begin(), sorted.end());
    auto& items = table.of.emplace_back();
    for (int const rule : sorted) {
      TRIAD_EXPECTS(rule >= 0 && rule < rules, "atoms_of: an example has rule " + std::to_string(rule) +
                                                   ", expected 0 to " + std::to_string(rules - 1));
      if (items.empty() || items.back().what != rule) items.push_back({rule, 0});
      ++items.back().amount;
    }
  }
  return table;
}

namespace detail {

inline constexpr int most_rules = 6;  // in a compound

inline std::uint64_t mixed(std::uint64_t x) {  // a bijection
  x = (x ^ (x >> 32U)) * 0xd6e8feb86659fd93U;
  x = (x ^ (x >> 32U)) * 0xd6e8feb86659fd93U;
  return x ^ (x >> 32U);
}

/// The code that each node of a derivation adds to a compound, for each possible top: the node itself, or an ancestor
/// at most `largest` edges above it.
class part_codes {
 public:
  part_codes(derivation const& tree, int largest)
      : tree_(&tree), children_(tree.children()), width_(at(largest) + 1), level_(tree.rule.size(), 0) {
    codes_.assign(tree.rule.size() * width_, 0);
    std::vector<std::uint64_t> paths(codes_.size(), 1);
    for (std::size_t v = 0; v < tree.rule.size(); ++v) {
      int const p = tree.parent[v];
      if (p >= 0) level_[v] = level_[at(p)] + 1;
      for (std::size_t d = 0; d < width_ && at(level_[v]) >= d; ++d) {
        if (d > 0)
          paths[v * width_ + d] =
              mixed(paths[at(p) * width_ + d - 1] * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(tree.slot[v]) + 1);
        codes_[v * width_ + d] =
            mixed(paths[v * width_ + d] + mixed(static_cast<std::uint64_t>(tree.rule[v]) + 0x51ed27f0U));
      }
    }
  }

  derivation const& tree() const { return *tree_; }
  std::vector<int> const& below(int node) const { return children_[at(node)]; }
  int parent(int node) const { return tree_->parent[at(node)]; }
  /// The code of a node in a compound whose top is `up` levels above `top`.
  std::uint64_t code(int node, int top, int up = 0) const {
    return codes_[at(node) * width_ + at(level_[at(node)] - level_[at(top)] + up)];
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  derivation const* tree_;
  std::vector<std::vector<int>> children_;
  std::size_t width_;
  std::vector<int> level_;
  std::vector<std::uint64_t> codes_;
};

/// One occurrence of a compound.
struct occurrence {
  std::uint64_t code;
  int example;
  int size;
  int nodes[most_rules];  // the top is first
};

/// Calls found(nodes) for each connected part with 2 to `largest` nodes whose top is nodes[0].  Each part is found
/// once, since a node that was passed over is not taken later.
template <class Found>
void grow(part_codes const& q, std::vector<int>& nodes, std::vector<int> const& open, std::size_t from, int largest,
          Found&& found) {
  if (nodes.size() > 1) found(nodes);
  if (static_cast<int>(nodes.size()) == largest) return;
  for (auto i = from; i < open.size(); ++i) {
    auto more = open;
    auto const& below = q.below(open[i]);
    more.insert(more.end(), below.begin(), below.end());
    nodes.push_back(open[i]);
    grow(q, nodes, more, i + 1, largest, found);
    nodes.pop_back();
  }
}

/// The codes of the compounds that contain this occurrence and have one rule more.
inline void codes_around(part_codes const& q, occurrence const& o, std::vector<std::uint64_t>& codes) {
  codes.clear();
  int const top = o.nodes[0];
  auto const inside = [&](int node) { return std::find(o.nodes, o.nodes + o.size, node) != o.nodes + o.size; };
  for (int i = 0; i < o.size; ++i)
    for (int const child : q.below(o.nodes[i]))
      if (!inside(child)) codes.push_back(o.code + q.code(child, top));
  if (int const up = q.parent(top); up >= 0) {
    codes.push_back(q.code(up, up));
    for (int i = 0; i < o.size; ++i) codes.back() += q.code(o.nodes[i], top, 1);
  }
  std::sort(codes.begin(), codes.end());
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
}

/// Appends to table.of the weight of one compound in each example, as compound number table.kinds.  [first, last) are
/// all its occurrences.
inline void weigh(std::vector<part_codes> const& examples, occurrence const* first, occurrence const* last,
                  item_table& table) {
  auto const n = static_cast<double>(last - first);
  std::vector<std::uint64_t> around, all;
  if (last - first > 1)
    for (auto const* o = first; o != last; ++o) {
      codes_around(examples[static_cast<std::size_t>(o->example)], *o, around);
      all.insert(all.end(), around.begin(), around.end());
    }
  std::sort(all.begin(), all.end());
  bool any = false;
  for (auto const* o = first; o != last; ++o) {
    auto const& q = examples[static_cast<std::size_t>(o->example)];
    codes_around(q, *o, around);
    double most =
        last - first == 1 && !around.empty() ? 1 : 0;  // the only occurrence in the corpus always lies inside the
                                                       // compounds around it
    for (auto const code : around) {
      if (most == 1) break;
      auto const range = std::equal_range(all.begin(), all.end(), code);
      most = std::max(most, static_cast<double>(range.second - range.first) / n);
    }
    int const weight = static_cast<int>((1 - most) * weight_of_one + 0.5);
    if (weight == 0) continue;
    any = true;
    auto& items = table.of[static_cast<std::size_t>(o->example)];
    if (!items.empty() && items.back().what == table.kinds)
      items.back().amount = std::max(items.back().amount, weight);
    else
      items.push_back({table.kinds, weight});
  }
  if (any) ++table.kinds;
}

}  // namespace detail

/// The compounds of 2 to `largest` rules (2 to 6) with a weight above 0, numbered in an arbitrary order.  At most
/// `at_once` occurrences are held in memory: the derivations are traversed again for each part.
inline item_table compounds_of(std::vector<derivation> const& trees, int largest = 4,
                               std::size_t at_once = std::size_t{1} << 24U) {
  if (largest < 2 || largest > detail::most_rules)
    throw data_error("compounds of at most " + std::to_string(largest) + " rules, expected 2 to 6");
  if (at_once == 0) throw data_error("compounds_of: at_once is 0, expected 1 or more");
  std::vector<detail::part_codes> examples;
  examples.reserve(trees.size());
  for (auto const& tree : trees) examples.emplace_back(tree, largest);

  auto const each = [&](auto&& use) {
    std::vector<int> nodes;
    for (int q = 0; q < static_cast<int>(examples.size()); ++q) {
      auto const& parts = examples[static_cast<std::size_t>(q)];
      for (int top = 0; top < parts.tree().size(); ++top) {
        nodes.assign(1, top);
        detail::grow(parts, nodes, parts.below(top), 0, largest, [&](std::vector<int> const& found) {
          detail::occurrence o{0, q, static_cast<int>(found.size()), {}};
          for (std::size_t i = 0; i < found.size(); ++i) {
            o.code += parts.code(found[i], top);
            o.nodes[i] = found[i];
          }
          use(o);
        });
      }
    }
  };
  std::size_t count = 0;
  each([&](detail::occurrence const&) { ++count; });

  item_table table;
  table.of.resize(trees.size());
  std::vector<detail::occurrence> held;
  auto const passes = count / at_once + 1;
  for (std::size_t pass = 0; pass < passes; ++pass) {
    held.clear();
    each([&](detail::occurrence const& o) {
      if (o.code % passes == pass) held.push_back(o);
    });
    std::sort(held.begin(), held.end(),
              [](auto const& a, auto const& b) { return a.code != b.code ? a.code < b.code : a.example < b.example; });
    for (std::size_t first = 0, last = 0; first < held.size(); first = last) {
      while (last < held.size() && held[last].code == held[first].code) ++last;
      detail::weigh(examples, held.data() + first, held.data() + last, table);
    }
  }
  return table;
}

}  // namespace triad::text
