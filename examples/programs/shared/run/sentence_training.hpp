// The part of the training code of sentence parsers that does not depend on the task.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "digest.hpp"
#include "shared/backend/in_batches.hpp"
#include "shared/cli/record.hpp"
#include "training.hpp"

namespace triad::programs {

/// Net must have clear() and add(sentence).  A derived class sets words_, examples_ and net_, and chooses the examples
/// of each update.
template <class Net, class Token>
class sentence_training : public training {
 public:
  using options = typename Net::options;

  /// `unit` is the name of the items in a batch, for messages.
  sentence_training(options const& o, std::string unit) : options_(o), unit_(std::move(unit)) {}

  learner& net() override { return *net_; }
  run_plan plan() override {
    return {.model = options_.model,
            .updates = updates(),
            .epoch_updates = epoch_updates(),
            .batch = batch_size(),
            .example = unit_,
            .record = record_of(options_, words_),
            .data = data_setting(),
            .length = length(),
            .measured = measured()};
  }
  double rate(std::int64_t update) override { return linear_rate(options_, updates(), update); }

  /// The name of the option that determines the length of a run.
  virtual std::string length() const = 0;
  virtual std::string measured() const = 0;
  virtual std::int64_t updates() = 0;
  virtual std::int64_t epoch_updates() = 0;
  virtual std::int64_t batch_size() = 0;
  virtual std::span<std::size_t const> batch(std::int64_t update) = 0;
  /// The line of settings that identifies the training sentences.  A resumed run must have the same line.
  virtual std::string data_setting() = 0;
  /// Returns the tokens on which this update is trained: the example itself, or a changed copy that is stored in
  /// `room`.
  virtual std::span<Token const> seen(std::size_t example, std::int64_t /*update*/, std::vector<Token>& /*room*/) {
    return examples_[example];
  }
  /// The number of answers in a sentence.  The loss of a sentence is the mean over its answers.
  virtual double answers(std::span<Token const> sentence) const { return static_cast<double>(sentence.size()); }

 protected:
  std::size_t begin_update(std::int64_t update) override {
    auto const examples = batch(update);
    rooms_.resize(std::max(rooms_.size(), examples.size()));
    sentences_.clear();
    for (std::size_t k = 0; k < examples.size(); ++k) sentences_.push_back(seen(examples[k], update, rooms_[k]));
    return sentences_.size();
  }
  void clear() override { net_->clear(); }
  bool add(std::size_t k) override { return net_->add(sentences_[k]); }
  double answer_count(std::size_t k) override { return answers(sentences_[k]); }

  void add_example(std::vector<Token> sentence) {
    longest_ = std::max(longest_, static_cast<int>(sentence.size()));
    examples_.push_back(std::move(sentence));
  }
  /// Returns the settings line for all examples.  each(digest, token) adds one token to the digest.
  template <class Each>
  std::string digest(Each const& each) const {
    example_digest all;
    for (auto const& sentence : examples_) {
      all.begin();
      for (auto const& token : sentence) each(all, token);
    }
    return all.setting();
  }

  options const& options_;
  typename Net::vocabulary words_;
  std::vector<std::vector<Token>> examples_;
  int longest_ = 0;  // tokens of the longest example
  std::unique_ptr<Net> net_;

 private:
  std::string unit_;
  std::vector<std::span<Token const>> sentences_;  // sentences of the current update
  std::vector<std::vector<Token>> rooms_;          // buffers for sentences that seen() changes
};

/// Calls f(sentence, result) for all sentences, in batches that fit into memory. numbered(sentence) must return the
/// tokens of the sentence.
template <class Net, class Sentence, class Numbered, class F>
void parse_in_batches(Net& net, std::vector<Sentence> const& all, Numbered const& numbered, F const& f) {
  in_batches(
      net, all.size(), [&](std::size_t i) { return net.add(numbered(all[i])); },
      [&](std::size_t i) {
        return "a sentence of " + std::to_string(numbered(all[i]).size()) + " words is longer than there is room for";
      },
      [&]() -> auto const& { return net.infer(); },
      [&](std::size_t first, std::size_t last, auto const& found) {
        for (auto i = first; i < last; ++i) f(all[i], found[i - first]);
      });
}

}  // namespace triad::programs
