// Tests beam search. Compares it with greedy chains, with all possible sequences, and with a second implementation of
// fairseq's rules. Also tests refused input.
// SPDX-License-Identifier: Apache-2.0
#include "triad/decoding/beam_search.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "tests/allocations.hpp"  // for the whole program: edge_decoder.cpp counts allocations
#include "tests/catch.hpp"
#include "triad/core/random.hpp"

namespace decoding_beam_search_tests {

using namespace triad;
using test::contains;
using test::WithinAbs;
using tokens = std::vector<index_t>;
using logits = std::vector<double>;
using decoder = std::function<logits(index_t sentence, tokens const& before)>;

double const none = std::numeric_limits<double>::quiet_NaN(), masked = -std::numeric_limits<double>::infinity();

/// Returns a model that has different logits for every sentence and every prefix.
decoder random_decoder(index_t v, double range = 2) {
  return [=](index_t sentence, tokens const& before) {
    std::uint64_t stream = 17 + static_cast<std::uint64_t>(sentence);
    for (index_t const t : before) stream = stream * 31 + static_cast<std::uint64_t>(t) + 1;
    random_stream random(5, stream);
    logits x(static_cast<std::size_t>(v));
    for (auto& e : x) e = random.uniform(-range, range);
    return x;
  };
}

/// Searches like a decoder with caches: each row stores its prefix, and copies the prefix from its parent. A row that
/// is no longer used contains NaN.
template <class T = double>
void run(beam_search& search, index_t v, decoder const& model, std::vector<index_t> const& sentences,
         index_t begin = 0) {
  auto const rows = static_cast<std::size_t>(search.rows());
  std::vector<tokens> cache(rows);
  index_t const k = search.rows() / static_cast<index_t>(sentences.size());
  while (!search.done()) {
    auto const parents = search.parents(), last = search.last_tokens();
    auto const before = cache;
    std::vector<T> x(rows * static_cast<std::size_t>(v), static_cast<T>(none));
    for (std::size_t r = 0; r < rows; ++r) {
      REQUIRE(parents[r] / k == static_cast<index_t>(r) / k);  // the parent belongs to the same sentence
      cache[r] = before[static_cast<std::size_t>(parents[r])];
      if (search.step() == 0)
        REQUIRE(last[r] == begin);
      else
        cache[r].push_back(last[r]);
      if (search.live()[r] == 0) continue;
      auto const row = model(sentences[r / static_cast<std::size_t>(k)], cache[r]);
      for (std::size_t c = 0; c < row.size(); ++c) x[r * row.size() + c] = static_cast<T>(row[c]);
    }
    search.advance(tensor<T const, dyn, dyn>(x.data(), search.rows(), v));
  }
}
std::vector<hypothesis> found(beam_search_options const& options, index_t v, decoder const& model,
                              index_t sentence = 0) {
  beam_search search(1, v, options);
  run(search, v, model, {sentence}, options.begin);
  return search.best(0);
}

double log_softmax(logits const& x, index_t c) {
  double sum = 0;
  for (double const e : x) sum += std::exp(e);
  return x[static_cast<std::size_t>(c)] - std::log(sum);
}
void expect_same(std::vector<hypothesis> const& a, std::vector<hypothesis> const& b, double within = 1e-12) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    CHECK(a[i].tokens == b[i].tokens);
    CHECK_THAT(a[i].score, WithinAbs(b[i].score, within));
    CHECK_THAT(a[i].log_probability, WithinAbs(b[i].log_probability, within));
  }
}
void sort(std::vector<hypothesis>& all) {
  std::stable_sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.score > b.score; });
}

