// A dependency parser on one backend: its options, its vocabulary, and the interface that the verbs use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "shared/backend/network.hpp"
#include "shared/data/numbering.hpp"
#include "shared/data/questions.hpp"
#include "shared/run/learner.hpp"
#include "triad/batches/dependency_loader.hpp"
#include "triad/io/text/conllu.hpp"
#include "triad/io/text/dictionary.hpp"
#include "triad/train/attention_table.hpp"

namespace triad::programs::dependencies {

using text::conllu_sentence;
using text::dictionary;
using sentences = std::vector<conllu_sentence>;

/// The defaults are our own settings.
struct options : stack_options {
  std::string task;      // "parse" in runs on CFQ: only CoNLL-U is read
  bool one_task = true;  // false: the program has several tasks, and --task names one
  int least_count = 1;   // least number of times that a word of the dictionary occurs in the training set

  // Choices of the model: edge-transformer, transformer, universal-transformer.
  triangle_form attention = triangle_form::full;
  int max_offset = 16;  // longest distance in words with its own relative position

  int updates = 2000, evaluate_every = 200;
  int tokens = 500;    // largest total number of words in a batch
  int dev_size = 500;  // largest number of sentences that a checkpoint is validated on
  double decay = 0;

  std::string sentence;           // predict, explain: words separated by spaces
  programs::questions questions;  // predict
  bool unknown = false;           // predict, explain: replaces unknown words by <unk>
  bool probabilities = false;     // predict
  bool confusion = false;         // evaluate: prints the most frequent mistakes

  options() {
    model = "edge-transformer";
    layers = 4;
    width = 128;
    heads = 4;
    dropout = 0.1;
    warmup = 200;
  }
  void settle() override;
  void each(option_list& f) override;
};

/// Sets the defaults of o.model, and of the presets that all programs share.
inline void apply_preset(options& o) {
  o.tied = o.model == "universal-transformer";
  if (o.preset == "smoke") {
    o.layers = 1;
    o.width = 16;
    o.heads = 2;
    o.dropout = 0;
    o.tokens = 40;
    o.warmup = 0;
    o.updates = 20;
    o.evaluate_every = 10;
    o.dev_size = 4;
  }
}

/// The words of the training set, the most frequent first, and the relations of the training set, sorted by bytes.
class vocabulary {
 public:
  vocabulary() = default;
  vocabulary(dictionary words, std::vector<std::string> relations)
      : words_(std::move(words)), relations_(0, std::move(relations)) {}
  static vocabulary of(sentences const& train, int least_count);
  static vocabulary from(nlohmann::json const& json, std::string const& file);

  dictionary const& words() const { return words_; }
  std::vector<std::string> const& relations() const { return relations_.names(); }
  /// Returns the number of a relation; -1 if the training set does not have the relation.
  index_t relation(std::string const& name) const { return relations_.find(name); }

 private:
  dictionary words_;
  numbering relations_;
};

nlohmann::json to_json(vocabulary const& v);

/// The model's answer for one sentence, as numbers.
struct found_tree {
  std::vector<int> parent;      // parents in the best tree with one root; the root is its own parent
  std::vector<int> relation;    // the likeliest relation to that parent
  std::vector<double> sure;     // the probability of that relation, given the parent
  std::vector<double> parents;  // (n, n) log-probability that the parent of token i is j, before the tree is chosen
};
inline auto tied_parts(found_tree& t) { return std::tie(t.parent, t.relation, t.sure, t.parents); }

/// Sizes of a model and of its batches.  The memory is enough for a batch of `words` words if no sentence has more than
/// `usual` words, and for a batch of one sentence of up to `longest` words.
struct parser_room {
  index_t tokens, relations;
  int words, usual, longest;
  bool learns;  // false: memory for inference only

  graph_dims capacity() const {
    index_t const most = std::max(usual, longest), nodes = std::max(words, longest);
    index_t const rows = std::max(index_t{words} * usual, index_t{longest} * longest);
    return {nodes, rows, nodes, rows * most, most};
  }
};

class parser : public learner {
 public:
  using options = dependencies::options;
  using vocabulary = dependencies::vocabulary;
  using room = parser_room;

  // To use a batch: clear it, add sentences, then call one of the functions below.
  virtual void clear() = 0;
  /// Adds a sentence to the batch.  Returns false if the batch has no memory left for the sentence.
  virtual bool add(std::span<attached_token const> sentence) = 0;
  /// Returns the trees of the sentences of the batch.
  virtual std::vector<found_tree> const& infer() = 0;

  /// Returns the attention of an edge to all words.  infer() must have been called before.  The table has no rows if
  /// the model has no triangular attention, or if the parser was made for inference only.
  virtual attention_table<float> attention(attention_place const& at) = 0;

  /// Makes the model that the options describe, and moves the backend into the model.  The source file of each backend
  /// calls this function.
  template <class Ex>
  static std::unique_ptr<parser> make(Ex ex, options const& o, room const& z);
};

}  // namespace triad::programs::dependencies
