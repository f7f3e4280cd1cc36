// Beam search on the host, for any decoder.  The search reads the logits of each step, and finds the best hypotheses of
// each sentence.
// SPDX-License-Identifier: Apache-2.0
//
//   log P(hypothesis) = sum of log softmax(logits)(token)
//   score = log P / length^alpha
//
// The end token is treated like other tokens: it counts in the sum and in the length.
//
// At each step, the k hypotheses of a sentence have k v successors.  The 2 k successors with the largest log P are
// considered in descending order.  If one of the first k successors is the end token, its hypothesis is finished.  The
// best k successors that are not the end token are continued.  A sentence is finished when it has k finished
// hypotheses, or no hypothesis to continue.  fairseq has the same rules.  If two successors have equal log P, the
// successor of the hypothesis with the smaller index comes first.  If both continue one hypothesis, the smaller token
// comes first.  k = 1 is greedy search.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "triad/core/errors.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/sizes.hpp"
#include "triad/core/views.hpp"

namespace triad {

struct beam_search_options {
  index_t beam = 5;           // k
  double length_penalty = 1;  // alpha; 0: no penalty
  index_t n_best = 1;         // the number of hypotheses that best() returns
  index_t longest = 200;      // the number of tokens after which the end token is forced
  index_t shortest = 0;       // the number of tokens that must precede the end token; fairseq: 1
  index_t begin = 0;          // the first token that the decoder reads of every hypothesis
  index_t end = 0;
  std::vector<index_t> forbidden{};  // tokens that are never chosen, such as padding
};

struct hypothesis {
  std::vector<index_t> tokens;  // without the end token
  double score, log_probability;
};

/// A search for the hypotheses of several sentences.  In every step, row h = k s + j belongs to hypothesis j of
/// sentence s.  The logits of a row are ignored if the row is not live().
///
///     beam_search search(sentences, vocabulary, options);
///     while (!search.done()) {
///       // a decoder's row h continues its earlier row search.parents()[h], and reads search.last_tokens()[h]
///       search.advance(logits);
///     }
///     auto const found = search.best(0);
class beam_search {
 public:
  /// Allocates memory for batches of up to `sentences` sentences.  The first batch has this number of sentences.
  beam_search(index_t sentences, index_t vocabulary, beam_search_options options)
      : most_(sentences), v_(vocabulary), k_(options.beam), options_(std::move(options)) {
    auto const token = [&](index_t t) { return t >= 0 && t < vocabulary; };
    TRIAD_EXPECTS(k_ > 0, "beam_search: beam is " + std::to_string(k_) + ", expected 1 or more");
    TRIAD_EXPECTS(sentences >= 0, "beam_search: sentences are " + std::to_string(sentences) + ", expected 0 or more");
    TRIAD_EXPECTS(options_.n_best > 0 && options_.n_best <= k_,
                  "beam_search: n_best is " + std::to_string(options_.n_best) + ", expected 1 to " +
                      std::to_string(k_) + ", the beam");
    TRIAD_EXPECTS(options_.shortest >= 0 && options_.shortest <= options_.longest,
                  "beam_search: shortest is " + std::to_string(options_.shortest) + ", expected 0 to " +
                      std::to_string(options_.longest) + ", the longest");
    TRIAD_EXPECTS(options_.longest <= largest_size, "beam_search: longest is " + std::to_string(options_.longest) +
                                                        " tokens, expected 0 to " + std::to_string(largest_size));
    TRIAD_EXPECTS(
        is_finite(options_.length_penalty),
        "beam_search: length_penalty is " + std::to_string(options_.length_penalty) + ", expected a finite number");
    TRIAD_EXPECTS(token(options_.end), "beam_search: end is " + std::to_string(options_.end) +
                                           ", expected a token of the vocabulary, 0 to " + std::to_string(v_ - 1));
    TRIAD_EXPECTS(options_.begin >= 0,
                  "beam_search: begin is " + std::to_string(options_.begin) + ", expected 0 or more");
    for (index_t const t : options_.forbidden)
      TRIAD_EXPECTS(token(t) && t != options_.end, "beam_search: forbidden token " + std::to_string(t) +
                                                       ", expected a token of the vocabulary, 0 to " +
                                                       std::to_string(v_ - 1) + ", other than the end, " +
                                                       std::to_string(options_.end));
    allowed_.assign(size(v_), 1);
    for (index_t const t : options_.forbidden) allowed_[size(t)] = 0;
    auto const room = [](char const* what, index_t a, index_t b) {
      index_t const product = checked_product("beam_search", what, a, b);
      (void)checked_product("beam_search", what, product, index_t{sizeof(finish)});  // the bytes must fit too
      return product;
    };
    (void)room("hypotheses that are looked at", 2, k_);
    index_t const all = room("sentences and hypotheses", sentences, k_);
    auto const rows = size(all);
    for (auto* v : {&token_, &parent_}) v->resize(size(room("hypotheses and steps", all, options_.longest + 2)));
    for (auto* v : {&sum_, &log_total_}) v->resize(rows);
    live_.resize(rows);
    finished_.resize(rows);
    for (auto* v : {&ends_, &longest_}) v->resize(size(sentences));
    candidates_.reserve(size(2 * k_));
    restart(sentences);
  }