TEST_CASE("a beam of one follows the likeliest token from link to link until the end") {
  // Row r has the logits after token r: 1 -> 3 -> 2 -> 4 -> 0, which is the end. The likeliest token is always 5, the
  // padding token, which may not be chosen.
  std::vector<logits> const chain{{9, 9, 9, 9, 9, 9}, {0, 1, 2, 5, 1, 8}, {0, 1, 1, 1, 3, 8},
                                  {2, 0, 4, 3, 1, 8}, {7, 1, 2, 3, 4, 8}, {9, 9, 9, 9, 9, 9}};
  beam_search_options options{.beam = 1, .begin = 1, .end = 0, .forbidden = {5}};
  auto const model = [&](index_t, tokens const& before) {
    return chain[static_cast<std::size_t>(before.empty() ? 1 : before.back())];
  };
  auto const all = found(options, 6, model);
  REQUIRE(all.size() == 1);
  CHECK(all[0].tokens == tokens{3, 2, 4});
  double const sum =
      log_softmax(chain[1], 3) + log_softmax(chain[3], 2) + log_softmax(chain[2], 4) + log_softmax(chain[4], 0);
  CHECK_THAT(all[0].log_probability, WithinAbs(sum, 1e-12));
  CHECK_THAT(all[0].score, WithinAbs(sum / 4, 1e-12));
  beam_search search(2, 6, options);
  run(
      search, 6,
      [&](index_t sentence, tokens const& before) {
        return sentence == 0 ? model(0, before) : logits{9, 0, 0, 0, 0, 0};
      },
      {0, 1}, 1);
  CHECK(search.step() == 4);  // no more steps than needed
  CHECK(search.best(0)[0].tokens == all[0].tokens);
  CHECK(search.best(1)[0].tokens.empty());
  options.longest = 2;  // forces the end, even if it is unlikely
  CHECK(found(options, 6, model)[0].tokens == tokens{3, 2});
  options.longest = 0;
  CHECK(found(options, 6, model)[0].tokens.empty());
}

TEST_CASE("a beam that holds all sequences finds them all, in the order of their scores") {
  constexpr index_t v = 5, end = 3, padding = 1, longest = 4;
  for (index_t sentence : {0, 1, 2}) {
    auto const model = random_decoder(v);
    std::vector<hypothesis> all;
    std::function<void(tokens const&, double)> const follow = [&](tokens const& before, double sum) {
      auto const x = model(sentence, before);
      all.push_back({before, 0, sum + log_softmax(x, end)});
      if (before.size() == longest) return;
      for (index_t c : {0, 2, 4}) {
        auto next = before;
        next.push_back(c);
        follow(next, sum + log_softmax(x, c));
      }
    };
    follow({}, 0);
    REQUIRE(all.size() == 1 + 3 + 9 + 27 + 81);
    for (double alpha : {0.0, 0.6, 1.0, 2.0}) {
      CAPTURE(sentence, alpha);
      for (auto& h : all) h.score = h.log_probability / std::pow(static_cast<double>(h.tokens.size() + 1), alpha);
      sort(all);
      auto const n = static_cast<index_t>(all.size());
      beam_search_options options{
          .beam = n, .length_penalty = alpha, .n_best = n, .longest = longest, .end = end, .forbidden = {padding}};
      expect_same(found(options, v, model, sentence), all);
      options.beam = 3 * n;
      options.n_best = 7;
      expect_same(found(options, v, model, sentence), {all.begin(), all.begin() + 7});
    }
  }
}

/// Implements the rules in the header a second time: lists all successors, and sorts them.
std::vector<hypothesis> by_the_rules(beam_search_options const& o, index_t v, decoder const& model, index_t sentence) {
  std::vector<hypothesis> live{{{}, 0, 0}}, finished;
  auto const k = static_cast<std::size_t>(o.beam);
  for (index_t step = 0; !live.empty() && finished.size() < k; ++step) {
    std::vector<hypothesis> next;
    for (auto const& h : live) {
      auto const x = model(sentence, h.tokens);
      for (index_t c = 0; c < v; ++c) {
        bool const forced = step == o.longest && c != o.end, early = step < o.shortest && c == o.end;
        if (forced || early || std::count(o.forbidden.begin(), o.forbidden.end(), c) != 0) continue;
        next.push_back({h.tokens, 0, h.log_probability + log_softmax(x, c)});
        next.back().tokens.push_back(c);
      }
    }
    std::stable_sort(next.begin(), next.end(),
                     [](auto const& a, auto const& b) { return a.log_probability > b.log_probability; });
    next.resize(std::min(next.size(), 2 * k));
    live.clear();
    for (std::size_t i = 0; i < next.size(); ++i) {
      auto& h = next[i];
      if (h.tokens.back() != o.end) {
        if (live.size() < k) live.push_back(h);
      } else if (i < k && finished.size() < k) {
        h.score = h.log_probability / std::pow(static_cast<double>(h.tokens.size()), o.length_penalty);
        h.tokens.pop_back();
        finished.push_back(h);
      }
    }
  }
  sort(finished);
  finished.resize(std::min(finished.size(), static_cast<std::size_t>(o.n_best)));
  return finished;
}

