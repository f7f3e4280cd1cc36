// Where a run's sentences come from: a data set, or our own grammar; a batch is a function of its number.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../common/digest.hpp"
#include "../common/permute.hpp"
#include "grammar.hpp"
#include "options.hpp"
#include "read.hpp"
#include "words.hpp"

namespace cogs {

using sentences = std::vector<tagged_sentence>;

/// Splits of a folder: NAME_seqtag.jsonl or NAME.tsv, gzipped or not.
inline sentences read_split(std::string const& folder, std::string const& name, bool needed = true) {
  for (auto const* ending : {"_seqtag.jsonl.gz", "_seqtag.jsonl", ".tsv.gz", ".tsv", ".jsonl.gz", ".jsonl"})
    if (auto const path = folder + "/" + name + ending; std::filesystem::exists(path)) return read_sentences(path);
  if (needed)
    throw triad::data_error(folder + ": there is no " + name + "_seqtag.jsonl or " + name +
                            ".tsv, gzipped or not; docs/data.md says where they come from");
  return {};
}

struct data_set {
  sentences train, dev, test, gen;
};

/// The splits of a folder.  Training needs train and dev, anything else one that is not train; labels of 2022 need
/// their file.
inline data_set read_data(options const& o, bool training) {
  if (!std::filesystem::is_directory(o.data))
    throw triad::data_error(o.data + ": a folder with train, dev, test and gen is expected");
  bool const corrected = o.labels == "2022";
  data_set d{training ? read_split(o.data, "train") : sentences(), read_split(o.data, "dev", training),
             read_split(o.data, "test", false), read_split(o.data, corrected ? "gen_2022fix" : "gen", corrected)};
  if (!training && d.dev.empty() && d.test.empty() && d.gen.empty())
    throw triad::data_error(o.data +
                            ": there is no sentence of dev, test or gen; docs/data.md says where they come from");
  return d;
}

inline data_set generate_data(options const& o) {
  data_set d;
  sentence_generator train(o.seed), held(0xdef), test(0x7e57);  // far from the training seeds 1, 2, 3 ...
  for (int i = 0; i < o.sentences; ++i) d.train.push_back(train.next());
  for (int i = 0; i < o.test_size; ++i) d.dev.push_back(held.next());
  for (int i = 0; i < o.test_size; ++i) d.test.push_back(held.next());
  for (auto const* kind : generated_kinds)
    for (int i = 0; i < o.test_size; ++i) d.gen.push_back(test.next(kind));
  return d;
}

class task {
 public:
  explicit task(options const& o) : options_(o), data_(o.data.empty() ? generate_data(o) : read_data(o, true)) {
    // The released program numbers the words of all files.
    for (auto const* part : {&data_.train, &data_.test, &data_.dev, &data_.gen})
      for (auto const& s : *part) words_.add(s);
    for (auto const& s : data_.train) {
      numbered_.push_back(numbered(s, words_));
      longest_training_ = std::max(longest_training_, s.size());
    }
    longest_ = longest_training_;
    for (auto const* part : {&data_.test, &data_.dev, &data_.gen})
      for (auto const& s : *part) longest_ = std::max(longest_, s.size());
  }

  data_set const& data() const { return data_; }
  vocabulary const& words() const { return words_; }
  int longest() const { return longest_; }
  int longest_training() const { return longest_training_; }

  /// What the sentences add to the settings that a resumed run must have.
  std::string data_setting() const {
    if (options_.data.empty()) return triad::examples::example_digest::generated();
    triad::examples::example_digest digest;
    for (auto const& sentence : numbered_) {
      digest.begin();
      for (auto const& t : sentence) digest.add({t.token, t.parent, t.role, t.category, t.noun_type, t.verb});
    }
    return digest.setting();
  }

  /// Updates of the whole run, and of one epoch; the last batch of an epoch may be smaller.
  std::int64_t updates() const { return epoch_updates() * options_.epochs; }
  std::int64_t epoch_updates() const {
    return (static_cast<std::int64_t>(numbered_.size()) + options_.batch - 1) / options_.batch;
  }

  /// f(sentence by numbers) for each example of an update: another order in every epoch.
  template <class F>
  void batch(std::int64_t update, F&& f) {
    auto const epoch = update / epoch_updates(), first = update % epoch_updates() * options_.batch;
    if (order_epoch_ != epoch) {
      order_.resize(numbered_.size());
      triad::examples::permute(order_, options_.seed, static_cast<std::uint64_t>(epoch) + 1);
      order_epoch_ = epoch;
    }
    for (auto i = first; i < std::min<std::int64_t>(first + options_.batch, static_cast<std::int64_t>(order_.size()));
         ++i)
      f(numbered_[order_[static_cast<std::size_t>(i)]]);
  }

 private:
  options options_;
  data_set data_;
  vocabulary words_;
  std::vector<std::vector<triad::labelled_token>> numbered_;
  int longest_ = 0, longest_training_ = 0;
  std::vector<std::size_t> order_;
  std::int64_t order_epoch_ = -1;
};

}  // namespace cogs
