// What all programs for dependency parsing share: the data of a run, the scores of predicted trees, and the verbs.
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
  std::vector<test_part> tests;  // dev and test, if they exist
};

/// Reads the files train, dev, test and test_NAME of a folder.  The files end in .conllu or .jsonl, and may be gzipped.
data_set read_data(options const& o, bool needs_train);

/// Returns the "tokens" of a line of JSON.  Throws data_error if a token cannot be written in CoNLL-U.
std::vector<std::string> tokens_of(nlohmann::json const& line);

/// Returns a sentence with numbers in place of words and relations.  A root is its own parent.  An unknown word becomes
/// <unk>.  An unknown relation becomes a number that the model never predicts.
std::vector<attached_token> numbered(conllu_sentence const& s, vocabulary const& v);

/// Throws data_error if a word is not in the vocabulary.
void expect_known(conllu_sentence const& s, vocabulary const& v);

/// Returns a text such as "; 3 unknown words, such as 'bee'; 1 unknown relation, such as 'dep'".  Returns an empty text
/// if all words and relations are known.
std::string unknown_in(sentences const& all, vocabulary const& v);

/// Returns the sentence with the heads and relations of a tree.
conllu_sentence with_tree(conllu_sentence s, found_tree const& tree, vocabulary const& v);

/// Returns the number of words of the longest sentence; at least 1.
int longest_of(sentences const& all);
int longest_of(data_set const& data);
long long words_of(sentences const& all);
/// Returns the sentences of `parts` that have more than `words` words.
std::vector<sized_example> larger_than(std::vector<test_part> const& parts, int words);

/// Calls f(sentence, tree) for all sentences.
template <class F>
void parse_all(parser& net, sentences const& all, vocabulary const& v, F const& f) {
  parse_in_batches(net, all, [&](conllu_sentence const& s) { return numbered(s, v); }, f);
}
/// A function that is called with the right tree and the predicted tree of each sentence.  It may be empty.
using parsed_sentence = std::function<void(conllu_sentence const& right, conllu_sentence const& parsed)>;
text::attachment_scores score(parser& net, sentences const& all, vocabulary const& v, parsed_sentence const& f = {});

int train(options& o);

/// Returns the scores of one part of the data.
part_scores scores_of(std::string const& part, text::attachment_scores const& s);
/// Returns a line such as "test  exact match 12.34  UAS 90.12  LAS 88.00  (100 sentences, 900 words)".
std::string told(part_scores const& p, long long words);

class parser_training final : public sentence_training<parser, attached_token> {
 public:
  parser_training(options const& o, data_set const& data);

  learner& net() override;
  std::string length() const override { return "updates"; }
  std::string measured() const override { return "LAS"; }
  std::int64_t updates() override { return options_.updates; }
  std::int64_t epoch_updates() override { return options_.evaluate_every; }
  /// The mean number of words in a batch.
  std::int64_t batch_size() override;
  std::span<std::size_t const> batch(std::int64_t update) override { return batches_->batch(update); }
  std::string data_setting() override;
  /// Returns the number of tokens with a head.
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
  /// The sentences that checkpoints are validated on: dev, or some of the training set if there is no dev.
  sentences const& dev() const { return dev_; }
  bool measured_on_train() const { return measured_on_train_; }

 private:
  data_set const& data_;
  std::optional<token_batches> batches_;
  sentences dev_;
  bool measured_on_train_ = false;
  int most_ = 0;  // number of words in the longest sentence of all parts
};

/// Prints a summary of a file.
int inspect(std::string const& path);

/// Returns the verbs train, evaluate, predict and explain.
std::vector<verb> verbs_of(options& o);

}  // namespace triad::programs::dependencies
