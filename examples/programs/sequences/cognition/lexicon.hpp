// The atoms of CoGnition's compounds.  Each atom has a class, and translations that count as right.
// SPDX-License-Identifier: Apache-2.0
//
//   atom<TAB>translation/translation/...      one line for each atom; of several lines, the last counts
// A lone `/` means that the atom need not be translated. Any other empty translation, as in `liked<TAB>X/`, matches
// everywhere.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "shared/data/each_line.hpp"
#include "shared/report/refuse.hpp"

namespace triad::programs::cognition {

/// The role of an atom in its compound.  A `modifier` is a whole phrase, such as "he liked".
enum class atom_class { preposition, verb, determiner, adjective, noun, modifier };
inline constexpr std::size_t atom_classes = 6;

/// The modifiers, in the order of their names in a lexicon: mod0, mod1, mod2.
inline constexpr std::array<std::string_view, 3> modifiers = {"he liked", "at the store", "on the floor"};

/// Returns the class of an atom.  Throws data_error if CoGnition has no such atom.
inline atom_class class_of(std::string_view atom) {
  static std::map<std::string, atom_class, std::less<>> const classes = [] {
    std::map<std::string, atom_class, std::less<>> result;
    auto const add = [&](atom_class what, std::initializer_list<char const*> atoms) {
      for (auto const* a : atoms) result.emplace(a, what);
    };
    add(atom_class::preposition, {"about", "around", "before", "behind", "except", "for", "from", "inside", "like",
                                  "near", "on", "to", "toward", "towards", "under", "with", "without"});
    add(atom_class::verb, {"asked", "visited", "heard", "lost", "hated", "stopped", "woke", "found", "watched", "took",
                           "saw", "told", "caught", "liked", "left", "gave", "invited", "met", "chose"});
    add(atom_class::determiner, {"the", "every", "any", "another", "each"});
    add(atom_class::adjective,
        {"small", "red", "dirty", "lazy", "smart", "large", "special", "silly", "quiet", "empty", "fake"});
    add(atom_class::noun, {"dog", "doctor", "sandwich", "hat", "waiter", "lawyer", "peanut", "farmer", "car", "girl",
                           "boyfriend", "child", "chair", "building", "clown", "bee", "apartment", "farm", "airplane"});
    add(atom_class::modifier, {"mod0", "mod1", "mod2"});
    return result;
  }();
  auto const at = classes.find(atom);
  if (at == classes.end()) refuse("'{}' is no atom of CoGnition's compounds", atom);
  return at->second;
}

/// The translations of each atom that count as right.
class lexicon {
 public:
  /// Reads a lexicon.  Throws data_error, with file and line, if a line does not have the form above.
  static lexicon read(std::string const& path) {
    lexicon result;
    each_line(path, [&](std::string const& line) {
      auto const tab = line.find('\t');
      if (tab == 0 || tab == std::string::npos || tab + 1 == line.size() ||
          line.find('\t', tab + 1) != std::string::npos)
        refuse("an atom, a tab and its translations with / between them are expected");
      result.set(line.substr(0, tab), std::string_view(line).substr(tab + 1));
    });
    if (result.translations_.empty())
      refuse("{}: there is no atom in it; is it the lexicon of CoGnition's evaluation?", path);
    return result;
  }

  /// Sets the translations of an atom, which are separated by /.
  void set(std::string const& atom, std::string_view translations) {
    auto& list = translations_[atom];
    list.clear();
    if (translations == "/") return;
    for (std::size_t at = 0;;) {
      auto const end = translations.find('/', at);
      list.emplace_back(translations.substr(at, end == std::string_view::npos ? end : end - at));
      if (end == std::string_view::npos) return;
      at = end + 1;
    }
  }

  /// Returns the translations of an atom.  The list is empty if the atom need not be translated.  Throws data_error if
  /// the lexicon does not have the atom.
  [[nodiscard]] std::vector<std::string> const& of(std::string_view atom) const {
    auto const at = translations_.find(atom);
    if (at == translations_.end()) refuse("the lexicon does not have '{}'; add a line with its translations", atom);
    return at->second;
  }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> translations_;
};

}  // namespace triad::programs::cognition
