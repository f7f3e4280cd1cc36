// The code that all dependency parsing programs share: the training data of a run, the scores of its parses, and the
// verbs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parser.hpp"
#include "shared/cli/verbs.hpp"
#include "shared/run/sentence_training.hpp"
#include "shared/run/token_batches.hpp"
#include "shared/run/training.hpp"

namespace triad::programs::dependencies {

struct test_part {
  std::string name;
  sentences all;
};
struct data_set {
  sentences train;
  std::vector<test_part> tests;  // dev, test: those that there are
};

/// Files train, dev and test (or test_NAME), .conllu or .jsonl, of a folder, gzipped or not.
data_set read_data(options const& o, bool needs_train);

/// "tokens" of a line of JSON.  Throws data_error where they are no texts that a line of CoNLL-U can hold.
std::vector<std::string> tokens_of(nlohmann::json const& line);

/// A sentence by numbers, a root its own parent.  A word that the model does not know is <unk>, a relation is one that
/// no answer can be.
std::vector<attached_token> numbered(conllu_sentence const& s, vocabulary const& v);

/// Throws data_error for a word that the model does not know.
void expect_known(conllu_sentence const& s, vocabulary const& v);

/// "; 3 unknown words, such as 'bee'; 1 unknown relation, such as 'dep'", or nothing.
std::string unknown_in(sentences const& all, vocabulary const& v);

/// The sentence with the heads and relations of a tree.
conllu_sentence with_tree(conllu_sentence s, found_tree const& tree, vocabulary const& v);

/// The most words of a sentence; 1 at least.
int longest_of(sentences const& all);
int longest_of(data_set const& data);
long long words_of(sentences const& all);
/// The sentences of some parts that have more words than that.
std::vector<sized_example> larger_than(std::vector<test_part> const& parts, int words);

/// f(sentence, tree) for all of them.
template <class F>
void parse_all(parser& net, sentences const& all, vocabulary const& v, F const& f) {
  parse_in_batches(net, all, [&](conllu_sentence const& s) { return numbered(s, v); }, f);
}
/// f, where given, gets each sentence and the same as it was parsed.
using parsed_sentence = std::function<void(conllu_sentence const& right, conllu_sentence const& parsed)>;
text::attachment_scores score(parser& net, sentences const& all, vocabulary const& v, parsed_sentence const& f = {});

int train(options& o);

/// What a part's parses are worth.
part_scores scores_of(std::string const& part, text::attachment_scores const& s);
/// "test  exact match 12.34  UAS 90.12  LAS 88.00  (100 sentences, 900 words)"
std::string told(part_scores const& p, long long words);

class parser_training final : public sentence_training<parser, attached_token> {
 public:
  parser_training(options const& o, data_set const& data);

  learner& net() override;
  std::string length() const override { return "updates"; }
  std::string measured() const override { return "LAS"; }
  std::int64_t updates() override { return options_.updates; }
  std::int64_t epoch_updates() override { return options_.evaluate_every; }
  /// Words of a batch on the average.
  std::int64_t batch_size() override;
  std::span<std::size_t const> batch(std::int64_t update) override { return batches_->batch(update); }
  std::string data_setting() override;
  /// Tokens that have a head.
  double answers(std::span<attached_token const> sentence) const override {
    return static_cast<double>(
        std::count_if(sentence.begin(), sentence.end(), [](attached_token const& t) { return t.parent >= 0; }));
  }
  double validate() override;
  std::vector<part_scores> score() override;

  vocabulary const& words() const { return words_; }
  std::vector<std::vector<attached_token>> const& examples() const { return examples_; }
  int longest() const { return most_; }
  std::int64_t updates_of_a_pass() { return batches_->first_of(1); }
  /// What a checkpoint is measured on: sentences of dev, or of the training set where there is no dev.
  sentences const& dev() const { return dev_; }
  bool measured_on_train() const { return measured_on_train_; }

 private:
  data_set const& data_;
  std::optional<token_batches> batches_;
  sentences dev_;
  bool measured_on_train_ = false;
  int most_ = 0;  // words of a sentence of any part
};

/// Says what a file holds.
int inspect(std::string const& path);

/// train, evaluate, predict and explain.
std::vector<verb> verbs_of(options& o);

}  // namespace triad::programs::dependencies
