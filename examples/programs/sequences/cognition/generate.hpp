// Generates commands and their actions with a small grammar, for runs and tests without data.
// SPDX-License-Identifier: Apache-2.0
//
//   sentence -> phrase | sentence then phrase | sentence after phrase   x after y: the actions of y come first
//   phrase   -> verb [direction] [times]                                hop left twice -> LEFT HOP LEFT HOP
//   verb     -> hop | clap | nod | wave | step | bow | spin
//   direction -> left | right | around      times -> twice | thrice
//
// "around" means four turns with the verb after each turn.  Each kind of test sentence has something that training
// sentences do not have:
//   new_verb  In training, "spin" occurs only alone, in every 20th sentence.  In these tests it has a direction or a
//             number, or is in a longer sentence.
//   new_pair  "bow around".  In training, both words occur, but not side by side.
//   longer    Three phrases.  Training sentences have one or two.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "distinct_pairs.hpp"
#include "options.hpp"
#include "sequences/data.hpp"
#include "triad/core/random.hpp"

namespace triad::programs::cognition {

/// The kinds of test sentences, in the order in which they are generated.
inline constexpr std::array<char const*, 3> generated_kinds{"new_verb", "new_pair", "longer"};

struct phrase {
  int verb = 0, direction = 0, times = 1;  // direction 0: there is no direction

  std::string command() const {
    static constexpr std::array<char const*, 7> verbs{"hop", "clap", "nod", "wave", "step", "bow", "spin"};
    static constexpr std::array<char const*, 4> directions{"", " left", " right", " around"},
        numbers{"", "", " twice", " thrice"};
    return verbs[at(verb)] + std::string(directions[at(direction)]) + numbers[at(times)];
  }
  std::string actions() const {
    static constexpr std::array<char const*, 7> verbs{"HOP", "CLAP", "NOD", "WAVE", "STEP", "BOW", "SPIN"};
    static constexpr std::array<char const*, 4> turns{"", "LEFT ", "RIGHT ", "LEFT "};
    std::string result;
    for (int i = 0; i < times * (direction == 3 ? 4 : 1); ++i)
      result += (result.empty() ? "" : " ") + std::string(turns[at(direction)]) + verbs[at(verb)];
    return result;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
};

/// Draws distinct sentences.
class command_generator {
 public:
  explicit command_generator(std::uint64_t seed) : random_(seed) {}

  /// Draws a sentence like those of the training set.  Throws data_error if almost all draws repeat earlier sentences.
  text_pair next() {
    return fresh("in_distribution", [this] { return known(random_.chance(1, 10) ? 1 : 2); });
  }

  /// Draws a test sentence of a kind.
  text_pair next(std::string const& kind) {
    return fresh(kind, [&] {
      if (kind == "longer") return known(3);
      auto phrases = known(1 + random_.below(2));
      auto& odd = phrases[static_cast<std::size_t>(random_.below(static_cast<int>(phrases.size())))];
      if (kind == "new_pair") {
        odd.verb = bow;
        odd.direction = around;
      } else {
        odd.verb = spin;
        if (phrases.size() == 1 && odd.direction == 0 && odd.times == 1) odd.times = 2;
      }
      return phrases;
    });
  }

 private:
  static constexpr int bow = 5, spin = 6, around = 3;

  /// Draws `count` phrases as they occur in training sentences.
  std::vector<phrase> known(int count) {
    std::vector<phrase> result;
    while (static_cast<int>(result.size()) < count) {
      phrase const p{random_.below(spin), random_.below(4), 1 + random_.below(3)};
      if (p.verb != bow || p.direction != around) result.push_back(p);
    }
    return result;
  }

  template <class Draw>
  text_pair fresh(std::string const& kind, Draw&& draw) {
    return distinct_([&] {
      auto const phrases = draw();
      text_pair pair{phrases.front().command(), phrases.front().actions(), kind};
      for (std::size_t i = 1; i < phrases.size(); ++i) {
        bool const after = random_.chance(1, 2);
        pair.source += (after ? " after " : " then ") + phrases[i].command();
        pair.target = after ? phrases[i].actions() + " " + pair.target : pair.target + " " + phrases[i].actions();
      }
      return pair;
    });
  }

  counter_random random_;
  distinct_pairs distinct_;
};

/// Generates all parts of the data.  No sentence is in two parts, and no sentence except "spin" occurs twice.
inline sequences::data_set generate_data(options const& o) {
  command_generator draw(o.data_seed);
  sequences::data_set d;
  sequences::test_part gen{"gen", {}}, test{"test", {}};
  for (int i = 0; i < o.sentences; ++i)
    d.train.push_back(i % 20 == 0 ? text_pair{"spin", "SPIN", "in_distribution"} : draw.next());
  for (int i = 0; i < o.test_size; ++i) d.dev.push_back(draw.next());
  for (int i = 0; i < o.test_size; ++i) test.pairs.push_back(draw.next());
  for (auto const* kind : generated_kinds)
    for (int i = 0; i < o.test_size; ++i) gen.pairs.push_back(draw.next(kind));
  d.tests = {test, gen};
  return d;
}

}  // namespace triad::programs::cognition
