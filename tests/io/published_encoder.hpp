// Makes a small RoBERTa, BERT or MPNet with random values, in the form of a published model.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/ragged.hpp"
#include "triad/io/safetensors.hpp"

namespace triad::test {

struct encoder_sizes {
  index_t width = 8, layers = 2, heads = 2, hidden = 12, tokens = 11, positions = 9;
  std::string_view kind = "roberta";  // model_type, and the prefix of the tensors
};

/// The tensors of a published file, by name.
struct encoder_weights {
  struct entry {
    std::vector<index_t> shape;
    std::vector<float> values;
  };
  std::map<std::string, entry> all;
  std::string prefix;

  explicit encoder_weights(encoder_sizes const& z = {}, std::uint64_t seed = 100)
      : encoder_weights(std::string(z.kind) + ".", z, seed) {}
  encoder_weights(std::string prefix_of_names, encoder_sizes const& z = {}, std::uint64_t seed = 100)
      : prefix(std::move(prefix_of_names)) {
    auto const add = [&](std::string const& name, std::vector<index_t> shape) {
      index_t count = 1;
      for (auto e : shape) count *= e;
      auto values = random_values<float>(count, seed + all.size());
      all[prefix + name] = {std::move(shape), std::move(values)};
    };
    auto const map = [&](std::string const& name, index_t in, index_t out) {
      add(name + ".weight", {out, in});
      add(name + ".bias", {out});
    };
    auto const norm = [&](std::string const& name) {
      add(name + ".weight", {z.width});
      add(name + ".bias", {z.width});
    };
    add("embeddings.word_embeddings.weight", {z.tokens, z.width});
    add("embeddings.position_embeddings.weight", {z.positions, z.width});
    bool const of_mpnet = z.kind == "mpnet";
    if (!of_mpnet) add("embeddings.token_type_embeddings.weight", {z.kind == "bert" ? 2 : 1, z.width});
    norm("embeddings.LayerNorm");
    for (index_t k = 0; k < z.layers; ++k) {
      auto const layer = "encoder.layer." + std::to_string(k) + ".";
      if (of_mpnet) {
        for (auto const* part : {"q", "k", "v", "o"}) map(layer + "attention.attn." + part, z.width, z.width);
        norm(layer + "attention.LayerNorm");
      } else {
        for (auto const* part : {"query", "key", "value"}) map(layer + "attention.self." + part, z.width, z.width);
        map(layer + "attention.output.dense", z.width, z.width);
        norm(layer + "attention.output.LayerNorm");
      }
      map(layer + "intermediate.dense", z.width, z.hidden);
      map(layer + "output.dense", z.hidden, z.width);
      norm(layer + "output.LayerNorm");
    }
    if (of_mpnet) add("encoder.relative_attention_bias.weight", {32, z.heads});
    map("pooler.dense", z.width, z.width);  // the reader ignores it
  }
  std::vector<float> const& operator()(std::string const& name) const { return all.at(prefix + name).values; }
};

/// Returns the content of the model's config.json.
inline nlohmann::json encoder_json(encoder_sizes const& z = {}) {
  bool const of_bert = z.kind == "bert", of_mpnet = z.kind == "mpnet";
  nlohmann::json json{{"model_type", z.kind},
                      {"hidden_size", z.width},
                      {"num_hidden_layers", z.layers},
                      {"num_attention_heads", z.heads},
                      {"intermediate_size", z.hidden},
                      {"vocab_size", z.tokens},
                      {"max_position_embeddings", z.positions},
                      {"layer_norm_eps", 1e-3},
                      {"hidden_act", "gelu"},
                      {"pad_token_id", of_bert ? 0 : 1},
                      {"architectures",
                       {of_bert    ? "BertModel"
                        : of_mpnet ? "MPNetModel"
                                   : "RobertaForMaskedLM"}}};
  if (of_mpnet)
    json["relative_attention_num_buckets"] = 32;
  else
    json["type_vocab_size"] = of_bert ? 2 : 1;
  return json;
}

inline void write_encoder(std::filesystem::path const& folder, encoder_weights const& w, nlohmann::json const& json) {
  std::ofstream(folder / "config.json") << json.dump(2);
  safetensors_writer file;
  file.text("format", "pt");
  for (auto const& [name, e] : w.all) file.add(name, e.shape, e.values);
  file.write((folder / "model.safetensors").string());
}

}  // namespace triad::test
