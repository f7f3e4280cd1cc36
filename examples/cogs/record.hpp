// The model's shape and the vocabulary as a checkpoint keeps them, and back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "../common/model_sizes.hpp"
#include "../common/run_folder.hpp"
#include "parser.hpp"
#include "triad/io/checkpoint.hpp"
#include "words.hpp"

namespace cogs {

/// The options that shape the model.
inline nlohmann::json to_json(options const& o) {
  return {{"model", o.model},
          {"attention", triad::examples::attention_name(o.attention)},
          {"form", o.paper_form ? "paper" : "released"},
          {"encoding", o.positional ? "positional" : "relational"},
          {"arcs", o.from_parent ? "from parent" : "from child"},
          {"learn_all", o.learn_all},
          {"layers", o.layers},
          {"width", o.width},
          {"heads", o.heads},
          {"hidden_factor", o.hidden_factor},
          {"tied", o.tied}};
}

inline triad::examples::run_record record_of(options const& o, vocabulary const& words) {
  return {to_json(o).dump(), triad::json_text(to_json(words), "the vocabulary"), training_settings(o)};
}

/// The options of the model in a checkpoint; what does not shape a model is taken from `o`.
inline options shaped_as(triad::checkpoint const& file, options o) {
  o.model = triad::examples::read_name(file, "model", {"edge-transformer", "transformer", "universal-transformer"});
  o.attention = triad::examples::attention_form(file.setting<std::string>("attention"), file.tensors().file());
  o.paper_form = file.setting<std::string>("form") == "paper";
  o.positional = file.setting<std::string>("encoding") == "positional";
  o.from_parent = file.setting<std::string>("arcs") == "from parent";
  o.learn_all = file.setting<bool>("learn_all");
  triad::examples::read_stack(file, o);
  o.tied = file.setting<bool>("tied");
  o.dropout = 0;
  return o;
}

/// A trained model out of a run's folder.
struct trained {
  vocabulary words;
  std::unique_ptr<parser> net;

  /// Reads folder/model.safetensors (or a file itself) with room for sentences of up to `longest` tokens.  Throws
  /// data_error.
  trained(std::string const& folder, options const& o, int longest) {
    auto const path = triad::examples::checkpoint_of(folder);
    auto const file = triad::examples::open_checkpoint(path);
    words = vocabulary_from(file.vocabulary(), path);
    auto const shape = shaped_as(file, o);
    net = make_parser(shape, {words.tokens.count(), words.labels(), 64, std::min(longest, 24), longest, false});
    net->load(path, record_of(shape, words));
  }
};

}  // namespace cogs
