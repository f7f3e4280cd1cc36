// Finds the compounds of a corpus, which are small connected parts of derivations, and computes the weight of each
// compound in each example.
// SPDX-License-Identifier: Apache-2.0
//
//   w(G, q) = max over occurrences g of G in example q of  1 - max over G' of P(G' | G); G' has one rule more than G
//   P(G' | G) = the fraction of all occurrences of G in the corpus that are inside an occurrence of G'
// (Keysers et al. 2020, section 2.1).  So a compound that always occurs inside the same larger compound has weight 0.
// Choices of this library:
//   - Compounds have 2 to `largest` rules.  For a compound of the largest size, G' has one rule more than `largest`, so
//     the weight of this compound may be below 1.
//   - G' has only one rule more than G.  Larger compounds need not be considered, because each of them contains such a
//     G' around the same occurrence.
//   - Fractions are fractions of occurrences.  An edge records which child it leads to, so that the subject and the
//     object of a rule differ.
//   - Weights are integers, with 4096 for a weight of 1, so that sums over examples are exact in any order.
//   - A compound is identified by 64 bits that are computed from its nodes (the rule, and the path from the top).
//     Among ten million compounds, two have the same bits with a probability of 3e-6.
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

/// The integer that stands for a weight of 1.
inline constexpr int weight_of_one = 4096;

/// An atom or compound of an example, with its count or weight.
struct item {
  int what, amount;

  friend bool operator==(item const&, item const&) = default;
};

struct item_table {
  std::vector<std::vector<item>> of;  // of[q]: the items of example q; an item occurs at most once in an example
  int kinds = 0;
};

/// Returns the rules of each example, and how many times each rule is applied.  `rules` is the number of all rules.
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

inline constexpr int most_rules = 6;  // the largest number of rules of a compound

inline std::uint64_t mixed(std::uint64_t x) {  // a bijection that mixes the bits
  x = (x ^ (x >> 32U)) * 0xd6e8feb86659fd93U;
  x = (x ^ (x >> 32U)) * 0xd6e8feb86659fd93U;
  return x ^ (x >> 32U);
}

/// The code that each node of a derivation contributes to a compound, for each possible top of the compound.  The top
/// is the node, or an ancestor at most `largest` edges above the node.
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
  /// The code of a node in a compound whose top is `up` levels above the node `top`.
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

/// One occurrence of a compound in an example.
struct occurrence {
  std::uint64_t code;
  int example;
  int size;
  int nodes[most_rules];  // the top is the first node
};

/// Calls found(nodes) for each connected part with 2 to `largest` nodes whose top is nodes[0].  Finds each part once,
/// because a node that was left out once is not added later.
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

/// Computes the codes of the compounds that contain this occurrence and have one rule more.
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

/// Appends the weight of one compound in each example to table.of, with table.kinds as the compound's number.  [first,
/// last) are all occurrences of the compound.
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
    double most = last - first == 1 && !around.empty() ? 1 : 0;  // a single occurrence is always inside of
                                                                 // the compounds around it
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

/// Returns the compounds of 2 to `largest` rules whose weight is above 0.  The order of their numbers is not specified.
/// `largest` is from 2 to 6.  Compounds are processed in portions, so that about `at_once` occurrences are in memory at
/// a time.  The derivations are traversed once for each portion.
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
