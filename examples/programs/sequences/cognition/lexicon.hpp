// The atoms of CoGnition's compounds.  Each atom has a class, and translations that count as right.
// SPDX-License-Identifier: Apache-2.0
//
//   atom<TAB>translation/translation/...[<TAB>class]    one line for each atom; of several lines, the last counts
// A lone `/` means that the atom need not be translated. Any other empty translation, as in `liked<TAB>X/`, matches
// everywhere.  Without a class, the atom has the class that it has in CoGnition's compounds.  An atom with a class may
// be a phrase of several words.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/data/each_line.hpp"
#include "shared/report/refuse.hpp"
#include "triad/io/text/characters.hpp"

namespace triad::programs::cognition {

/// The role of an atom in its compound.  A `modifier` is a whole phrase, such as "he liked".
enum class atom_class { preposition, verb, determiner, adjective, noun, modifier };
inline constexpr std::size_t atom_classes = 6;
/// The names of the classes in a lexicon.
inline constexpr std::array<std::string_view, atom_classes> class_names = {"preposition", "verb", "determiner",
                                                                           "adjective",   "noun", "modifier"};

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
  if (at == classes.end()) refuse("'{}' is no atom of CoGnition's compounds; give its class in the lexicon", atom);
  return at->second;
}

/// The translations of each atom that count as right, and the class of each atom.
class lexicon {
 public:
  /// The lexicon without translations.  It knows the phrases and the classes of CoGnition.
  lexicon() {
    for (std::size_t m = 0; m < modifiers.size(); ++m)
      phrases_.push_back({text::words(std::string(modifiers[m])), "mod" + std::to_string(m)});
  }

  /// Reads a lexicon.  Throws data_error, with file and line, if a line does not have the form above.
  static lexicon read(std::string const& path) {
    lexicon result;
    each_line(path, [&](std::string const& line) { result.add(line); });
    if (result.translations_.empty())
      refuse("{}: there is no atom in it; is it the lexicon of CoGnition's evaluation?", path);
    return result;
  }

  /// Adds the atom of a line.  Throws data_error if the line does not have the form above.
  void add(std::string const& line) {
    auto const tab = line.find('\t'), second = tab == std::string::npos ? tab : line.find('\t', tab + 1);
    if (tab == 0 || tab == std::string::npos || tab + 1 == std::min(line.size(), second) ||
        (second != std::string::npos && line.find('\t', second + 1) != std::string::npos))
      refuse(
          "an atom, a tab and its translations with / between them are expected, and optionally a tab and its class");
    auto const whole = std::string_view(line);
    auto const translations = whole.substr(tab + 1, second == std::string::npos ? second : second - tab - 1);
    std::optional<atom_class> what;
    if (second != std::string::npos) {
      auto const name = whole.substr(second + 1);
      auto const at = std::find(class_names.begin(), class_names.end(), name);
      if (at == class_names.end())
        refuse("the class of an atom: found '{}', expected preposition, verb, determiner, adjective, noun or modifier",
               name);
      what = static_cast<atom_class>(at - class_names.begin());
    }
    set(line.substr(0, tab), translations, what);
  }

  /// Sets the translations of an atom, which are separated by /, and its class unless it is an atom of CoGnition.
  void set(std::string const& atom, std::string_view translations, std::optional<atom_class> what = {}) {
    if (what) {
      classes_[atom] = *what;
      if (atom.find(' ') != std::string::npos) phrases_.insert(phrases_.begin(), {text::words(atom), atom});
    }
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

  /// Returns the class of an atom.  Throws data_error if neither the lexicon nor CoGnition has its class.
  [[nodiscard]] atom_class class_of(std::string_view atom) const {
    auto const at = classes_.find(atom);
    return at == classes_.end() ? cognition::class_of(atom) : at->second;
  }

  /// Divides a text into atoms.  An atom is a phrase of the lexicon or of CoGnition, or else a word.
  [[nodiscard]] std::vector<std::string> atoms_of(std::string const& compound) const {
    auto const words = text::words(compound);
    std::vector<std::string> result;
    for (auto at = words.begin(); at != words.end();) {
      auto const left = static_cast<std::size_t>(words.end() - at);
      auto const found = std::find_if(phrases_.begin(), phrases_.end(), [&](phrase const& p) {
        return p.words.size() <= left && std::equal(p.words.begin(), p.words.end(), at);
      });
      result.push_back(found == phrases_.end() ? *at : found->atom);
      at += found == phrases_.end() ? 1 : static_cast<std::ptrdiff_t>(found->words.size());
    }
    return result;
  }

 private:
  struct phrase {
    std::vector<std::string> words;
    std::string atom;  // its name in the lexicon
  };
  std::vector<phrase> phrases_;
  std::map<std::string, atom_class, std::less<>> classes_;
  std::map<std::string, std::vector<std::string>, std::less<>> translations_;
};

}  // namespace triad::programs::cognition
