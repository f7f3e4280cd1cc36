// Draws sentences of an agent, a verb and a patient, with the words of Basic Sentence Transforms.
// SPDX-License-Identifier: Apache-2.0
//
//   sentence     agent verb patient           noun phrase     determiner, 0 to 4 adjectives, noun
//
// The words are those of the published data. "some" and "bumped" are twice in the lists below, because they occur twice
// as often as other words in the published data.  All draws are uniform and independent, so words need not agree with
// each other, and a word may occur more than once.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "splits.hpp"
#include "triad/core/random.hpp"

namespace triad::programs::transforms {

using word_list = std::span<char const* const>;

inline constexpr std::array<char const*, 24> verbs{
    "bumped", "bumped",  "bought",  "chased",   "convinced", "delivered", "discovered",   "followed",
    "found",  "hugged",  "ignored", "kissed",   "led",       "lost",      "photographed", "remembered",
    "rinsed", "smashed", "sold",    "suprised", "touched",   "walked",    "washed",       "watched"};  // sic
inline constexpr std::array<char const*, 10> determiners{"some", "some", "a",   "her", "his",
                                                         "my",   "one",  "our", "the", "your"};
inline constexpr std::array<char const*, 28> nouns{
    "bamboo", "bear",     "blossom", "burro", "cactus",  "cat",  "cheetah", "cow",  "crocodile", "dog",
    "donkey", "elephant", "flower",  "fox",   "giraffe", "goat", "horse",   "lamb", "leopard",   "pig",
    "rabbit", "reindeer", "rose",    "sheep", "snake",   "tree", "weed",    "zebra"};
/// The adjectives that all splits except ood_new use.
inline constexpr std::array<char const*, 27> adjectives{
    "blue",  "brown",  "cool",   "fat",   "funny",        "green",  "happy",  "hot",      "hungry",
    "large", "medium", "orange", "pink",  "polka-dotted", "poor",   "red",    "rich",     "rough",
    "round", "sad",    "sharp",  "silly", "small",        "smooth", "square", "stripped", "thin"};
/// The adjectives that only ood_new uses.
inline constexpr std::array<char const*, 38> new_adjectives{
    "bald",   "bitter",   "bland",  "bumpy",  "calm",  "complex", "cuddly", "dry",       "dusty",    "excited",
    "fluffy", "friendly", "greasy", "hairy",  "hard",  "hoarse",  "husky",  "jumbo",     "loud",     "moaning",
    "neat",   "noisy",    "proud",  "puny",   "scary", "silent",  "silky",  "simple",    "slippery", "sloppy",
    "soft",   "sour",     "spicy",  "sticky", "sweet", "tender",  "wet",    "whispering"};

struct noun_phrase {
  std::string determiner;
  std::vector<std::string> adjectives;
  std::string noun;
  bool operator==(noun_phrase const&) const = default;
};

struct sentence {
  noun_phrase agent;
  std::string verb;
  noun_phrase patient;
  bool operator==(sentence const&) const = default;
};

/// Returns the text of a sentence, such as "some fat cow kissed the goat".  Different sentences have different texts,
/// because no word is in two of the lists.
inline std::string text_of(sentence const& s) {
  std::string text;
  auto const add = [&](noun_phrase const& p) {
    text += p.determiner + ' ';
    for (auto const& adjective : p.adjectives) text += adjective + ' ';
    text += p.noun;
  };
  add(s.agent);
  text += ' ' + s.verb + ' ';
  add(s.patient);
  return text;
}

inline std::string draw_word(random_stream& random, word_list words) {
  return words[random.below(static_cast<std::uint32_t>(words.size()))];
}

inline noun_phrase draw_noun_phrase(random_stream& random, word_list from, std::uint32_t adjective_count) {
  noun_phrase phrase{draw_word(random, determiners), {}, {}};
  for (std::uint32_t k = 0; k < adjective_count; ++k) phrase.adjectives.push_back(draw_word(random, from));
  phrase.noun = draw_word(random, nouns);
  return phrase;
}

/// Draws a sentence of a split.  A sentence of ood_long has 3 or 4 adjectives in total; any other sentence has 1 or 2.
/// All ways to divide the adjectives between agent and patient are equally likely.
inline sentence draw_sentence(random_stream& random, split of) {
  word_list const from = of == split::ood_new ? word_list(new_adjectives) : word_list(adjectives);
  std::uint32_t const in_all = (of == split::ood_long ? 3u : 1u) + random.below(2), of_agent = random.below(in_all + 1);
  auto agent = draw_noun_phrase(random, from, of_agent);
  auto verb = draw_word(random, verbs);
  return {std::move(agent), std::move(verb), draw_noun_phrase(random, from, in_all - of_agent)};
}

}  // namespace triad::programs::transforms
