// The interface of a parser of COGS on one backend, its options and its vocabulary.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "sentence.hpp"
#include "shared/backend/network.hpp"
#include "shared/data/numbering.hpp"
#include "shared/data/questions.hpp"
#include "shared/run/learner.hpp"
#include "triad/batches/room_for.hpp"
#include "triad/batches/sentence_loader.hpp"
#include "triad/train/attention_table.hpp"

namespace triad::programs::cogs {

/// The defaults are those of the preset `paper`, and come from the released program.
struct options : stack_options {
  // data: a folder with train, dev, test and gen; empty: generated sentences
  std::string labels = "2020";  // labels of the generalisation set: 2020: as published; 2022: as corrected
  int sentences = 4000;         // number of generated training sentences
  int test_size = 200;          // number of generated sentences of each kind
  std::string hold_out;         // kinds of constructions to hold out of training, separated by commas

  // Choices of the model: edge-transformer, transformer, universal-transformer.
  triangle_form attention = triangle_form::full;
  int max_offset = 16;          // longest distance in tokens with its own relative position
  bool paper_form = false;      // the paper's layer instead of the released program's
  bool positional = false;      // adds positional vectors of both ends, instead of relative positions
  bool from_parent = false;     // predicts a parent from edge (parent, child), as in the paper
  bool verb_from_word = false;  // predicts the name of the verb from the word's vector alone
  bool learn_all = false;       // also learns the vector that the released program keeps fixed

  int epochs = 200;
  int batch = 100;
  double decay = 0.01;
  double word_dropout = 0;         // probability of dropping a word; it still gives the verb's name
  int position_range = 0;          // words get random positions below this; 0: they get 0, 1, 2, ...
  double embedding_deviation = 1;  // standard deviation of the words' initial vectors
  double augment = 0;              // probability that a training sentence gets a phrase of another sentence
  std::string augment_phrases = "noun-phrases";  // kinds of phrases: noun-phrases, clauses, both
  bool augment_within = false;                   // swaps make no held-out constructions

  std::string sentence;           // predict, explain
  bool probabilities = false;     // predict
  programs::questions questions;  // predict
  bool argmax = false;            // as published: predicts each token's best parent, not the best tree
  int count = 1000;               // generate: number of training sentences

  options() {
    model = "edge-transformer";
    layers = 3;
    width = 64;
    heads = 4;
    dropout = 0.1;
    rate = 5e-4;
    warmup = 1000;
  }
  void settle() override;
  void each(option_list& f) override;
};

/// Sets the defaults of o.preset and o.model.
///   paper     Layers, width, heads, batch, rate and epochs are from Table 1 of the Edge Transformer paper; 4 d is from
///             its section 3.  Dropout, decay, warm-up and clip are those of the released program.  The paper's text
///             ties the layers; the released program does not.
///   swapped   The settings of `paper` with dropped words and swapped phrases.
///   small     Our own settings.
inline void apply_preset(options& o) {
  o.tied = o.model == "universal-transformer";
  if (o.preset == "swapped") {
    o.word_dropout = 0.1;
    o.augment = 0.5;
    o.augment_phrases = "both";
  }
  if (o.preset == "small") {
    o.epochs = 30;
    o.warmup = 100;
    o.rate = 1e-3;
  }
  if (o.preset == "smoke") {
    o.layers = 1;
    o.width = 16;
    o.heads = 2;
    o.dropout = 0;
    o.batch = 20;
    o.warmup = 0;
    o.sentences = 100;
    o.epochs = 2;
    o.test_size = 5;
  }
}

/// The words and labels, numbered from 1 in the order of their first appearance.  Number 0 means padding, which our
/// batches do not have.  Like the released program, the vocabulary has the words of all files; we do not know which
/// numbers that program gives to them.
struct vocabulary {
  numbering tokens{1}, role{1}, category{1}, noun_type{1}, verb{1};

  static vocabulary from(nlohmann::json const& json, std::string const& file) {
    vocabulary v;
    read_names(json, file,
               {{"tokens", &v.tokens},
                {"role", &v.role},
                {"category", &v.category},
                {"noun_type", &v.noun_type},
                {"verb", &v.verb}});
    return v;
  }
  void add(tagged_sentence const& s) {
    for (auto const& word : s.tokens) tokens.add(word);
    for (auto const& label : s.role) role.add(label);
    for (auto const& label : s.category) category.add(label);
    for (auto const& label : s.noun_type) noun_type.add(label);
    for (auto const& label : s.verb_name) verb.add(label);
  }
  label_counts labels() const { return {role.end(), category.end(), noun_type.end(), verb.end()}; }
};

inline nlohmann::json to_json(vocabulary const& v) {
  return {{"tokens", v.tokens.names()},
          {"role", v.role.names()},
          {"category", v.category.names()},
          {"noun_type", v.noun_type.names()},
          {"verb", v.verb.names()}};
}

/// The model's answer for one sentence, as numbers.
struct parse {
  // The best parent of each token, even if there are cycles.  A root is its own parent.
  std::vector<int> parent;
  std::vector<int> tree;                             // the parents in the best tree
  std::vector<int> role, category, noun_type, verb;  // the best labels
  std::vector<float> score;                          // (n, n) score of parent j of token i
};
inline auto tied_parts(parse& p) {
  return std::tie(p.parent, p.tree, p.role, p.category, p.noun_type, p.verb, p.score);
}

/// Sizes of a model and of its batches.  The memory is enough for a batch of `batch` sentences of up to `usual` tokens,
/// and for a batch of fewer sentences of up to `longest` tokens.
struct parser_room {
  int tokens;
  label_counts labels;
  int batch, usual, longest;
  int positions;  // positions are below this, or below the longest length
  bool learns;    // false: there is memory for inference only

  graph_dims capacity() const { return room_for_graphs(batch, usual, longest); }
};

class parser : public learner {
 public:
  using options = cogs::options;
  using vocabulary = cogs::vocabulary;
  using room = parser_room;

  // To use a batch: clear it, add sentences, then call one of the functions below.
  virtual void clear() = 0;
  /// Adds a sentence to the batch.  Returns false if the batch has no memory left for the sentence.
  virtual bool add(std::span<labelled_token const> sentence) = 0;
  /// Returns the parses of the sentences of the batch.
  virtual std::vector<parse> const& infer() = 0;

  /// Returns the attention of an edge to all words.  infer() must have been called before.  The table has no rows if
  /// the model has no triangular attention, or if the parser was made for inference only.
  virtual attention_table<float> attention(attention_place const& at) = 0;

  /// Makes the model that the options describe, and moves the backend into the model.  The source file of each backend
  /// calls this function.
  template <class Ex>
  static std::unique_ptr<parser> make(Ex ex, options const& o, room const& z);
};

}  // namespace triad::programs::cogs
