// Tests how training changes the sentences of COGS: dropped words and shifted positions.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <vector>

#include "meanings/cogs/perturb.hpp"
#include "tests/catch.hpp"

namespace programs_cogs_perturb_tests {

using namespace triad::programs::cogs;
using triad::labelled_token;
using triad::random_stream;

std::vector<labelled_token> sentence(int n) {
  std::vector<labelled_token> all;
  for (int i = 0; i < n; ++i) all.push_back({.token = i + 1, .parent = i});
  return all;
}

TEST_CASE("words are dropped at the rate, and each sentence says what its words are") {
  int dropped = 0;
  constexpr int sentences = 2000, words = 10;
  for (std::uint64_t k = 0; k < sentences; ++k) {
    auto s = sentence(words);
    drop_words(s, 0.2, random_stream(1 ^ dropped_words, k));
    auto again = sentence(words);
    drop_words(again, 0.2, random_stream(1 ^ dropped_words, k));
    for (std::size_t i = 0; i < words; ++i) {
      auto const word = static_cast<triad::index_t>(i) + 1;
      CHECK((s[i].word == word && s[i].parent == word - 1 && s[i].position == -1));
      CHECK((s[i].token == word || s[i].token == dropped_word));
      CHECK(again[i].token == s[i].token);
      dropped += s[i].token == dropped_word ? 1 : 0;
    }
  }
  // There are 20,000 words; the standard deviation is 57.
  CHECK((dropped > 4000 - 250 && dropped < 4000 + 250));
  auto whole = sentence(3);
  drop_words(whole, 0, random_stream(1, 1));
  for (auto const& t : whole) CHECK((t.word == -1 && t.token > 0));
}

TEST_CASE("words stand at ordered places, every set of which is as likely") {
  std::map<std::vector<triad::index_t>, int> found;
  for (std::uint64_t k = 0; k < 10'000; ++k) {
    auto s = sentence(2);
    draw_positions(s, 5, random_stream(1 ^ drawn_positions, k));
    REQUIRE((s[0].position >= 0 && s[0].position < s[1].position && s[1].position < 5));
    ++found[{s[0].position, s[1].position}];
  }
  CHECK(found.size() == 10);
  // Each is expected 1000 times; the standard deviation is 30.
  for (auto const& [places, count] : found) CHECK((count > 850 && count < 1150));
  auto full = sentence(4), none = sentence(2);
  draw_positions(full, 4, random_stream(1, 1));
  for (std::size_t i = 0; i < 4; ++i) CHECK(full[i].position == static_cast<triad::index_t>(i));
  draw_positions(none, 0, random_stream(1, 1));
  CHECK((none[0].position == -1 && none[1].position == -1));
}

}  // namespace programs_cogs_perturb_tests
