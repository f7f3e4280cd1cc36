// The training data of a run: pairs of token numbers, in batches.  Also counts the pairs that are left out and the
// unknown words.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "shared/report/printed.hpp"
#include "shared/report/refuse.hpp"
#include "shared/run/digest.hpp"
#include "shared/run/permute.hpp"
#include "shared/run/token_batches.hpp"
#include "vocabulary.hpp"

namespace triad::programs::sequences {

struct coded_pair {
  std::vector<index_t> source, target;  // without the begin token and the end token
};

/// Returns the pairs as token numbers.  Throws data_error if a word is spelt like a special token of the dictionary.
inline std::vector<coded_pair> coded(std::vector<text_pair> const& pairs, vocabulary& words) {
  std::vector<coded_pair> result;
  for (auto const& pair : pairs) {
    result.push_back({words.source.encode(pair.source), words.target.encode(pair.target)});
    auto const expect_no_mark = [&](std::string const& mark, char const* side, std::string const& text) {
      if (!mark.empty())
        refuse("pair {}: the {} has the word {}, which is the model's own mark; write it otherwise: {}", result.size(),
               side, mark, shortened(text));
    };
    expect_no_mark(words.source.mark_in(pair.source), "source", pair.source);
    expect_no_mark(words.target.mark_in(pair.target), "target", pair.target);
  }
  return result;
}

/// The number of words that a dictionary does not have, and the first of these words, for messages.
struct unknown_words {
  long long count = 0;
  std::string first;

  void add(std::vector<std::string> const& missing) {
    if (count == 0 && !missing.empty()) first = missing.front();
    count += static_cast<long long>(missing.size());
  }
};

/// Returns a text such as "; 3 unknown source words, such as 'bee'".  Returns an empty text if all words are known.
inline std::string told(unknown_words const& u, char const* side) {
  return u.count == 0
             ? std::string()
             : "; " + std::to_string(u.count) + " unknown " + side + " words, such as '" + shortened(u.first) + "'";
}

/// Returns told() of the sources' and the targets' words; without `targets`, of the sources' words alone.  A target with
/// an unknown word is never translated exactly.
inline std::string unknown_in(std::vector<text_pair> const& pairs, vocabulary& words, bool targets = true) {
  unknown_words source, target;
  for (auto const& pair : pairs) {
    source.add(words.source.unknown(pair.source));
    if (targets) target.add(words.target.unknown(pair.target));
  }
  return told(source, "source") + told(target, "target");
}
/// The same of a part; without the targets' words if they are not divided.
inline std::string unknown_in(test_part const& part, vocabulary& words) {
  return unknown_in(part.pairs, words, !part.undivided);
}

class task {
 public:
  /// Throws data_error if there is no pair to train on.
  task(options const& o, data_set const& data) : task(o, vocabulary::of(data.train, o), data) {}

  vocabulary& words() { return words_; }
  std::size_t pairs() const { return train_.size(); }
  /// The number of pairs that are left out because their targets are longer than --max-train-length.
  std::size_t left_out() const { return left_out_; }
  /// The pairs that checkpoints are validated on.  They are pairs of dev, or of the training set if there is no dev.
  std::vector<text_pair> const& dev() const { return dev_; }
  /// A text about the words of the training set that are not in the dictionaries.
  std::string const& unknown() const { return unknown_; }

  /// Returns a text that identifies the training pairs.  A resumed run must have the same text.
  std::string data_setting() const {
    example_digest digest;
    for (auto const& p : train_) {
      digest.begin();
      for (auto const* side : {&p.source, &p.target}) {
        digest.add({static_cast<std::int64_t>(side->size())});
        for (auto const token : *side) digest.add({token});
      }
    }
    return digest.setting();
  }

  std::int64_t updates() { return options_.epochs > 0 ? updates_of(options_.epochs) : options_.updates; }
  std::int64_t updates_of(std::int64_t epochs) { return batches_.first_of(epochs); }
  std::int64_t epoch_updates() { return batches_.first_of(1); }
  /// The mean number of target tokens in a batch, including end tokens.
  std::int64_t mean_tokens() { return tokens_ / batches_.first_of(1); }
  /// The number of tokens in all pairs, including end tokens, on the side that has more.  No batch has more tokens on
  /// one side.
  index_t all_tokens() const { return std::max(tokens_, source_tokens_); }

  /// The number of tokens of all sources, with end tokens.
  index_t source_tokens() const { return source_tokens_; }

  /// Calls f(pair) for each pair of an update's batch.
  template <class F>
  void batch(std::int64_t update, F&& f) {
    for (auto const i : batches_.batch(update)) f(train_[i]);
  }

 private:
  task(options const& o, vocabulary words, data_set const& data)
      : options_(o),
        words_(std::move(words)),
        train_(kept(o, data.train)),
        dev_(sample(data.dev.empty() ? data.train : data.dev, o.dev_size)),
        batches_(lengths(), o.tokens, o.seed, o.pairs) {
    unknown_ = unknown_in(data.train, words_);
  }

  std::vector<coded_pair> kept(options const& o, std::vector<text_pair> const& pairs) {
    auto all = coded(pairs, words_);
    std::erase_if(all, [&](coded_pair const& p) {
      return o.longest_training > 0 && p.target.size() > static_cast<std::size_t>(o.longest_training);
    });
    left_out_ = pairs.size() - all.size();
    return all;
  }
  std::vector<pair_length> lengths() {
    std::vector<pair_length> result;
    for (auto const& p : train_) {
      auto const source = static_cast<index_t>(p.source.size()), target = static_cast<index_t>(p.target.size());
      words_.longest_source = std::max(words_.longest_source, source);
      words_.longest_target = std::max(words_.longest_target, target);
      result.push_back({source + 1, target + 1});
      tokens_ += target + 1;
      source_tokens_ += source + 1;
    }
    return result;
  }

  options options_;
  vocabulary words_;
  std::size_t left_out_ = 0;
  std::int64_t tokens_ = 0, source_tokens_ = 0;
  std::vector<coded_pair> train_;
  std::vector<text_pair> dev_;
  token_batches batches_;
  std::string unknown_;
};

}  // namespace triad::programs::sequences
