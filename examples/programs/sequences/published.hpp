// The pre-trained encoder of --encoder.  Reads its sizes, computes the digest of its weights, and checks that it can
// read all sources.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "options.hpp"
#include "shared/backend/room_advice.hpp"
#include "shared/report/refuse.hpp"
#include "shared/run/digest.hpp"
#include "triad/core/sizes.hpp"
#include "triad/io/encoder.hpp"
#include "triad/io/json_read.hpp"
#include "vocabulary.hpp"

namespace triad::programs::sequences {

/// Reads the sizes and the digest of the encoder in the folder of --encoder.  Throws data_error.
inline void read_published(options& o) {
  o.published = read_encoder_config(o.encoder);
  o.published_weights = digest_of(encoder_weights_in(o.encoder));
  o.encoder_layers = static_cast<int>(o.published->layers);
}

inline nlohmann::json to_json(encoder_config const& c) {
  nlohmann::json all{{"width", c.width},   {"layers", c.layers},       {"heads", c.heads},     {"hidden", c.hidden},
                     {"tokens", c.tokens}, {"positions", c.positions}, {"padding", c.padding}, {"epsilon", c.epsilon}};
  if (c.kind != encoder_kind::roberta) all["kind"] = name_of(c.kind);  // older checkpoints are RoBERTa's
  return all;
}

/// Reads the encoder's sizes from a checkpoint.  Throws data_error.
inline encoder_config published_from(nlohmann::json const& json, std::string const& path) {
  try {
    auto const count = [&](char const* name) {
      index_t const least = std::string_view(name) == "padding" ? 0 : 1;
      if (auto const n = whole_number(json.at(name), least, largest_size)) return *n;
      refuse("{}: its encoder's {} is {}, expected a whole number from {} to {}", path, name, quoted(json.at(name)),
             least, largest_size);
    };
    auto const epsilon = json.at("epsilon").get<double>();  // layer norm adds it to a variance
    if (!(epsilon > 0 && epsilon < 1))
      refuse("{}: its encoder's epsilon is {}, expected a number above 0 and below 1", path,
             quoted(json.at("epsilon")));
    auto const kind = json.value("kind", name_of(encoder_kind::roberta));
    auto const known = {encoder_kind::roberta, encoder_kind::bert, encoder_kind::mpnet};
    auto const* const at = std::find_if(known.begin(), known.end(), [&](encoder_kind k) { return kind == name_of(k); });
    if (at == known.end())
      refuse("{}: its encoder's kind is {}, expected RoBERTa, BERT or MPNet", path, quoted(json["kind"]));
    return {count("width"),   count("layers"), count("heads"),
            count("hidden"),  count("tokens"), count("positions"),
            count("padding"), epsilon,         *at};
  } catch (nlohmann::json::exception const& e) {
    refuse("{}: the shape of its pre-trained encoder cannot be read: {}", path, reason_of(e));
  }
}

/// Returns the largest number of tokens in a source, counting the begin token but not the end token.
inline index_t most_of_published(encoder_config const& c) { return c.positions - c.first() - 1; }

/// Throws data_error if a source is too long for the encoder, or if the vocabulary belongs to another model.  `part` is
/// the name of the data in the message.
inline void expect_readable(options const& o, vocabulary& words, std::string const& part,
                            std::vector<text_pair> const& pairs) {
  if (!o.published) return;
  if (words.source.size() > o.published->tokens)
    refuse("the published vocabulary has {} tokens, and the encoder vectors of {} only: expected files of one model",
           words.source.size(), o.published->tokens);
  auto const most = most_of_published(*o.published);
  std::vector<sized_example> longer;
  add_larger(
      longer, most + 1, pairs.size(), [&](std::size_t i) { return words.source.encode(pairs[i].source).size() + 1; },
      [](std::size_t i) { return std::to_string(i + 1); });
  if (longer.empty()) return;
  bool const one = longer.size() == 1, is_bert = o.published->kind == encoder_kind::bert;
  refuse("{}{}{}, {} and {} among them, and the encoder has positions for {}: leave {} out of the data", part,
         one ? ": the source of pair " : ": the sources of pairs ", told_sizes(longer, "tokens"),
         is_bert ? "[CLS]" : "<s>", is_bert ? "[SEP]" : "</s>", most + 1, one ? "it" : "them");
}

}  // namespace triad::programs::sequences
