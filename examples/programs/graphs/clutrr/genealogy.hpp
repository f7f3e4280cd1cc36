// Represents a kinship relation by a word of steps, and finds the possible compositions of two relations.
// SPDX-License-Identifier: Apache-2.0
//
// Assumptions about families. Every person comes from one couple (mother and father) and marries at most once; siblings
// share both parents; a couple is a man and a woman; no person marries kin, not even remote kin or kin by marriage.
// Aunts, uncles, nephews and nieces are by blood: an uncle is a parent's brother, never an aunt's husband.
//
// A home is a couple with its children. A person belongs to at most two homes, the home of birth and the home of
// marriage. Under these assumptions people and homes form a tree, so exactly one path that never turns back connects
// two people. The path is a word whose letters are steps through one home:
//     up: child to parent    down: parent to child    side: child to sibling    mate: parent to the other parent
// A relation consists of a word and of the gender of the person that the word leads to: an uncle is (up side, male).
//
// compose(r, s) is the relation of person 2 to person 0, if person 1 is r to person 0 and person 2 is s to person 1.
// The two words are concatenated. If the last step of r and the first step of s go through the same home, the two steps
// become one step or none:
//     up down   -> none, side      down up   -> none, mate      side side -> none, side      mate mate -> none
//     up mate   -> up              side up   -> up              down side -> down            mate down -> down
// "None" means that the path is back at the same person; then the steps before and after may become one, too. The
// result is the set of all words that can arise in this way, without the empty word, because person 2 is not person 0.
// The result holds in *every* family. Tests compare the result with sampled families.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace triad::programs::clutrr {

enum class gender : std::uint8_t { female, male };

/// The relations with a name, in alphabetical order. `other` is any other relation.
// clang-format off
enum class relation : std::uint8_t {
  aunt, brother, daughter, daughter_in_law, father, father_in_law, granddaughter, grandfather, grandmother, grandson,
  husband, mother, mother_in_law, nephew, niece, sister, son, son_in_law, uncle, wife, other
};
// clang-format on

inline constexpr int relations = 20;  // without `other`

/// A step through one home. `stay` fills the unused elements of a word with fewer than two steps.
enum class step : std::uint8_t { stay, up, down, side, mate };

struct relation_word {
  std::string_view name;
  step first;
  step second;
  gender to;   // gender of the person that it leads to
  bool told;   // whether the data sets use this relation as a fact
  bool asked;  // whether the data sets use this relation as an answer
};

inline constexpr std::array<relation_word, relations> relation_words{{
    {"aunt", step::up, step::side, gender::female, true, true},
    {"brother", step::side, step::stay, gender::male, true, true},
    {"daughter", step::down, step::stay, gender::female, true, true},
    {"daughter-in-law", step::down, step::mate, gender::female, false, true},
    {"father", step::up, step::stay, gender::male, true, true},
    {"father-in-law", step::mate, step::up, gender::male, false, true},
    {"granddaughter", step::down, step::down, gender::female, true, true},
    {"grandfather", step::up, step::up, gender::male, true, true},
    {"grandmother", step::up, step::up, gender::female, true, true},
    {"grandson", step::down, step::down, gender::male, true, true},
    {"husband", step::mate, step::stay, gender::male, true, false},
    {"mother", step::up, step::stay, gender::female, true, true},
    {"mother-in-law", step::mate, step::up, gender::female, false, true},
    {"nephew", step::side, step::down, gender::male, false, true},
    {"niece", step::side, step::down, gender::female, false, true},
    {"sister", step::side, step::stay, gender::female, true, true},
    {"son", step::down, step::stay, gender::male, true, true},
    {"son-in-law", step::down, step::mate, gender::male, false, true},
    {"uncle", step::up, step::side, gender::male, true, true},
    {"wife", step::mate, step::stay, gender::female, true, false},
}};

constexpr relation_word const& word_of(relation r) { return relation_words[static_cast<std::size_t>(r)]; }
constexpr std::string_view name_of(relation r) { return r == relation::other ? "other" : word_of(r).name; }

namespace detail {

constexpr auto word_table() {
  std::array<std::array<std::array<relation, 2>, 5>, 5> table{};
  for (auto& row : table)
    for (auto& cell : row) cell.fill(relation::other);
  for (std::size_t i = 0; i < relations; ++i) {
    auto const& w = relation_words[i];
    table[static_cast<std::size_t>(w.first)][static_cast<std::size_t>(w.second)][static_cast<std::size_t>(w.to)] =
        static_cast<relation>(i);
  }
  return table;
}

inline constexpr auto words_to_relations = word_table();

}  // namespace detail

/// Returns the relation with this word and gender, or `other`.
constexpr relation relation_of(step first, step second, gender to) {
  return detail::words_to_relations[static_cast<std::size_t>(first)][static_cast<std::size_t>(second)]
                                   [static_cast<std::size_t>(to)];
}

/// A set of relations, which may include `other`.
struct relation_set {
  std::uint32_t bits = 0;

  static constexpr relation_set all() { return {(1U << (relations + 1)) - 1}; }
  static constexpr relation_set of(relation r) { return {1U << static_cast<unsigned>(r)}; }
  [[nodiscard]] constexpr bool has(relation r) const { return (bits & of(r).bits) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits == 0; }

  /// Returns whether the set has exactly one relation, which has a name.
  [[nodiscard]] constexpr bool unique() const { return bits != 0 && (bits & (bits - 1)) == 0 && !has(relation::other); }

