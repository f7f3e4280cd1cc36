// Reads a published RoBERTa encoder.  io/encoder.hpp reads it, as every kind of encoder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "triad/io/encoder.hpp"

namespace triad {

using roberta_config = encoder_config;

/// Reads folder/config.json, checks its values, and refuses other kinds of encoders.
inline roberta_config read_roberta_config(std::string const& folder) {
  return read_encoder_config(folder, encoder_kind::roberta);
}
/// Returns the path of the weights (encoder_weights_in).
inline std::string roberta_weights_in(std::string const& folder) { return encoder_weights_in(folder); }
/// Returns the name of a parameter in the published file, without `roberta.` (encoder_name).
inline std::optional<std::string> roberta_name(std::string const& path) { return encoder_name(path); }
/// Reads folder/model.safetensors into the encoder and the embedding tables of a model (load_encoder).
template <holds_parameters Set>
void load_roberta(std::string const& folder, Set& set) {
  load_encoder(folder, set);
}

}  // namespace triad