  /// Starts a search for another batch in the same memory.
  void restart(index_t sentences) {
    TRIAD_EXPECTS(sentences >= 0 && sentences <= most_, "beam_search: " + std::to_string(sentences) +
                                                            " sentences, expected 0 to " + std::to_string(most_) +
                                                            ", the most that it was made for");
    sentences_ = sentences;
    step_ = 0;
    open_ = sentences;
    std::fill(ends_.begin(), ends_.end(), index_t{0});
    std::fill(longest_.begin(), longest_.end(), options_.longest);
    for (index_t r = 0; r < rows(); ++r) {
      token_[size(r)] = options_.begin;
      parent_[size(r)] = r;
      live_[size(r)] = r % k_ == 0 ? 1 : 0;  // the rows of one sentence are equal at first, so only one of them is live
      sum_[size(r)] = 0;
    }
  }
  /// Sets the largest number of tokens for one sentence.  The number is limited to options.shortest .. options.longest.
  /// Call this function before the first step.
  void limit(index_t sentence, index_t longest) {
    TRIAD_EXPECTS(sentence >= 0 && sentence < sentences_, "beam_search: a limit of sentence " +
                                                              std::to_string(sentence) + ", expected 0 to " +
                                                              std::to_string(sentences_ - 1));
    TRIAD_EXPECTS(step_ == 0, "beam_search: a limit after " + std::to_string(step_) +
                                  " steps, expected before the first; restart() first");
    longest_[size(sentence)] = std::clamp(longest, options_.shortest, options_.longest);
  }

  /// Returns the largest number of steps for this batch: one step for each token of the longest hypothesis, and one
  /// step for the end token.
  index_t most_steps() const {
    index_t most = 0;
    for (index_t s = 0; s < sentences_; ++s) most = std::max(most, longest_[size(s)]);
    return most + 1;
  }
  bool done() const { return open_ == 0; }
  index_t rows() const { return sentences_ * k_; }
  /// The number of tokens of every live hypothesis, which is also the position of the next token.
  index_t step() const { return step_; }
  /// (rows) The last token of each hypothesis.  Before the first step, this is the begin token.
  std::span<index_t const> last_tokens() const { return of_step(token_); }
  /// (rows) The row of the previous step that each hypothesis continues.  At the first step, and in rows that are not
  /// live, this is the number of the row.
  std::span<index_t const> parents() const { return of_step(parent_); }
  /// (rows) 1 if the search needs the logits of the next token of the row.  0 for all rows of a finished sentence.
  std::span<std::uint8_t const> live() const { return {live_.data(), size(rows())}; }

  /// Adds a token to each hypothesis.  logits (rows, v) are the logits of the next token.  Only live rows are read.  A
  /// logit of minus infinity excludes a token.  Log probabilities are summed in double.  Exponentials are computed in
  /// the type of the logits.  If a row has a NaN or plus infinity, or excludes all tokens, throws data_error and
  /// changes nothing.
  template <class Logits>
  void advance(Logits logits) {
    using T = element_t<Logits>;
    auto const x = matrix<T const>(as_matrix(logits));
    TRIAD_EXPECTS(!done(), "beam_search: a step after all sentences have ended, expected none; restart() for others");
    expect_shape("beam_search", "logits", x, {rows(), v_});
    for (index_t r = 0; r < rows(); ++r)
      if (live_[size(r)] != 0) log_total_[size(r)] = log_total(x, r);
    for (index_t s = 0; s < sentences_; ++s) {
      candidates_.clear();
      for (index_t r = s * k_; r < (s + 1) * k_; ++r)
        if (live_[size(r)] != 0) collect(x, r, step_ >= longest_[size(s)]);
      choose(s);
    }
    ++step_;
  }

  /// Returns the n_best finished hypotheses of a sentence, in descending order of score.  Returns fewer hypotheses if
  /// fewer are finished.
  std::vector<hypothesis> best(index_t sentence) const {
    TRIAD_EXPECTS(sentence >= 0 && sentence < sentences_, "beam_search: sentence " + std::to_string(sentence) +
                                                              ", expected 0 to " + std::to_string(sentences_ - 1));
    auto const first = finished_.begin() + sentence * k_;
    std::vector<finish> found(first, first + ends_[size(sentence)]);
    std::stable_sort(found.begin(), found.end(), [](finish const& a, finish const& b) { return a.score > b.score; });
    found.resize(std::min(found.size(), size(options_.n_best)));
    std::vector<hypothesis> result;
    for (auto const& f : found) {
      hypothesis h{std::vector<index_t>(size(f.tokens)), f.score, f.sum};
      index_t row = f.row;
      for (index_t t = f.tokens; t > 0; --t) {
        h.tokens[size(t - 1)] = token_[size(t * rows() + row)];
        row = parent_[size(t * rows() + row)];
      }
      result.push_back(std::move(h));
    }
    return result;
  }

