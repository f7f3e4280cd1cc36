// CoGnition's compound translation error rate, the fraction of compounds that are translated wrongly.  It is computed
// for single instances, and for groups of instances with the same compound.
// SPDX-License-Identifier: Apache-2.0
//
// A compound such as "near the small dog he liked" is translated rightly if both conditions hold:
//   - For each of its atoms, one of the atom's translations occurs in the translation of the sentence, at any place.
//   - Determiner, adjective and modifier come before the noun: their first matches are before the noun's last match.  A
//     modifier in a compound with a verb, and an atom without translations, may be anywhere.
// If a compound has two atoms of one class, only the order of the later atom is checked.
//
//   instance  = wrong lines / lines
//   aggregate = groups with a wrong line / groups; a group is five consecutive lines with the same compound
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lexicon.hpp"
#include "shared/report/refuse.hpp"
#include "triad/core/errors.hpp"

namespace triad::programs::cognition {

/// Returns the text without the marks "@@ ", which join the parts of words, and without spaces.
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

// The byte offsets of the first and of the last match of an atom.
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

}  // namespace detail

/// Returns whether the compound is translated rightly in the translation of its sentence.  Throws data_error if
/// the class or the translations of an atom are unknown.
inline bool translates(std::string_view hypothesis, std::string_view compound, lexicon const& known) {
  auto const text = unsegmented(hypothesis);
  std::array<std::optional<detail::matches>, atom_classes> found;
  auto const at = [&](atom_class c) -> std::optional<detail::matches>& { return found[static_cast<std::size_t>(c)]; };
  auto const atoms = known.atoms_of(std::string(compound));
  if (atoms.empty()) refuse("the compound is empty");
  bool all = true;
  for (auto const& atom : atoms) {
    auto const what = known.class_of(atom);
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

  /// The error rate of instances, from 0 to 1; 0 if there are no lines.
  [[nodiscard]] double instance() const {
    return lines == 0 ? 0 : static_cast<double>(wrong_lines) / static_cast<double>(lines);
  }
  [[nodiscard]] double aggregate() const {
    return groups == 0 ? 0 : static_cast<double>(wrong_groups) / static_cast<double>(groups);
  }
  cter& operator+=(cter const& more) {
    lines += more.lines;
    wrong_lines += more.wrong_lines;
    groups += more.groups;
    wrong_groups += more.wrong_groups;
    return *this;
  }
};

/// The number of consecutive lines with the same compound.  Each of these lines is a different sentence.
inline constexpr std::size_t contexts = 5;

/// Throws data_error if the compounds are not in groups of five equal compounds, or if an atom is unknown.  The error
/// names the line of the compound.
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
      (void)translates("", compounds[i], known);  // looks up every atom, so that an unknown one throws
    } catch (data_error const& e) {
      refuse("{}{}", line, e.what());
    }
  }
}

namespace detail {

/// Adds the group of five lines that begins with line `first` to the counts.
inline void count_group(cter& counts, std::size_t first, std::span<std::string const> hypotheses,
                        std::span<std::string const> compounds, lexicon const& known) {
  long wrong = 0;
  for (std::size_t i = first; i < first + contexts; ++i)
    wrong += translates(hypotheses[i], compounds[i], known) ? 0 : 1;
  counts.lines += static_cast<long>(contexts);
  counts.wrong_lines += wrong;
  ++counts.groups;
  counts.wrong_groups += wrong > 0 ? 1 : 0;
}

}  // namespace detail

/// Scores translations.  Translation i belongs to compound i.  kinds[i] is the kind of compound i, such as "NP".
/// Returns the counts of each kind.  Throws data_error in the cases of check_compounds(), if the numbers of lines
/// differ, or if the five lines of a compound have several kinds.
inline std::map<std::string, cter> scores_by_kind(std::span<std::string const> hypotheses,
                                                  std::span<std::string const> compounds,
                                                  std::span<std::string const> kinds, lexicon const& known) {
  if (hypotheses.size() != compounds.size() || kinds.size() != compounds.size())
    refuse("there are {} translations and {} kinds but {} compounds; give one line each, in the order of the test set",
           hypotheses.size(), kinds.size(), compounds.size());
  check_compounds(compounds, known);
  std::map<std::string, cter> result;
  for (std::size_t first = 0; first < compounds.size(); first += contexts) {
    for (std::size_t i = first; i < first + contexts; ++i)
      if (kinds[i] != kinds[first])
        refuse("lines {} and {} have the compound '{}', but are of the kinds {} and {}; expected one kind", first + 1,
               i + 1, compounds[first], kinds[first], kinds[i]);
    detail::count_group(result[kinds[first]], first, hypotheses, compounds, known);
  }
  return result;
}

/// Returns the counts of all kinds together.
inline cter total(std::map<std::string, cter> const& kinds) {
  cter all;
  for (auto const& [kind, counts] : kinds) all += counts;
  return all;
}

}  // namespace triad::programs::cognition