  /// Returns the smallest member.  Precondition: the set is not empty.
  [[nodiscard]] constexpr relation only() const {
    unsigned i = 0;
    while (((bits >> i) & 1U) == 0) ++i;
    return static_cast<relation>(i);
  }

  friend constexpr bool operator==(relation_set, relation_set) = default;
  friend constexpr relation_set operator|(relation_set a, relation_set b) { return {a.bits | b.bits}; }
  friend constexpr relation_set operator&(relation_set a, relation_set b) { return {a.bits & b.bits}; }
};

namespace detail {

// Returns the possible results of step `a` and then `b` through the same home; `stay` means "none". If there is only
// one result, both elements are this result.
constexpr std::array<step, 2> fuse(step a, step b) {
  using enum step;
  if (a == up && b == down) return {stay, side};
  if (a == down && b == up) return {stay, mate};
  if (a == side && b == side) return {stay, side};
  if (a == mate && b == mate) return {stay, stay};
  if (a == up || b == up) return {up, up};  // these are the pairs up mate, side up
  return {down, down};                      // these are the pairs down side, mate down
}

constexpr bool arrives_as_parent(step s) { return s == step::up || s == step::mate; }
constexpr bool departs_as_parent(step s) { return s == step::down || s == step::mate; }

struct long_word {
  std::array<step, 4> steps{};
  std::size_t length = 0;
};

constexpr relation_set join(long_word left, long_word right, gender to) {
  bool const touch = left.length > 0 && right.length > 0;
  if (touch && arrives_as_parent(left.steps[left.length - 1]) == departs_as_parent(right.steps[0])) {
    relation_set result;
    step const last = left.steps[left.length - 1];
    step const next = right.steps[0];
    --left.length;
    for (std::size_t i = 1; i < right.length; ++i) right.steps[i - 1] = right.steps[i];
    --right.length;
    for (step const fused : fuse(last, next)) {
      long_word longer = left;
      if (fused == step::stay) {
        result = result | join(left, right, to);
      } else {  // the new step departs like `last` and arrives like `next`: no more steps fuse
        longer.steps[longer.length++] = fused;
        for (std::size_t i = 0; i < right.length; ++i) longer.steps[longer.length++] = right.steps[i];
        result = result | join(longer, {}, to);
      }
    }
    return result;
  }
  for (std::size_t i = 0; i < right.length; ++i) left.steps[left.length++] = right.steps[i];
  if (left.length == 0) return {};  // the path is back at the start
  if (left.length > 2) return relation_set::of(relation::other);
  return relation_set::of(relation_of(left.steps[0], left.length == 2 ? left.steps[1] : step::stay, to));
}

constexpr long_word spell(relation r) {
  auto const& w = word_of(r);
  return {{w.first, w.second}, w.second == step::stay ? std::size_t{1} : std::size_t{2}};
}

constexpr relation_set compose_words(relation r, relation s) {
  auto const& second = word_of(s);
  if (second.first == step::mate && second.second == step::stay && word_of(r).to == second.to)
    return {};  // the husband of a man: excluded by the assumptions
  return join(spell(r), spell(s), second.to);
}

constexpr auto composition_table() {
  std::array<std::array<relation_set, relations>, relations> table{};
  for (std::size_t r = 0; r < relations; ++r)
    for (std::size_t s = 0; s < relations; ++s)
      table[r][s] = compose_words(static_cast<relation>(r), static_cast<relation>(s));
  return table;
}

inline constexpr auto compositions = composition_table();

}  // namespace detail

/// Person 1 is `r` to person 0, and person 2 is `s` to person 1. Returns the relations that person 2 can have to person
/// 0. The set is empty if no family has both relations.
constexpr relation_set compose(relation r, relation s) {
  if (r == relation::other || s == relation::other) return relation_set::all();
  return detail::compositions[static_cast<std::size_t>(r)][static_cast<std::size_t>(s)];
}

constexpr relation_set compose(relation_set a, relation_set b) {
  relation_set result;
  for (unsigned r = 0; r <= relations; ++r)
    for (unsigned s = 0; s <= relations; ++s)
      if (a.has(static_cast<relation>(r)) && b.has(static_cast<relation>(s)))
        result = result | compose(static_cast<relation>(r), static_cast<relation>(s));
  return result;
}

/// Returns the possible relations of the last person of a chain of facts to the first. All people are distinct. In
/// every family with this chain, the relation is in the set; so if the set is unique(), the chain has one answer. For
/// each section of the chain, the set is the intersection of the results of all orders of composition.
inline relation_set answers(std::span<relation const> chain) {
  std::size_t const k = chain.size();
  if (k == 0) return {};
  std::vector<relation_set> spans(k * k, relation_set::all());  // spans[i * k + j]: facts i .. j
  for (std::size_t i = 0; i < k; ++i) spans[i * k + i] = relation_set::of(chain[i]);
  for (std::size_t length = 2; length <= k; ++length)
    for (std::size_t i = 0; i + length <= k; ++i) {
      auto& span = spans[i * k + i + length - 1];
      for (std::size_t cut = i; cut + 1 < i + length; ++cut)
        span = span & compose(spans[i * k + cut], spans[(cut + 1) * k + i + length - 1]);
    }
  return spans[k - 1];
}

}  // namespace triad::programs::clutrr
