// What a run trains on and is tested on; a batch is a function of its number.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "../../common/digest.hpp"
#include "../../common/sample.hpp"
#include "../../common/seq2seq/batches.hpp"
#include "options.hpp"
#include "words.hpp"

namespace dependency {

struct test_part {
  std::string name;
  sentences all;
};
struct data_set {
  sentences train;
  std::vector<test_part> tests;  // dev, test: those that there are
};

/// Files NAME.conllu of a folder, gzipped or not.
inline data_set read_data(options const& o, bool needs_train) {
  if (o.data.empty())
    throw triad::data_error(
        "--task parse needs sentences: give a folder with train, dev and test .conllu with --data; docs/data.md has "
        "the format");
  if (!std::filesystem::is_directory(o.data))
    throw triad::data_error(o.data + ": a folder with train, dev and test .conllu, gzipped or not, is expected");
  auto const read = [&](char const* name) -> sentences {
    for (auto const* ending : {".conllu", ".conllu.gz"})
      if (auto const path = o.data + "/" + name + ending; std::filesystem::exists(path))
        return triad::text::read_conllu(path);
    return {};
  };
  data_set d;
  if (needs_train) {
    d.train = read("train");
    if (d.train.empty())
      throw triad::data_error(o.data +
                              ": there is no sentence in train.conllu or train.conllu.gz; docs/data.md has the format");
  }
  for (auto const* name : {"dev", "test"})
    if (auto part = read(name); !part.empty()) d.tests.push_back({name, std::move(part)});
  if (!needs_train && d.tests.empty())
    throw triad::data_error(o.data +
                            ": there is no sentence in dev.conllu or test.conllu; give another folder with --data");
  return d;
}

class task {
 public:
  task(options const& o, data_set const& data)
      : words_(vocabulary::of(data.train, o.least_count)),
        longest_training_(longest_of(data.train)),
        batches_(lengths(o, data.train), o.tokens, o.seed) {
    for (auto const& s : data.train) numbered_.push_back(numbered(s, words_));
    longest_ = longest_training_;
    for (auto const& part : data.tests) longest_ = std::max(longest_, longest_of(part.all));
    for (auto const& part : data.tests)
      if (part.name == "dev") dev_ = triad::examples::sample(part.all, o.dev_size);
    measured_on_train_ = dev_.empty();
    if (measured_on_train_) dev_ = triad::examples::sample(data.train, o.dev_size);
  }

  vocabulary const& words() const { return words_; }
  int longest() const { return longest_; }
  int longest_training() const { return longest_training_; }
  /// What a checkpoint is measured on: sentences of dev, or of the training set where there is no dev.
  sentences const& dev() const { return dev_; }
  bool measured_on_train() const { return measured_on_train_; }

  /// What the sentences add to the settings that a resumed run must have.
  std::string data_setting() const {
    triad::examples::example_digest digest;
    for (auto const& sentence : numbered_) {
      digest.begin();
      for (auto const& word : sentence) digest.add({word.token, word.parent, word.relation});
    }
    return digest.setting();
  }

  std::int64_t epoch_updates() { return batches_.first_of(1); }
  /// Words of a batch on the average.
  std::int64_t mean_words() {
    std::int64_t all = 0;
    for (auto const& s : numbered_) all += static_cast<std::int64_t>(s.size());
    return all / epoch_updates();
  }

  /// f(sentence by numbers) for each sentence of an update.
  template <class F>
  void batch(std::int64_t update, F&& f) {
    for (auto const i : batches_.batch(update)) f(numbered_[i]);
  }

 private:
  static std::vector<seq2seq::pair_length> lengths(options const& o, sentences const& train) {
    std::vector<seq2seq::pair_length> result;
    for (auto const& s : train) {
      auto const n = static_cast<index_t>(s.words.size());
      if (n > o.tokens)
        throw triad::data_error("a training sentence has " + std::to_string(n) +
                                " words: give --tokens as many, or leave it out");
      result.push_back({n, 0});
    }
    return result;
  }

  vocabulary words_;
  int longest_training_, longest_ = 0;
  seq2seq::token_batches batches_;
  std::vector<std::vector<triad::attached_token>> numbered_;
  sentences dev_;
  bool measured_on_train_ = false;
};

}  // namespace dependency
