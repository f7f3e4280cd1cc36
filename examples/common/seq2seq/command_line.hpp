// The options that all sequence-to-sequence programs have on the command line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "../program.hpp"
#include "verbs.hpp"

namespace seq2seq {

using triad::examples::between, triad::examples::not_negative, triad::examples::positive;

inline void add_text_options(CLI::App& app, options& o) {
  app.add_option("--source-dictionary", o.source_dictionary,
                 "File of lines `token count`; without it, the words of the training set")
      ->check(CLI::ExistingFile);
  app.add_option("--target-dictionary", o.target_dictionary, "The same of targets")->check(CLI::ExistingFile);
  app.add_option("--source-bpe", o.source_bpe, "File of merges: words of sources become parts")
      ->check(CLI::ExistingFile);
  app.add_option("--target-bpe", o.target_bpe, "The same of targets")->check(CLI::ExistingFile);
  app.add_option("--tokenise", o.tokenise,
                 "Sides that are plain text, and are cut into words and punctuation marks: none, source, target, both; "
                 "translations stay cut")
      ->check(CLI::IsMember({"none", "source", "target", "both"}));
  app.add_option("--min-count", o.least_count, "The dictionary has words that the training set has so often")
      ->check(positive);
  app.add_flag("--joined-dictionary,!--no-joined-dictionary", o.joint,
               "One dictionary for both sides; edge-transformer needs it and has it");
  app.add_option("--train-size", o.train_size, "Train on so many pairs, spread over the training set; 0: all")
      ->check(not_negative);
  app.add_option("--max-train-length", o.longest_training,
                 "Leave pairs with more target tokens out of training; 0: none")
      ->check(not_negative);
}

inline void add_model_options(CLI::App& app, options& o) {
  app.add_option("--model", o.model,
                 "lrf: layers read all earlier layers; transformer; universal-transformer: one layer's parameters for "
                 "all; dlcl: weighted sums of earlier layers; "
                 "edge-transformer: states of pairs of tokens")
      ->check(CLI::IsMember({"lrf", "transformer", "universal-transformer", "dlcl", "edge-transformer"}));
  app.add_option("--fuse", o.fuse, "Of lrf, where layers read earlier ones: source, target, both, none")
      ->check(CLI::IsMember({"source", "target", "both", "none"}));
  app.add_flag("--only-top", o.only_top, "Of lrf: the last layer alone reads earlier ones");
  app.add_flag("--accumulate", o.accumulate, "Of lrf: sums of earlier layers instead of attention over them");
  app.add_flag("--relative", o.relative,
               "Relative positions, clipped at 16 tokens, in self-attention, instead of sines and cosines");
  app.add_option("--encoder-layers", o.encoder_layers)->check(between(1, 63));
  app.add_option("--decoder-layers", o.decoder_layers)->check(between(1, 63));
  app.add_option("--hidden", o.hidden, "Width of the feed-forward block")->check(positive);
  app.add_option("--dropout", o.dropout, "Rate, of attention weights, branches, feed-forward block and embeddings")
      ->check(between(0.0, 0.95));
  app.add_flag("--tie-output,!--no-tie-output", o.tie_output, "The output's matrix is the table of target words");
  app.add_option("--norm", o.norm, "after the sums, or before the blocks")->check(CLI::IsMember({"after", "before"}));
  app.add_option("--roberta", o.roberta,
                 "Of lrf and transformer: folder of a published RoBERTa (config.json, vocab.json, merges.txt, "
                 "model.safetensors), which is "
                 "fine-tuned as the encoder")
      ->check(CLI::ExistingDirectory);
  app.add_flag("--tied,!--untied", o.tied, "Of edge-transformer: one layer's parameters for all; else each its own");
  app.add_flag("--positional", o.positional,
               "Of edge-transformer: first states from positions of both tokens, instead of their distance");
  app.add_flag("--from-begin", o.from_begin,
               "Of edge-transformer: a token is read from the edge (begin, i) instead of (i, i)");
  app.add_option("--attention", o.attention,
                 "Of edge-transformer: full, value-ablation, attention-ablation, both-ablations")
      ->transform(CLI::CheckedTransformer(triad::examples::attention_names()));
}

inline void add_search_options(CLI::App& app, options& o) {
  app.add_option("--beam", o.beam, "Hypotheses kept at once; 1: greedy")->check(between(1, 64));
  app.add_option("--length-penalty", o.length_penalty, "Scores are divided by the length to this power")
      ->check(between(-10, 10));
  app.add_option("--max-length", o.longest,
                 "Tokens of a translation at most; 0: three times the longest target of training, and ten more")
      ->check(not_negative);
  app.add_option("--max-length-factor", o.longest_factor, "So many more for each token of the source")
      ->check(between(0, 1000));
}

/// Presets are applied when the command line is read: what is given beside one overrides it.
/// more_presets: a program's own, as ", one, another".
inline void add_train_options(CLI::App& app, options& o, std::string const& more_presets = {}) {
  app.add_option("--preset", o.preset, "paper, small (the defaults), smoke" + more_presets)
      ->check([more_presets](std::string const& name) {
        return (", paper, small, smoke" + more_presets + ",").find(", " + name + ",") != std::string::npos
                   ? std::string()
                   : "there is no preset " + name;
      });
  triad::examples::add_shared_training_options(app, o,
                                               "metrics.csv, config.toml, model.safetensors, scores.csv, plots/");
  add_text_options(app, o);
  add_model_options(app, o);
  app.add_option("--label-smoothing", o.smoothing, "Part of the right answer's probability that all answers share")
      ->check(between(0.0, 0.95));
  app.add_option("--learning-rate", o.rate, "Learning rate after warm-up")->check(positive);
  app.add_option("--schedule", o.schedule,
                 "How it falls: inverse-sqrt, as one over the square root, or linear, to 0 at the last update")
      ->check(CLI::IsMember({"inverse-sqrt", "linear"}));
  app.add_option("--weight-decay", o.decay, "Weight decay of AdamW")->check(not_negative);
  app.add_option("--updates", o.updates)->check(positive);
  app.add_option("--epochs", o.epochs, "Passes over the training set, instead of --updates")->check(not_negative);
  app.add_option("--tokens", o.tokens, "Of a batch, on either side, ends included")->check(positive);
  app.add_option("--pairs", o.pairs, "Of a batch at most; 0: as many as --tokens allow")->check(not_negative);
  app.add_option("--memory", o.memory,
                 "A size, as 900MiB or 24GiB, for parameters, moments, activations and search: batches that need more "
                 "are cut into parts, whose "
                 "gradients add up");
  app.add_option("--evaluate-every", o.evaluate_every, "Updates between two checkpoints")->check(positive);
  app.add_option("--dev-size", o.dev_size, "Pairs that a checkpoint is measured on; 0: all of dev")
      ->check(not_negative);
  app.add_option("--validate", o.validate, "What is measured: exact match of greedy translations, or loss")
      ->check(CLI::IsMember({"exact", "loss"}));
  add_search_options(app, o);
}

inline void add_query_options(CLI::App& evaluate, CLI::App& predict, CLI::App& explain, options& o, query& q) {
  for (auto* const verb : {&evaluate, &predict}) add_search_options(*verb, o);
  evaluate.add_option("--out", o.out, "Folder for scores.csv and the translations, a file for each part");
  predict.add_option("--sentence", q.sentence, "Words separated by spaces")->check(triad::examples::not_blank);
  predict.add_option("--n-best", q.n_best, "Translations of a sentence, with their scores; at most --beam")
      ->check(positive);
  predict.add_flag("--unknown", q.unknown,
                   "Translate words that the model does not know as <unk>, instead of refusing them");
  predict.footer("Without --sentence, every line of standard input is one.");
  explain.add_option("--count", q.count, "Pairs over whose tokens weights are averaged")->check(positive);
  explain.add_option("--out", o.out, "Folder for layers.csv, encoder.svg and decoder.svg");
}

}  // namespace seq2seq
