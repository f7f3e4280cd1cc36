// Lists the options of sequence-to-sequence programs, and checks which options can be combined.
// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "published.hpp"
#include "shared/backend/memory_size.hpp"
#include "triad/io/checkpoint.hpp"
#include "triad/layers/fused_stack.hpp"

namespace triad::programs::sequences {

void options::each(option_list& f) {
  bool const edges = of_edges(*this);
  std::set<std::string> const translate{"evaluate", "predict"};
  std::vector<std::string> const sides{"none", "source", "target", "both"};
  f("preset", &preset, fmt::format("{}", fmt::join(presets, ", "))).one_of(presets).free();
  width_options::each(f);

  f.seldom("source-dictionary", &source_dictionary,
           "File of lines `token count`; without it, the words of the training set")
      .path()
      .existing_file();
  f.seldom("target-dictionary", &target_dictionary, "The same of targets").path().existing_file();
  f.seldom("source-bpe", &source_bpe, "File of merges: words of sources become parts").path().existing_file();
  f.seldom("target-bpe", &target_bpe, "The same of targets").path().existing_file();
  f.seldom("tokenise", &tokenise,
           "Sides that are plain text, and are cut into words and punctuation marks: none, source, target, both; "
           "translations stay cut")
      .one_of(sides)
      .newer("none")
      .shapes();
  f.seldom("min-count", &least_count, "The dictionary has words that occur this often in the training set").positive();
  f.seldom("joined-dictionary", &joint, "One dictionary for both sides; edge-transformer needs it and has it")
      .opposite("no-joined-dictionary");
  f.seldom("train-size", &train_size, "Train on this number of pairs, spread over the training set; 0: all")
      .not_negative();
  f.seldom("max-train-length", &longest_training, "Leave pairs with more target tokens out of training; 0: none")
      .not_negative();

  f("model", &model,
    "lrf: layers read all earlier layers; transformer; universal-transformer: one layer's parameters for all; dlcl: "
    "weighted sums of earlier layers; edge-transformer: states of pairs of tokens")
      .one_of({"lrf", "transformer", "universal-transformer", "dlcl", "edge-transformer"})
      .shapes();
  // An option that only models of edges have is stored only in checkpoints of such models.  Options of models of tokens
  // are stored in the same way.
  auto const of = [](bool yes, option& one) {
    if (yes) one.shapes();
  };
  of(!edges,
     f.seldom("fuse", &fuse, "Of lrf, where layers read earlier ones: source, target, both, none").one_of(sides));
  of(!edges, f.seldom("only-top", &only_top, "Of lrf: the last layer alone reads earlier ones"));
  of(!edges, f.seldom("accumulate", &accumulate, "Of lrf: sums of earlier layers instead of attention over them"));
  of(!edges, f.seldom("relative", &relative, "Relative positions in self-attention, instead of sines and cosines"));
  of(!edges,
     f.seldom("max-offset", &max_offset, "Of --relative: tokens so far apart, and farther, have one relative position")
         .between(1, most_offset)
         .newer("16")
         .within(1, [] { return most_offset; }));
  f.seldom("encoder-layers", &encoder_layers, "Layers that read the source")
      .between(1, 63)
      .shapes(edges ? "layers" : "")
      .within(1, [edges] { return edges ? most_layers : static_cast<int>(most_layers); });
  of(!edges, f.seldom("decoder-layers", &decoder_layers, "Layers that write the target").between(1, 63).within(1, [] {
    return static_cast<int>(most_layers);
  }));
  f("hidden", &hidden, "Width of the feed-forward block").positive().shapes().within(1, [] {
    return std::numeric_limits<int>::max();
  });
  of(!edges,
     f.seldom("tie-output", &tie_output, "The output's matrix is the table of target words").opposite("no-tie-output"));
  of(!edges, f.seldom("share-embedding", &share_embedding,
                      "Words of both sides have one table of vectors; needs --joined-dictionary")
                 .newer());
  of(!edges, f.seldom("embedding-scale", &embedding_scale,
                      "tokens-up: word vectors times the square root of the width; positions-down: sines and cosines "
                      "divided by it; unscaled: neither")
                 .one_of({"tokens-up", "unscaled", "positions-down"})
                 .newer("tokens-up"));
  of(!edges, f.seldom("norm", &norm, "after the sums, or before the blocks").one_of({"after", "before"}));
  f("encoder", &encoder,
    "Of lrf and transformer: folder of a published RoBERTa, BERT or MPNet, which is fine-tuned as the encoder")
      .path()
      .existing_folder();
  f.seldom("freeze-encoder", &freeze_encoder,
           "The encoder keeps its published weights, and only the decoder is trained")
      .newer();
  f.seldom("encoder-cache", &encoder_cache,
           "A size: memory for the states of the frozen encoder, so that it reads each source once")
      .free();
  f("roberta", &roberta, "The older name of --encoder").path().existing_folder().hidden();
  of(edges, f.seldom("tied", &tied, "Of edge-transformer: one layer's parameters for all; else each its own")
                .opposite("untied"));
  of(edges, f.seldom("positional", &positional,
                     "Of edge-transformer: first states from positions of both tokens, instead of their distance"));
  of(edges, f.seldom("from-begin", &from_begin,
                     "Of edge-transformer: a token is read from the edge (begin, i) instead of (i, i)"));
  of(edges,
     f("attention", &attention, "Of edge-transformer: full, value-ablation, attention-ablation, both-ablations"));

  f.seldom("label-smoothing", &smoothing,
           "Part of the right word's probability that all other words have instead, in equal parts")
      .between(0.0, 0.95);
  f.seldom("weight-decay", &decay, "Weight decay of AdamW").not_negative();
  f.seldom("schedule", &schedule,
           "The rate after the warm-up: inverse-sqrt, falling as one over the square root, linear, falling to 0 at the "
           "last update, or constant")
      .one_of({"inverse-sqrt", "linear", "constant"});
  // The rates of a linear schedule and the end of dropout depend on the length of the run.
  bool const any_length = schedule != "linear" && dropout_until == 1;
  f("updates", &updates, "Batches to train on, where --epochs is 0").positive().free(any_length).length();
  f("epochs", &epochs, "Passes over the training set, instead of --updates; 0: as --updates say")
      .not_negative()
      .free(any_length)
      .length();
  f("tokens", &tokens, "Of a batch, on either side, ends included").positive();
  f("pairs", &pairs, "Of a batch at most; 0: as many as --tokens allow").not_negative();
  // A run may be resumed with less memory.  Its batches are then divided into other parts, so its results are rounded
  // differently and its dropout masks differ, as if the run had another backend or another seed.
  f("memory", &memory,
    "A size, as 900MiB or 24GiB, for parameters, moments, activations and search: batches that need more are cut into "
    "parts, whose gradients add up")
      .free();
  f.seldom("evaluate-every", &evaluate_every, "Updates between two checkpoints").positive();
  f.seldom("dev-size", &dev_size, "Pairs that a checkpoint is measured on; 0: all of dev").not_negative().free();
  f.seldom("validate", &validate, "What is measured: exact match of greedy translations, or loss")
      .one_of({"exact", "loss"});

  f("beam", &beam, "Hypotheses kept at once; 1: greedy").also(translate).between(1, 64).free();
  f("length-penalty", &length_penalty,
    "A score is log P / n^this, of a translation of n tokens, its end among them; 0: log P")
      .also(translate)
      .between(-10, 10)
      .free();
  f("max-length", &longest,
    "Tokens of a translation at most; 0: three times the longest target of training, and ten more")
      .also(translate)
      .not_negative()
      .free();
  f.seldom("max-length-factor", &longest_factor, "This number more for each token of the source")
      .also(translate)
      .between(0, 1000)
      .free();

  f("out", &out, "Folder for scores.csv and the translations, a file for each part")
      .only({"evaluate"})
      .file_or_folder();
  f("sentence", &sentence, "Words separated by spaces").only({"predict"}).question();
  f("sentence", &sentence,
    "Words separated by spaces: weights of it and of its translation, instead of those of the data")
      .only({"explain"})
      .question();
  questions.each(f, "A sentence, as --sentence has it, or {\"source\": \"...\"}");
  f("n-best", &n_best,
    "Translations of a sentence, at most --beam, each with its score, log P / n^--length-penalty: log P sums the "
    "natural "
    "logarithms of the probabilities of its n tokens")
      .only({"predict"})
      .positive();
  f("unknown", &unknown, "Translate words that the model does not know as <unk>, instead of refusing them")
      .only({"predict"});
  f("probabilities", &probabilities,
    "Also how probable the translation is, as a whole: \"probability\", or in front of it in a column of its own")
      .only({"predict"});
  f("count", &count, "Pairs over whose tokens weights are averaged").only({"explain"}).positive();
  f("out", &out, "Folder for layers.csv, encoder.svg, decoder.svg and attention.svg")
      .only({"explain"})
      .file_or_folder();
  f.force(&force, {"evaluate", "explain"});
}

void options::restored(checkpoint const& file) {
  width_options::restored(file);
  if (of_edges(*this)) decoder_layers = encoder_layers;
  published.reset();
  if (file.configuration().contains("published"))
    published = published_from(file.setting<nlohmann::json>("published"), file.tensors().file());
}

std::map<std::string, std::string> options::more_shapes() const {
  if (!published) return {};
  return {{"published", to_json(*published).dump()}};
}

std::string options::more_settings() const {
  return published ? "roberta-weights = \"" + published_weights + "\"\n" : std::string();
}

void options::settle() {
  width_options::settle();
  auto const refuse = [](std::string const& what) { throw data_error(what); };
  if (!roberta.empty() && !encoder.empty() && roberta != encoder)
    refuse("--roberta is the older name of --encoder: give one of them");
  if (!roberta.empty()) encoder = std::move(roberta);
  roberta.clear();
  if (given.contains("updates") && given.contains("epochs") && epochs > 0)
    refuse("--updates and --epochs are two ways to say how long the run is: give one");
  // The option --updates on the command line or in a config file replaces the epochs of a preset.  On the command line
  // it also replaces the epochs of a config file.
  auto const only_updates = [](std::set<std::string> const& names) {
    return names.contains("updates") && !names.contains("epochs");
  };
  if (schedule != "linear" && !restarts.empty())
    refuse("--restarts is about --schedule linear, whose rate falls to 0: the rate of --schedule " + schedule +
           " goes on as it is");
  if (only_updates(given) || (!given.contains("epochs") && only_updates(configured))) epochs = 0;
  bool const looks_back = model == "lrf" && fuse != "none";
  if (model != "lrf" && fuse != "none")
    refuse("--fuse " + fuse + " is about --model lrf; layers of --model " + model + " have no fuse-attention");
  if (!looks_back && (only_top || accumulate))
    refuse(
        "--only-top and --accumulate are about layers that look back: --model lrf with --fuse source, target or both");
  if (!of_edges(*this) && (!tied || positional || from_begin || attention != triangle_form::full))
    refuse("--untied, --positional, --from-begin and --attention are about --model edge-transformer");
  if (of_edges(*this) && (relative || tie_output || norm != "after" || share_embedding ||
                          embedding_scale != "tokens-up" || given.contains("max-offset")))
    refuse(
        "--relative, --max-offset, --tie-output, --share-embedding, --embedding-scale and --norm are about states of "
        "tokens, which --model edge-transformer does not have");
  if (share_embedding && !joint)
    refuse("--share-embedding needs one dictionary for both sides: give --joined-dictionary");
  if (of_edges(*this) && encoder_layers != decoder_layers)
    refuse(
        "--model edge-transformer has as many layers on either side: give --encoder-layers and --decoder-layers alike");
  if (of_edges(*this) && attention == triangle_form::flat)
    refuse("--attention flat is not causal: an Edge Transformer that decodes has no such form");
  if (of_edges(*this) && !joint)
    refuse("--model edge-transformer has one table for the words of both sides: leave --joined-dictionary on");
  if (joint && (!target_dictionary.empty() || !target_bpe.empty()))
    refuse("with one dictionary for both sides, --source-dictionary and --source-bpe name the files of both");
  if (joint && tokenise != "none" && tokenise != "both")
    refuse("--joined-dictionary is one dictionary for both sides: give --tokenise both");
  if (!encoder.empty() && tokenise != "none" && tokenise != "target")
    refuse("--encoder cuts sources itself: give --tokenise target, or leave it out");
  if (!encoder.empty()) {
    if (model != "lrf" && model != "transformer")
      refuse("--encoder is an encoder of --model lrf or transformer, not of " + model);
    if (joint || !source_dictionary.empty() || !source_bpe.empty())
      refuse("--encoder brings its own tokens: leave --joined-dictionary, --source-dictionary and --source-bpe out");
    if (given.contains("encoder-layers"))
      refuse("--encoder has as many layers as its config.json says: leave --encoder-layers out");
    if (relative || given.contains("max-offset") || norm != "after")
      refuse("--relative, --max-offset and --norm are not a published encoder's: leave them out with --encoder");
    if (accumulate && fuse != "target")
      refuse(
          "--accumulate adds layers up, which the layers of --encoder were not trained with: give --fuse target with "
          "it");
  }
  if (!relative && (given.contains("max-offset") || max_offset != 16))
    refuse("--max-offset is about relative positions: give it with --relative, or leave it out");
  if (freeze_encoder) {
    if (encoder.empty()) refuse("--freeze-encoder is about a published encoder: give --encoder FOLDER");
    if (fuse == "source" || fuse == "both")
      refuse("--freeze-encoder with --fuse " + fuse +
             " would never train the fuse-attention of the encoder's layers: give --fuse target");
    (void)bytes_of(encoder_cache, "--encoder-cache");
  } else if (given.contains("encoder-cache")) {
    refuse("--encoder-cache is about --freeze-encoder: a trained encoder has other states in each update");
  }
  if (only_top && accumulate) refuse("--only-top and --accumulate are two ways to look back: give one");
  bool const source_given = !source_dictionary.empty() || !encoder.empty();
  if (given.contains("min-count") && least_count != 1 &&
      (joint ? source_given : source_given && !target_dictionary.empty()))
    refuse("--min-count is about dictionaries of the training set's words, and both sides have theirs from files");
  expect_search(*this);
  if (!memory.empty()) (void)bytes_of(memory, "--memory");
}

void expect_search(options const& o) {
  if (o.beam == 1)
    refuse_given(o, {"length-penalty"}, "choosing among hypotheses, of which --beam 1 keeps one: give a larger --beam");
}

}  // namespace triad::programs::sequences