TEST_CASE("narrow beams choose as the rules say, and sentences do not know of each other") {
  constexpr index_t v = 9;
  auto const model = random_decoder(v, 3);
  for (index_t k : {1, 2, 3, 5})
    for (index_t shortest : {0, 3})
      for (double alpha : {0.0, 1.0}) {
        CAPTURE(k, shortest, alpha);
        beam_search_options options{
            .beam = k, .length_penalty = alpha, .n_best = k, .longest = 12, .shortest = shortest};
        options.begin = 40;
        options.end = 8;
        options.forbidden = {0, 5};
        beam_search search(7, v, options);
        std::vector<index_t> const all{0, 1, 2, 3, 4, 5, 6}, some{6, 2, 2};
        run(search, v, model, all, 40);
        for (index_t s : all) expect_same(search.best(s), by_the_rules(options, v, model, s));
        search.restart(3);
        CHECK(search.rows() == 3 * k);
        run<float>(search, v, model, some, 40);
        for (std::size_t s = 0; s < 3; ++s) {
          auto const best = search.best(static_cast<index_t>(s));
          expect_same(best, by_the_rules(options, v, model, some[s]), 1e-5);
          for (auto const& h : best) {
            CHECK(static_cast<index_t>(h.tokens.size()) >= shortest);
            CHECK(h.tokens.size() <= 12);
            for (index_t const t : h.tokens) CHECK((t != 0 && t != 5 && t != 8));
          }
        }
      }
}

TEST_CASE("a sentence has a limit of its own, and a wide beam ends with fewer where there are no more") {
  auto const model = [](index_t, tokens const&) { return logits{1, 2, -40}; };
  beam_search search(3, 3, {.beam = 2, .n_best = 2, .longest = 6, .end = 2});
  search.limit(1, 3);
  search.limit(2, 100);
  run(search, 3, model, {0, 1, 2});
  CHECK(search.best(0)[0].tokens == tokens(6, 1));
  CHECK(search.best(1)[0].tokens == tokens(3, 1));
  CHECK(search.best(2)[0].tokens == tokens(6, 1));
  CHECK(search.best(2)[1].tokens.size() == 6);
  auto const few = found({.beam = 4, .n_best = 4, .longest = 1, .end = 2}, 3, model);
  REQUIRE(few.size() == 3);  // the empty sequence, 0 and 1
  auto const dumb = [](index_t, tokens const&) { return logits{1, 2, masked}; };
  CHECK(found({.beam = 2, .longest = 3, .end = 2}, 3, dumb).empty());  // the forced end has probability 0
}

TEST_CASE("of equals the smaller hypothesis and the smaller token come first") {
  auto const model = [](index_t, tokens const&) { return logits(3, 0.0); };
  auto const all = found({.beam = 2, .n_best = 2, .longest = 2, .end = 2}, 3, model);
  REQUIRE(all.size() == 2);
  CHECK(all[0].tokens == tokens{0, 0});
  CHECK(all[1].tokens == tokens{0, 1});
  // Now the end is the smallest token.
  auto const early = found({.beam = 2, .n_best = 2, .longest = 2, .end = 0}, 3, model);
  REQUIRE(early.size() == 2);
  CHECK(early[0].score == early[1].score);
  CHECK(early[0].tokens.empty());
  CHECK(early[1].tokens == tokens{1});
}

