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

/// Without a preset they are the released program's: preset paper.
struct options : stack_options {
  // data: a folder with train, dev, test and gen; empty: generated sentences
  std::string labels = "2020";  // of the generalisation set: as published, or as corrected in 2022
  int sentences = 4000;         // generated: for training
  int test_size = 200;          // generated: of each kind
  std::string hold_out;         // kinds of constructions that training does not see, with commas between

  // model: edge-transformer, transformer, universal-transformer
  triangle_form attention = triangle_form::full;
  int max_offset = 16;          // relative positions are clipped at this number of tokens
  bool paper_form = false;      // the paper's layer instead of the released program's
  bool positional = false;      // sums of both ends' states, instead of relative positions
  bool from_parent = false;     // parents read from edges (parent, child), as in the paper
  bool verb_from_word = false;  // the verb's name is read from the word's vector alone
  bool learn_all = false;       // also the vector that the released program does not learn

  int epochs = 200;
  int batch = 100;
  double decay = 0.01;
  double word_dropout = 0;         // of what the other heads read; then the verb's name is read from the word
  int position_range = 0;          // words take random places among this number; 0: the first ones
  double embedding_deviation = 1;  // of the words' first vectors
  double augment = 0;              // rate at which a training sentence gets another's phrase
  std::string augment_phrases = "noun-phrases";  // of which kinds: these, clauses, both
  bool augment_within = false;                   // none makes a construction that is held out

  std::string sentence;           // predict, explain
  bool probabilities = false;     // predict
  programs::questions questions;  // predict
  bool argmax = false;            // each token's own best parent, as published, instead of the best tree
  int count = 1000;               // generate: training sentences

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

/// The defaults that o.preset and o.model stand for.
///   paper   layers, width, heads, batch, rate and epochs: the Edge Transformer paper's Table 1; 4 d: its section 3;
///           dropout, decay, warm-up and clip: the released program.  The paper's text ties the layers, the released
///           program does not.
///   swapped ours: the same, with words dropped, and phrases of training sentences swapped
///   small   ours
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

/// In the order of first appearance, from 1; 0 is padding, which nothing in a ragged batch is.  The released program's
/// numbers are not known; it counts the words of all files, too.
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
  std::vector<int> parent;                           // the best of each token by itself; its own place for a root
  std::vector<int> tree;                             // the best parents that make no cycle
  std::vector<int> role, category, noun_type, verb;  // the best labels
  std::vector<float> score;                          // (n, n) of token i's parent j
};
inline auto tied_parts(parse& p) {
  return std::tie(p.parent, p.tree, p.role, p.category, p.noun_type, p.verb, p.score);
}

/// The memory for `batch` sentences of `usual` tokens, or for fewer of up to `longest`.
struct parser_room {
  int tokens;
  label_counts labels;
  int batch, usual, longest;
  int positions;  // tokens stand before this one, or before the longest sentence's end
  bool learns;    // false: room for inference alone

  graph_dims capacity() const { return room_for_graphs(batch, usual, longest); }
};

class parser : public learner {
 public:
  using options = cogs::options;
  using vocabulary = cogs::vocabulary;
  using room = parser_room;

  // A batch: first add sentences, then use it.
  virtual void clear() = 0;
  /// Returns false if the batch has no memory left for it.
  virtual bool add(std::span<labelled_token const> sentence) = 0;
  /// The parses of the sentences of the batch.
  virtual std::vector<parse> const& infer() = 0;

  /// After infer(): over which words an edge attends.  Without rows where the model has no triangles; one that
  /// was made for inference alone keeps none.
  virtual attention_table<float> attention(attention_place const& at) = 0;

  /// Makes the model of the options on a backend, which is moved into it; called by the backends' translation units.
  template <class Ex>
  static std::unique_ptr<parser> make(Ex ex, options const& o, room const& z);
};

}  // namespace triad::programs::cogs
