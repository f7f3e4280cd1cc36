// The model's shape and the vocabulary as a checkpoint keeps them, and back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "../../common/model_sizes.hpp"
#include "../../common/run_folder.hpp"
#include "parser.hpp"
#include "triad/io/checkpoint.hpp"
#include "words.hpp"

namespace dependency {

/// The options that shape the model.  Attention is among them where it is not full: older checkpoints do not name it.
inline nlohmann::json to_json(options const& o) {
  nlohmann::json shape{{"task", o.task},
                       {"model", o.model},
                       {"tied", o.tied},
                       {"layers", o.layers},
                       {"width", o.width},
                       {"heads", o.heads},
                       {"hidden_factor", o.hidden_factor}};
  if (o.attention != triad::triangle_form::full) shape["attention"] = triad::examples::attention_name(o.attention);
  return shape;
}

inline triad::examples::run_record record_of(options const& o, vocabulary const& words) {
  return {to_json(o).dump(), triad::json_text(to_json(words), "the vocabulary"), training_settings(o)};
}

/// The options of the model in a checkpoint; what does not shape a model is taken from `o`.
inline options shaped_as(triad::checkpoint const& file, options o) {
  o.model = triad::examples::read_name(file, "model", {"edge-transformer", "transformer", "universal-transformer"});
  o.attention = triad::triangle_form::full;
  if (file.state().configuration.contains("attention"))
    o.attention = triad::examples::attention_form(file.setting<std::string>("attention"), file.tensors().file());
  o.tied = file.setting<bool>("tied");
  triad::examples::read_stack(file, o);
  o.dropout = 0;
  return o;
}

/// A trained model out of a run's folder.
struct trained {
  vocabulary words;
  std::unique_ptr<parser> net;

  /// Reads folder/model.safetensors (or a file itself) with room for sentences of up to `longest` words.  Throws
  /// data_error.
  trained(std::string const& folder, options const& o, int longest) {
    auto const path = triad::examples::checkpoint_of(folder);
    auto const file = triad::examples::open_checkpoint(path);
    words = vocabulary_from(file.vocabulary(), path);
    auto const shape = shaped_as(file, o);
    net = make_parser(shape, {words.words().size(), static_cast<index_t>(words.relations().size()), 500,
                              std::min(longest, 24), longest, false});
    net->load(path, record_of(shape, words));
  }
};

}  // namespace dependency