TEST_CASE("logits that are no probabilities are refused with their hypothesis, and change nothing") {
  double const infinite = std::numeric_limits<double>::infinity();
  beam_search search(2, 3, {.beam = 2, .longest = 4, .end = 2});
  for (auto const& bad :
       {logits{0, none, 0}, logits{none, 0, 0}, logits{0, 0, infinite}, logits{masked, masked, masked}}) {
    logits x(12, 0.0);
    std::copy(bad.begin(), bad.end(), x.begin() + 6);
    CHECK_THROWS_AS(search.advance(tensor<double const, dyn, dyn>(x.data(), 4, 3)), data_error);
    CHECK_THROWS_WITH(search.advance(tensor<double const, dyn, dyn>(x.data(), 4, 3)),
                      contains("token 0 of sentence 1, hypothesis 0, are no probabilities"));
    CHECK(search.step() == 0);
  }
  run(search, 3, random_decoder(3), {0, 1});
  beam_search fresh(2, 3, {.beam = 2, .longest = 4, .end = 2});
  run(fresh, 3, random_decoder(3), {0, 1});
  for (index_t s : {0, 1}) expect_same(search.best(s), fresh.best(s), 0);
}

TEST_CASE("searches that cannot be are refused with a sentence") {
  auto const make = [](beam_search_options const& o, index_t sentences = 1) { return beam_search(sentences, 4, o); };
  CHECK_THROWS_WITH(make({.beam = 0}), contains("beam is 0, expected 1 or more"));
  CHECK_THROWS_WITH(make({.beam = 2, .n_best = 3}), contains("n_best is 3, expected 1 to 2, the beam"));
  CHECK_THROWS_WITH(make({.longest = 3, .shortest = 4}), contains("shortest is 4, expected 0 to 3, the longest"));
  CHECK_THROWS_WITH(make({.length_penalty = none}), contains("expected a finite number"));
  CHECK_THROWS_WITH(make({.end = 4}), contains("end is 4, expected a token of the vocabulary, 0 to 3"));
  CHECK_THROWS_WITH(make({.end = 1, .forbidden = {1}}),
                    contains("forbidden token 1, expected a token of the vocabulary, 0 to 3, other than the end, 1"));
  CHECK_THROWS_WITH(make({.end = 1, .forbidden = {4}}),
                    contains("forbidden token 4, expected a token of the vocabulary, 0 to 3, other than the end, 1"));
  constexpr auto most = std::numeric_limits<index_t>::max();
  CHECK_THROWS_WITH(make({.longest = most}), contains("longest is 9223372036854775807 tokens"));
  CHECK_THROWS_WITH(make({.longest = largest_size}, most / 2), contains("expected a product below 2^63"));
  CHECK_THROWS_WITH(make({.beam = most}), contains("expected a product below 2^63"));
  auto search = make({.beam = 2, .longest = 0}, 2);
  CHECK_THROWS_WITH(search.restart(3), contains("3 sentences, expected 0 to 2"));
  CHECK_THROWS_WITH(search.best(2), contains("sentence 2, expected 0 to 1"));
  logits const x(16);
  CHECK_THROWS_WITH(search.advance(tensor<double const, dyn, dyn>(x.data(), 2, 4)),
                    contains("beam_search: logits is ("));
  search.advance(tensor<double const, dyn, dyn>(x.data(), 4, 4));
  CHECK(search.done());
  CHECK_THROWS_WITH(search.limit(0, 3), contains("expected before the first; restart() first"));
  CHECK_THROWS_WITH(search.advance(tensor<double const, dyn, dyn>(x.data(), 4, 4)),
                    contains("a step after all sentences have ended"));
  search.restart(0);
  CHECK((search.done() && search.rows() == 0));
}

TEST_CASE("allocations of this program are counted") { CHECK(test::allocations.load() > 0); }

}  // namespace decoding_beam_search_tests
