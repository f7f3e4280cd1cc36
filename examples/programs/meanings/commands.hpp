// Makes commands with their graphs, to try the program: "take the red cup and the ball , then wash the plate".
// SPDX-License-Identifier: Apache-2.0
//
//   command   clause [, then clause]...
//   clause    verb objects [preposition place]  |  verb and verb object  |  TELL NAME to verb objects
//   objects   object [and object]
//   object    the [colour] noun
//   TELL      tell, ask, order, beg or remind
//
// The nodes are the verbs, the nouns, the names, and slot 0.  Slot 0 stands for the person who gets the command.  The
// edges are:
//
//   agent     from a verb to the person who does it: slot 0, or the NAME after tell
//   theme     from a verb to its objects; after two verbs, both have the object, which then has two parents
//   result    from a verb that makes its object new, such as polish, to its object, in addition to theme
//   on, in    from a verb to the place
//   listener  from tell to the NAME;  content: from tell to the verb of what the NAME shall do
//
// A colour is a label of its noun.  Graphs of tests have three or four clauses, those of training one or two.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meaning.hpp"
#include "triad/core/random.hpp"

namespace triad::programs::meanings {

class command_generator {
 public:
  explicit command_generator(std::uint64_t seed) : random_(seed, 0xc0a1) {}

  /// Returns a command of this number of clauses, in which no noun, name or verb occurs twice.
  meaning next(int clauses) {
    m_ = {};
    used_.clear();
    int const you = m_.add(node::slot(0));
    for (int k = 0; k < clauses; ++k) {
      if (k > 0) words({",", "then"});
      clause(you);
    }
    return canonical(m_);
  }

 private:
  using list = std::vector<std::string_view>;

  void word(std::string_view text) { m_.tokens.emplace_back(text); }
  void words(list const& all) {
    for (auto const text : all) word(text);
  }
  int node_of(std::string_view text) {
    word(text);
    return m_.add(node::token(static_cast<int>(m_.tokens.size()) - 1));
  }
  void edge_of(int from, char const* label, int to) { m_.edges.push_back({from, label, to}); }
  bool happens(double probability) { return random_.uniform() < probability; }
  template <std::size_t N>
  std::string_view one_of(std::array<std::string_view, N> const& all) {
    for (;;)
      if (auto const text = all[random_.below(static_cast<std::uint32_t>(N))]; used_.insert(text).second) return text;
  }

  void clause(int you) {
    if (happens(0.25)) {
      int const tell = node_of(one_of(tells));
      edge_of(tell, "agent", you);
      int const name = node_of(one_of(names));
      edge_of(tell, "listener", name);
      word("to");
      int const verb = action(name);
      edge_of(tell, "content", verb);
      objects({verb});
      return;
    }
    int const verb = action(you);
    if (happens(0.3)) {
      word("and");
      int const other = action(you);
      theme({verb, other});
      return;
    }
    objects({verb});
    if (!happens(0.4)) return;
    auto const* const preposition = happens(0.5) ? "on" : "in";
    word(preposition);
    edge_of(verb, preposition, thing());
  }
  int action(int agent) {
    auto const text = one_of(verbs);
    int const verb = node_of(text);
    edge_of(verb, "agent", agent);
    return verb;
  }
  void objects(std::vector<int> const& of) {
    theme(of);
    if (!happens(0.35)) return;
    word("and");
    theme(of);
  }
  void theme(std::vector<int> const& of) {
    int const noun = thing();
    for (int const verb : of) {
      edge_of(verb, "theme", noun);
      auto const& text = m_.tokens[static_cast<std::size_t>(m_.nodes[static_cast<std::size_t>(verb)].first)];
      if (makers.contains(text)) edge_of(verb, "result", noun);
    }
  }
  int thing() {
    word("the");
    std::string_view colour;
    if (happens(0.4)) word(colour = colours[random_.below(static_cast<std::uint32_t>(colours.size()))]);
    int const noun = node_of(one_of(nouns));
    if (!colour.empty()) m_.node_labels[static_cast<std::size_t>(noun)].emplace_back(colour);
    return noun;
  }

  static constexpr std::array<std::string_view, 12> verbs{"take", "move",  "wash", "polish", "paint", "open",
                                                          "lift", "clean", "hide", "bake",   "fill",  "find"};
  static constexpr std::array<std::string_view, 16> nouns{"cup",   "ball", "plate", "box",  "book", "lamp",
                                                          "table", "door", "chair", "shoe", "coat", "bowl",
                                                          "shelf", "pan",  "key",   "bag"};
  static constexpr std::array<std::string_view, 6> names{"Ada", "Ben", "Cleo", "Dan", "Eve", "Finn"};
  static constexpr std::array<std::string_view, 5> tells{"tell", "ask", "order", "beg", "remind"};
  static constexpr std::array<std::string_view, 4> colours{"red", "blue", "green", "white"};
  inline static std::set<std::string_view> const makers{"polish", "paint", "bake"};

  random_stream random_;
  meaning m_;
  std::set<std::string_view> used_;
};

}  // namespace triad::programs::meanings
