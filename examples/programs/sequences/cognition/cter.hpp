// Compound translation error rate of CoGnition: how many compounds are translated wrongly, by instance and in any of
// their contexts.
// SPDX-License-Identifier: Apache-2.0
//
// A compound such as "near the small dog he liked" is right in a translation where
//   each of its atoms has one of its translations in it, wherever that is, and
//   determiner, adjective and modifier come before the noun: the first match of each is before the last match of the
//     noun. A modifier of a compound with a
//   verb need not; nor need an atom that is not looked for.
// Of two atoms of one class it is the order of the later one that counts.
//
//   instance  = wrong lines / lines
//   aggregate = groups with a wrong line / groups; a group is five consecutive lines: one compound in five sentences
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lexicon.hpp"
#include "shared/report/refuse.hpp"
#include "triad/core/errors.hpp"
#include "triad/io/text/characters.hpp"

namespace triad::programs::cognition {

/// The text without the marks "@@ " of word parts, and without spaces.
inline std::string unsegmented(std::string_view hypothesis) {
  std::string result;
  for (std::size_t at = 0; at < hypothesis.size(); ++at) {
    if (hypothesis.substr(at).starts_with("@@ ")) {
      at += 2;
    } else if (hypothesis[at] != ' ') {
      result += hypothesis[at];
    }
  }
  return result;
}

namespace detail {

// Where the first and the last match of an atom begin, in bytes.
struct matches {
  std::size_t first, last;
};

inline std::optional<matches> find(std::string_view text, std::span<std::string const> translations) {
  std::optional<matches> found;
  for (std::string_view const t : translations) {
    auto const first = text.find(t);
    if (first == std::string_view::npos) continue;
    auto const last = text.rfind(t);
    found = found ? matches{std::min(found->first, first), std::max(found->last, last)} : matches{first, last};
  }
  return found;
}

inline std::string with_modifiers_as_atoms(std::string compound) {
  for (std::size_t m = 0; m < modifiers.size(); ++m)
    for (auto at = compound.find(modifiers[m]); at != std::string::npos; at = compound.find(modifiers[m], at))
      compound.replace(at, modifiers[m].size(), "mod" + std::to_string(m));
  return compound;
}

}  // namespace detail

/// Whether a translation of a sentence translates the compound in it. Throws data_error where the compound is none of
/// CoGnition's.
inline bool translates(std::string_view hypothesis, std::string_view compound, lexicon const& known) {
  auto const text = unsegmented(hypothesis);
  std::array<std::optional<detail::matches>, atom_classes> found;
  auto const at = [&](atom_class c) -> std::optional<detail::matches>& { return found[static_cast<std::size_t>(c)]; };
  auto const atoms = text::words(detail::with_modifiers_as_atoms(std::string(compound)));
  if (atoms.empty()) refuse("the compound is empty");
  bool all = true;
  for (auto const& atom : atoms) {
    auto const what = class_of(atom);
    auto const& translations = known.of(atom);
    if (translations.empty()) continue;
    auto const here = detail::find(text, translations);
    all = all && here;
    at(what) = here;
  }
  if (!all) return false;
  auto const before_noun = [&](atom_class c) {
    return !at(c) || !at(atom_class::noun) || at(c)->first < at(atom_class::noun)->last;
  };
  return before_noun(atom_class::determiner) && before_noun(atom_class::adjective) &&
         (at(atom_class::verb) || before_noun(atom_class::modifier));
}

/// Counts of wrong translations.
struct cter {
  long lines = 0, wrong_lines = 0, groups = 0, wrong_groups = 0;

  /// In 0 to 1; 0 of nothing.
  [[nodiscard]] double instance() const {
    return lines == 0 ? 0 : static_cast<double>(wrong_lines) / static_cast<double>(lines);
  }
  [[nodiscard]] double aggregate() const {
    return groups == 0 ? 0 : static_cast<double>(wrong_groups) / static_cast<double>(groups);
  }
};

/// Lines that share a compound, and its contexts.
inline constexpr std::size_t contexts = 5;

/// Throws data_error, with the compound's line, where the compounds are not in groups of five with one compound, or an
/// atom is unknown.
inline void check_compounds(std::span<std::string const> compounds, lexicon const& known) {
  if (compounds.size() % contexts != 0)
    refuse("there are {} compounds; expected groups of five lines with one compound each", compounds.size());
  for (std::size_t i = 0; i < compounds.size(); ++i) {
    auto const line = "compound " + std::to_string(i + 1) + ", '" + compounds[i] + "': ";
    auto const first = i - i % contexts;
    if (compounds[i] != compounds[first])
      refuse("{}line {} begins a group of five with '{}'; expected the lines in the order of the test set", line,
             first + 1, compounds[first]);
    if (i != first) continue;
    try {
      (void)translates("", compounds[i], known);  // looks every atom up
    } catch (data_error const& e) {
      refuse("{}{}", line, e.what());
    }
  }
}

/// Scores translations, line for line with the compounds. Throws data_error as check_compounds does, and where they are
/// not as many.
inline cter score(std::span<std::string const> hypotheses, std::span<std::string const> compounds,
                  lexicon const& known) {
  if (hypotheses.size() != compounds.size())
    refuse("there are {} translations but {} compounds; give one line each, in the order of the test set",
           hypotheses.size(), compounds.size());
  check_compounds(compounds, known);
  cter result;
  for (std::size_t first = 0; first < compounds.size(); first += contexts) {
    bool right = true;
    for (std::size_t i = first; i < first + contexts; ++i) {
      bool const this_right = translates(hypotheses[i], compounds[i], known);
      right = right && this_right;
      ++result.lines;
      result.wrong_lines += this_right ? 0 : 1;
    }
    ++result.groups;
    result.wrong_groups += right ? 0 : 1;
  }
  return result;
}

}  // namespace triad::programs::cognition
