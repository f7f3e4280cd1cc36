// The model's shape and the vocabulary as a checkpoint keeps them, and back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "../common/learner.hpp"
#include "../common/model_sizes.hpp"
#include "graph.hpp"
#include "options.hpp"
#include "triad/io/checkpoint.hpp"

namespace clutrr {

/// The options that shape the model.
inline nlohmann::json to_json(options const& o) {
  return {{"model", o.model},
          {"attention", triad::examples::attention_name(o.attention)},
          {"form", o.paper_form ? "paper" : "released"},
          {"layers", o.layers},
          {"width", o.width},
          {"heads", o.heads},
          {"hidden_factor", o.hidden_factor},
          {"tied", o.tied}};
}

inline nlohmann::json to_json(vocabulary const& words) {
  return {{"edges", words.edge_labels}, {"targets", words.targets}};
}

inline triad::examples::run_record record_of(options const& o, vocabulary const& words) {
  return {to_json(o).dump(), triad::json_text(to_json(words), "the vocabulary"), training_settings(o)};
}

/// The options of the model in a checkpoint; what does not shape a model is taken from `o`.
inline options shaped_as(triad::checkpoint const& file, options o) {
  o.model = triad::examples::read_name(file, "model", {"edge-transformer", "rat", "rrat"});
  o.attention = triad::examples::attention_form(file.setting<std::string>("attention"), file.tensors().file());
  o.paper_form = file.setting<std::string>("form") == "paper";
  triad::examples::read_stack(file, o);
  o.tied = file.setting<bool>("tied");
  o.dropout = 0;
  return o;
}

inline vocabulary vocabulary_of(triad::checkpoint const& file) {
  try {
    return {file.vocabulary().at("edges").get<std::vector<std::string>>(),
            file.vocabulary().at("targets").get<std::vector<std::string>>()};
  } catch (nlohmann::json::exception const&) {
    throw triad::data_error(file.tensors().file() + ": its vocabulary is not one of this program's");
  }
}

}  // namespace clutrr