 private:
  struct candidate {
    double sum;
    index_t row, token;
  };
  struct finish {
    double score, sum;
    index_t tokens, row;  // row: the row of the hypothesis in the step after `tokens` tokens
  };

  static std::size_t size(index_t n) { return static_cast<std::size_t>(n); }
  static bool better(candidate const& a, candidate const& b) {
    return a.sum != b.sum ? a.sum > b.sum : a.row != b.row ? a.row < b.row : a.token < b.token;
  }
  std::span<index_t const> of_step(std::vector<index_t> const& all) const {
    return {all.data() + step_ * rows(), size(rows())};
  }

  /// Returns the logarithm of the sum of exp(x(r, c)) over c.
  template <class T>
  double log_total(matrix<T const> const& x, index_t r) const {
    T most = x(r, 0);
    for (index_t c = 1; c < v_; ++c) most = x(r, c) > most ? x(r, c) : most;
    double total = 0;
    for (index_t c = 0; c < v_; ++c)
      total += static_cast<double>(std::exp(x(r, c) - most));  // NaN if the largest logit is infinite
    if (!is_finite(total))
      throw data_error("beam_search: the logits of what follows token " + std::to_string(step_) + " of sentence " +
                       std::to_string(r / k_) + ", hypothesis " + std::to_string(r % k_) +
                       ", are no probabilities (a NaN, an infinity, or all masked): " +
                       "look at the model's parameters and at what it was given");
    return static_cast<double>(most) + std::log(total);
  }

  /// Adds the successors of row r to the best 2 k candidates of the sentence.  The candidates are a heap with the worst
  /// candidate at the top.
  template <class T>
  void collect(matrix<T const> const& x, index_t r, bool must_end) {
    double const before = sum_[size(r)] - log_total_[size(r)];
    bool const may_end = step_ >= options_.shortest;
    auto const full = [&] { return candidates_.size() == size(2 * k_); };
    double least = full() ? candidates_.front().sum : -std::numeric_limits<double>::infinity();
    for (index_t c = must_end ? options_.end : 0; c < (must_end ? options_.end + 1 : v_); ++c) {
      double const sum = before + static_cast<double>(x(r, c));
      // Rows and tokens come in ascending order.  So a successor ranks after the worst candidate if their sums are
      // equal.
      if (!(sum > least) || allowed_[size(c)] == 0 || (c == options_.end && !may_end)) continue;
      if (full()) {
        std::pop_heap(candidates_.begin(), candidates_.end(), better);
        candidates_.pop_back();
      }
      candidates_.push_back({sum, r, c});
      std::push_heap(candidates_.begin(), candidates_.end(), better);
      if (full()) least = candidates_.front().sum;
    }
  }

  /// Finishes or continues the hypotheses of sentence s according to the candidates.  Writes the rows of the next step.
  void choose(index_t s) {
    std::sort_heap(candidates_.begin(), candidates_.end(), better);
    index_t const first = s * k_, next = (step_ + 1) * rows();
    auto& ends = ends_[size(s)];
    bool const was_open = std::any_of(live_.begin() + first, live_.begin() + first + k_, [](auto l) { return l != 0; });
    index_t going = 0;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      auto const& c = candidates_[i];
      if (c.token == options_.end) {
        if (i < size(k_) && ends < k_)
          finished_[size(first + ends++)] = {c.sum / std::pow(static_cast<double>(step_ + 1), options_.length_penalty),
                                             c.sum, step_, c.row};
      } else if (going < k_) {
        auto const row = size(first + going++);
        token_[size(next) + row] = c.token;
        parent_[size(next) + row] = c.row;
        sum_[row] = c.sum;
      }
    }
    if (ends == k_) going = 0;
    for (index_t j = 0; j < k_; ++j) {
      live_[size(first + j)] = j < going ? 1 : 0;
      if (j >= going) {
        token_[size(next + first + j)] = options_.end;
        parent_[size(next + first + j)] = first + j;
      }
    }
    if (was_open && going == 0) --open_;
  }

  index_t most_, v_, k_, sentences_ = 0, step_ = 0, open_ = 0;  // open_: the number of unfinished sentences
  beam_search_options options_;
  std::vector<std::uint8_t> allowed_, live_;  // (v), (rows)
  std::vector<index_t> token_, parent_;       // (longest + 2, rows)
  std::vector<double> sum_,
      log_total_;                        // (rows) log P of each hypothesis; log_total() of the row's logits
  std::vector<finish> finished_;         // (sentences, k); sentence s has ends_[s] finished hypotheses
  std::vector<index_t> ends_, longest_;  // (sentences)
  std::vector<candidate> candidates_;    // the candidates of the current sentence
};

}  // namespace triad
