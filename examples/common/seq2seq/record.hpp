// The model's shape and its vocabulary as a checkpoint keeps them, and back; the room that a model needs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "../model_sizes.hpp"
#include "../run_folder.hpp"
#include "published.hpp"
#include "task.hpp"
#include "translator.hpp"
#include "triad/io/checkpoint.hpp"
#include "triad/layers/fused_stack.hpp"
#include "verbs.hpp"

namespace seq2seq {

/// The options that shape the model, and how its texts are cut.
inline nlohmann::json to_json(options const& o) {
  nlohmann::json shape;
  if (of_edges(o))
    shape = {{"model", o.model},
             {"layers", o.encoder_layers},
             {"width", o.width},
             {"hidden", o.hidden},
             {"heads", o.heads},
             {"tied", o.tied},
             {"positional", o.positional},
             {"from_begin", o.from_begin},
             {"attention", triad::examples::attention_name(o.attention)}};
  else
    shape = {{"model", o.model},
             {"fuse", o.fuse},
             {"only_top", o.only_top},
             {"accumulate", o.accumulate},
             {"relative", o.relative},
             {"encoder_layers", o.encoder_layers},
             {"decoder_layers", o.decoder_layers},
             {"width", o.width},
             {"hidden", o.hidden},
             {"heads", o.heads},
             {"tie_output", o.tie_output},
             {"norm", o.norm}};
  if (o.published) shape["published"] = to_json(*o.published);
  if (o.tokenise != "none") shape["tokenise"] = o.tokenise;
  return shape;
}

inline triad::examples::run_record record_of(options const& o, program const& p, vocabulary const& words) {
  auto const weights = o.published ? "roberta-weights = \"" + o.published_weights + "\"\n" : std::string();
  return {to_json(o).dump(), triad::json_text(to_json(words), "the vocabulary"),
          p.settings + weights + triad::examples::toml_without(to_toml(o), free_settings(o))};
}

/// The options of the model in a checkpoint at `path`; what does not shape a model is taken from `o`.
inline options shaped_as(triad::checkpoint const& file, std::string const& path, options o) {
  o.model = triad::examples::read_name(file, "model",
                                       {"lrf", "transformer", "universal-transformer", "dlcl", "edge-transformer"});
  triad::examples::read_widths(file, o);
  o.hidden = file.setting("hidden", 1, std::numeric_limits<int>::max());
  o.dropout = 0;
  o.tokenise = "none";
  if (file.configuration().contains("tokenise"))
    o.tokenise = triad::examples::read_name(file, "tokenise", {"none", "source", "target", "both"});
  if (of_edges(o)) {
    o.encoder_layers = o.decoder_layers = file.setting("layers", 1, triad::examples::most_layers);
    o.tied = file.setting<bool>("tied");
    o.positional = file.setting<bool>("positional");
    o.from_begin = file.setting<bool>("from_begin");
    o.attention = triad::examples::attention_form(file.setting<std::string>("attention"), path);
    return o;
  }
  o.fuse = triad::examples::read_name(file, "fuse", {"source", "target", "both", "none"});
  o.only_top = file.setting<bool>("only_top");
  o.accumulate = file.setting<bool>("accumulate");
  o.relative = file.setting<bool>("relative");
  o.encoder_layers = file.setting("encoder_layers", 1, static_cast<int>(triad::most_layers));
  o.decoder_layers = file.setting("decoder_layers", 1, static_cast<int>(triad::most_layers));
  o.tie_output = file.setting<bool>("tie_output");
  o.norm = triad::examples::read_name(file, "norm", {"after", "before"});
  o.published.reset();
  if (file.state().configuration.contains("published"))
    o.published = published_from(file.setting<nlohmann::json>("published"), path);
  return o;
}

inline search search_of(options const& o, vocabulary const& words, int n_best = 1) {
  return {o.beam, o.length_penalty, n_best, o.longest_factor,
          o.longest > 0 ? o.longest : 3 * words.longest_target + 10};
}

/// Sentences that are translated at once: as many as what is kept of their hypotheses has room for in some 200 MB, 1 to
/// 64 (one sentence may need more): keys and values of tokens, or the projections of edges, four each.
inline index_t sentences_at_once(options const& o, index_t source, index_t longest) {
  auto const kept = static_cast<double>(of_edges(o) ? (source + longest) * (source + longest) : longest);
  double const values = 4.0 * o.decoder_layers * o.width * o.beam * kept;
  return static_cast<index_t>(std::clamp(5e7 / values, 1.0, 64.0));
}

/// Room for batches of o.tokens, for sequences as long as those of training and as `longest`, and, but where a model
/// explains, for translating such sources.
inline translator_options sizes_for(options const& o, vocabulary const& words, pair_length longest, use what) {
  auto const how = search_of(o, words);
  auto const source = std::max(words.longest_source, longest.source);
  auto const found = how.longest + static_cast<index_t>(how.longest_factor * static_cast<double>(source));
  auto const target = std::max({words.longest_target, longest.target, found});
  auto const sentences = what == use::explaining ? 0 : sentences_at_once(o, source + 1, target + 1);
  auto const given = std::max(words.longest_target, longest.target);
  return {words.source.size(), words.target.size(), o.tokens,  o.pairs, source + 1,
          target + 1,          given + 1,           sentences, what};
}

/// Of the sources that will be translated.
inline pair_length longest_source(data_set const& data, vocabulary& words) {
  std::size_t most = 1;
  auto const add = [&](std::vector<text_pair> const& pairs) {
    for (auto const& pair : pairs) most = std::max(most, words.source.encode(pair.source).size());
  };
  add(data.dev);
  for (auto const& part : data.tests) add(part.pairs);
  return {static_cast<index_t>(most), 0};
}

/// Of pairs whose loss will be asked for.
inline pair_length longest_of(std::vector<coded_pair> const& pairs) {
  std::size_t source = 1, target = 1;
  for (auto const& pair : pairs)
    source = std::max(source, pair.source.size()), target = std::max(target, pair.target.size());
  return {static_cast<index_t>(source), static_cast<index_t>(target)};
}

/// Tokens of a source that is not known yet.
inline index_t most_of_unknown(options const& shape, vocabulary const& words) {
  if (shape.published) return std::min<index_t>(256, most_of_published(*shape.published));
  return of_edges(shape) ? std::max<index_t>(32, 2 * words.longest_source)
                         : 256;  // of edges there are as many as its square
}

/// A trained model out of a run's folder.
struct trained {
  options shape;
  std::uint64_t seed;  // of its run
  vocabulary words;
  std::unique_ptr<translator> net;

  /// Reads run/model.safetensors (or a file itself).  longest(words, shape): of what it is to be given.  Throws
  /// data_error.
  template <class Longest>
  trained(std::string const& run, options const& o, use what, Longest&& longest) {
    auto const path = triad::examples::checkpoint_of(run);
    auto const file = triad::examples::open_checkpoint(path);
    seed = file.key();
    words = vocabulary_from(file.vocabulary(), path);
    shape = shaped_as(file, path, o);
    if (of_edges(shape) && to_json(words.source) != to_json(words.target))
      throw triad::data_error(path + ": an Edge Transformer has one dictionary for both sides; this one has two");
    if (of_edges(shape) && what == use::explaining)
      throw triad::data_error(
          path + ": no layer of this model has fuse-attention, which is what explain shows: train --model lrf has it");
    try {
      net = make_translator(shape, sizes_for(shape, words, longest(words, shape), what));
    } catch (std::bad_alloc const&) {
      throw triad::data_error(
          path + ": there is not enough memory to translate with it; give a smaller --beam or --max-length");
    }
    net->load(path, {to_json(shape).dump(), to_json(words).dump(), {}});
  }
};

}  // namespace seq2seq
