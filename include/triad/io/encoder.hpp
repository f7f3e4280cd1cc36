// Reads a published encoder (RoBERTa, BERT, MPNet) from the files of Hugging Face, config.json and model.safetensors in
// one folder.
// SPDX-License-Identifier: Apache-2.0
//
//   source.word                         embeddings.word_embeddings.weight                  (tokens, e)
//   source.position                     embeddings.position_embeddings.weight              (positions, e)
//   source.type                         embeddings.token_type_embeddings.weight, row 0     (types, e)
//   source.norm                         embeddings.LayerNorm
//   encoder.K.attention.query           encoder.layer.K.attention.self.query               key, value: the same; (e, e)
//   encoder.K.attention.output, norm    encoder.layer.K.attention.output.dense, LayerNorm
//   encoder.K.feed_forward.inner        encoder.layer.K.intermediate.dense                 (hidden, e)
//   encoder.K.feed_forward.outer, norm  encoder.layer.K.output.dense, LayerNorm
//
// MPNet has other names, a table that all layers share (ops/distance_bias.hpp), and no types:
//
//   encoder.distances                   encoder.relative_attention_bias.weight             (32, heads)
//   encoder.K.attention.query           encoder.layer.K.attention.attn.q                   k, v, o: the same; (e, e)
//   encoder.K.attention.norm            encoder.layer.K.attention.LayerNorm
//
// The left column has parameter paths of this library, and the right column has names in the file.  The names in the
// file begin with `roberta.`, `bert.` or `mpnet.`, or have no prefix.  In the file, the gain and bias of a norm are
// called weight and bias, or gamma and beta.  Other tensors of the file (a pooler, the head of a language model) are
// not read.  Other parameters of the model (fuse-attention, the decoder) are not changed.
//
//             model_type                        position of the first token   types   vocabulary
//   RoBERTa   roberta, xlm-roberta, camembert   pad_token_id + 1              1       byte_bpe
//   BERT      bert                              0                             1, 2    wordpiece
//   MPNet     mpnet                             2                             none    wordpiece
#pragma once

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/core/fields.hpp"
#include "triad/io/checkpoint.hpp"
#include "triad/io/json_file.hpp"
#include "triad/io/safetensors.hpp"

namespace triad {

/// The kinds of published encoders.
enum class encoder_kind { roberta, bert, mpnet };

/// The sizes and options of the encoder, from config.json.
struct encoder_config {
  index_t width = 0, layers = 0, heads = 0,
          hidden = 0;                 // hidden_size, num_hidden_layers, num_attention_heads, intermediate_size
  index_t tokens = 0, positions = 0;  // vocab_size, max_position_embeddings
  index_t padding = 1;                // pad_token_id
  double epsilon = 1e-5;              // layer_norm_eps
  encoder_kind kind = encoder_kind::roberta;

  /// The position of a sequence's first token.  In transformers, an MPNet's is 2 for every pad_token_id.
  constexpr index_t first() const {
    return kind == encoder_kind::bert ? 0 : kind == encoder_kind::mpnet ? 2 : padding + 1;
  }
  /// Whether tokens have types, of which the first is used.
  constexpr bool typed() const { return kind != encoder_kind::mpnet; }
  /// Whether the scores of attention have a bias by distance.
  constexpr bool distances() const { return kind == encoder_kind::mpnet; }
};

/// The name of a kind in messages.
constexpr char const* name_of(encoder_kind kind) {
  return kind == encoder_kind::bert ? "BERT" : kind == encoder_kind::mpnet ? "MPNet" : "RoBERTa";
}

/// Reads folder/config.json and checks its values.  `only` is the kind that is expected; empty: any kind.  A file
/// without model_type is a RoBERTa's.
inline encoder_config read_encoder_config(std::string const& folder, std::optional<encoder_kind> only = std::nullopt) {
  auto const path = (std::filesystem::path(folder) / "config.json").string();
  auto const json = read_json_file(path);
  auto const refuse = [&](std::string const& name, std::string const& expected) {
    bool const known = json.is_object() && json.contains(name);
    auto const found = known ? quoted(json.at(name)) : std::string("none");
    throw data_error(path + ": expected " + expected + " as " + name + ", found " + found +
                     "; only encoders of the kind of " + (only ? name_of(*only) : "RoBERTa, BERT and MPNet") +
                     " can be read");
  };
  auto const count = [&](char const* name, index_t least) {
    constexpr index_t most = index_t{1} << 31;
    auto const known = json.is_object() ? json.find(name) : json.end();
    if (known == json.end() || !known->is_number_integer() || *known < least || *known > most)
      refuse(name, "an integer of " + std::to_string(least) + " or more");
    return known->get<index_t>();
  };
  auto const one_of = [&](char const* name, std::vector<std::string> const& good, bool needed) {
    if (!json.is_object() || (!needed && !json.contains(name))) return;
    auto const known = json.find(name);
    if (known != json.end() && known->is_string() &&
        std::find(good.begin(), good.end(), known->get<std::string>()) != good.end())
      return;
    std::string all;
    for (auto const& g : good) all += (all.empty() ? "" : " or ") + detail::printable(g);
    refuse(name, all);
  };
  encoder_config c;
  std::vector<std::string> types;
  if (!only || *only == encoder_kind::roberta) types = {"roberta", "xlm-roberta", "camembert"};
  if (!only || *only == encoder_kind::bert) types.emplace_back("bert");
  if (!only || *only == encoder_kind::mpnet) types.emplace_back("mpnet");
  one_of("model_type", types, only && *only != encoder_kind::roberta);
  auto const type = json.is_object() ? json.value("model_type", nlohmann::json()) : nlohmann::json();
  if (type == "bert") c.kind = encoder_kind::bert;
  if (type == "mpnet") c.kind = encoder_kind::mpnet;
  c.width = count("hidden_size", 1);
  c.layers = count("num_hidden_layers", 1);
  if (c.layers > 63) refuse("num_hidden_layers", "63 or fewer");  // the largest number of layers of a fused_stack
  c.heads = count("num_attention_heads", 1);
  c.hidden = count("intermediate_size", 1);
  c.tokens = count("vocab_size", 1);
  c.padding = c.kind == encoder_kind::bert ? 0 : 1;
  if (json.contains("pad_token_id") && !json.at("pad_token_id").is_null()) c.padding = count("pad_token_id", 0);
  c.positions = count("max_position_embeddings", c.first() + 1);
  if (c.width % c.heads != 0) refuse("num_attention_heads", "a divisor of hidden_size " + std::to_string(c.width));
  if (c.typed() && count("type_vocab_size", 1) != 1 && c.kind != encoder_kind::bert) refuse("type_vocab_size", "1");
  // transformers reads this number, but always computes 32 buckets.
  if (c.distances() && json.contains("relative_attention_num_buckets") &&
      count("relative_attention_num_buckets", 1) != 32)
    refuse("relative_attention_num_buckets", "32");
  for (auto const* role : {"is_decoder", "add_cross_attention"})
    if (json.contains(role) && json.at(role) != false) refuse(role, "false");
  one_of("hidden_act", {"gelu"}, true);
  one_of("position_embedding_type", {"absolute"}, false);
  auto const epsilon = json.find("layer_norm_eps");
  if (epsilon == json.end() || !epsilon->is_number() || !(epsilon->get<double>() > 0 && epsilon->get<double>() < 1))
    refuse("layer_norm_eps", "a positive number below 1");
  c.epsilon = epsilon->get<double>();
  return c;
}

/// Returns the path of the weights, folder/model.safetensors.  Throws data_error if the file is missing.  The message
/// says which other files with weights the folder has.
inline std::string encoder_weights_in(std::string const& folder) {
  std::error_code ignored;
  auto const in = std::filesystem::path(folder);
  auto const path = (in / "model.safetensors").string();
  if (std::filesystem::exists(path, ignored)) return path;
  auto const refused = [&](std::string const& found, std::string const& advice) {
    return path + ": found " + found + ", expected a safetensors file of all weights; " + advice;
  };
  if (std::filesystem::exists(in / "model.safetensors.index.json", ignored))
    throw data_error(refused("several files with a model.safetensors.index.json",
                             "join them: model.save_pretrained(folder, max_shard_size=\"100GB\") of transformers"));
  for (auto const* name : {"pytorch_model.bin", "pytorch_model.bin.index.json"})
    if (std::filesystem::exists(in / name, ignored))
      throw data_error(refused("only a " + std::string(name) + " next to it", "save the model as safetensors"));
  throw data_error(refused("none", "give the folder of a published encoder"));
}

/// Returns the name of a parameter in the published file of an encoder of this kind, without a prefix.  Returns nothing
/// if the published encoder has no such parameter.
inline std::optional<std::string> encoder_name(std::string const& path, encoder_kind kind = encoder_kind::roberta) {
  struct entry {
    std::string_view ours, theirs;
  };
  static constexpr entry embeddings[] = {{"word", "word_embeddings.weight"},
                                         {"position", "position_embeddings.weight"},
                                         {"type", "token_type_embeddings.weight"},
                                         {"norm.gain", "LayerNorm.weight"},
                                         {"norm.bias", "LayerNorm.bias"}};
  static constexpr entry maps[] = {
      {"attention.query.", "attention.self.query."},  {"attention.key.", "attention.self.key."},
      {"attention.value.", "attention.self.value."},  {"attention.output.", "attention.output.dense."},
      {"feed_forward.inner.", "intermediate.dense."}, {"feed_forward.outer.", "output.dense."}};
  static constexpr entry mpnet_maps[] = {{"attention.query.", "attention.attn.q."},
                                         {"attention.key.", "attention.attn.k."},
                                         {"attention.value.", "attention.attn.v."},
                                         {"attention.output.", "attention.attn.o."}};
  static constexpr entry mpnet_norms[] = {{"attention.norm.gain", "attention.LayerNorm.weight"},
                                          {"attention.norm.bias", "attention.LayerNorm.bias"}};
  static constexpr entry norms[] = {{"attention.norm.gain", "attention.output.LayerNorm.weight"},
                                    {"attention.norm.bias", "attention.output.LayerNorm.bias"},
                                    {"feed_forward.norm.gain", "output.LayerNorm.weight"},
                                    {"feed_forward.norm.bias", "output.LayerNorm.bias"}};
  std::string_view rest = path;
  bool const of_mpnet = kind == encoder_kind::mpnet;
  if (of_mpnet && rest == "encoder.distances") return "encoder.relative_attention_bias.weight";
  if (rest.starts_with("source.")) {
    rest.remove_prefix(7);
    for (auto const& e : embeddings)
      if (rest == e.ours && !(of_mpnet && rest == "type")) return "embeddings." + std::string(e.theirs);
    return std::nullopt;
  }
  if (!rest.starts_with("encoder.")) return std::nullopt;
  rest.remove_prefix(8);
  auto const dot = rest.find('.');
  if (dot == std::string_view::npos || dot == 0 || rest.find_first_not_of("0123456789") != dot) return std::nullopt;
  auto const layer = "encoder.layer." + std::string(rest.substr(0, dot + 1));
  rest.remove_prefix(dot + 1);
  if (of_mpnet) {
    for (auto const& e : mpnet_norms)
      if (rest == e.ours) return layer + std::string(e.theirs);
    for (auto const& e : mpnet_maps)
      if (rest.starts_with(e.ours)) return layer + std::string(e.theirs) + std::string(rest.substr(e.ours.size()));
  }
  for (auto const& e : norms)
    if (rest == e.ours) return layer + std::string(e.theirs);
  for (auto const& e : maps)
    if (rest.starts_with(e.ours)) return layer + std::string(e.theirs) + std::string(rest.substr(e.ours.size()));
  return std::nullopt;
}

namespace detail {

/// The published file.  Knows the prefix and the spelling of the names in the file.
class encoder_tensors {
 public:
  explicit encoder_tensors(std::string const& folder) : file_(encoder_weights_in(folder)) {
    std::string const name = "embeddings.word_embeddings.weight";
    for (auto const* const prefix : {"roberta.", "bert.", "mpnet."})
      if (file_.stored_name(prefix + name)) prefix_ = prefix;
    if (prefix_.empty() && !file_.stored_name(name)) (void)file_.record(name);  // throws, with a list of all tensors
    if (file_.stored_name(prefix_ + distances)) kind_ = encoder_kind::mpnet;
    expect_kind_of_config(folder);
  }

  /// Returns the name in the file of the tensor that encoder_name() calls `name`.  Throws if the tensor does not have
  /// the shape `shape`, or has a type that cannot be read as numbers.  The table of token types may have more rows.
  std::string find(std::string const& name, std::vector<index_t> const& shape) const {
    auto found = prefix_ + name;
    if (!file_.stored_name(found)) {
      auto older = found;
      for (auto const& [now, then] :
           {std::pair("LayerNorm.weight", "LayerNorm.gamma"), std::pair("LayerNorm.bias", "LayerNorm.beta")})
        if (std::string_view const end = now; older.ends_with(end))
          older.replace(older.size() - end.size(), end.size(), then);
      if (file_.stored_name(older)) found = older;
    }
    if (auto const* const stored = file_.stored_name(found)) found = *stored;
    auto const& record = file_.record(found);
    bool const more = name == types && record.shape.size() == 2 && record.shape[0] > 1 && record.shape[1] == shape[1];
    if (record.shape != shape && !more)
      throw data_error(file_.file() + ": expected tensor " + printable(found) + " of shape " + shape_text(shape) +
                       ", found " + shape_text(record.shape) +
                       "; build the model that the config.json next to it describes");
    if (record.type != "F32" && record.type != "F64")
      throw data_error(file_.file() + ": expected tensor " + printable(found) + " in F32 or F64, found " +
                       type_text(record.type) + "; convert the file to F32");
    return found;
  }

  /// Throws if the file has layer k, which the model does not have.
  void expect_no_layer(index_t k) const {
    auto const name = prefix_ + "encoder.layer." + std::to_string(k) +
                      (kind_ == encoder_kind::mpnet ? ".attention.attn.q.weight" : ".attention.self.query.weight");
    if (file_.has(name))
      throw data_error(file_.file() + ": expected " + std::to_string(k) + " layers, found tensor " + printable(name) +
                       " of another; build the model that the config.json next to it describes");
  }

  /// Throws if the file has the tensor `name`, which the model does not have.
  void expect_none(std::string_view name, char const* what) const {
    if (file_.stored_name(prefix_ + std::string(name)))
      throw data_error(file_.file() + ": found tensor " + printable(prefix_ + std::string(name)) +
                       ", expected none: the model has no " + what +
                       "; build the model that the config.json next to it describes");
  }

  /// MPNet, or RoBERTa for the other kinds, which have the same names.
  encoder_kind kind() const { return kind_; }
  safetensors const& file() const { return file_; }

  static constexpr char types[] = "embeddings.token_type_embeddings.weight",
                        distances[] = "encoder.relative_attention_bias.weight";

 private:
  /// Throws if the names of the tensors are those of another kind than config.json names.  RoBERTa and BERT have the
  /// same tensors, and other positions.
  void expect_kind_of_config(std::string const& folder) const {
    auto const path = (std::filesystem::path(folder) / "config.json").string();
    std::error_code ignored;
    if (prefix_.empty() || !std::filesystem::exists(path, ignored)) return;
    auto const json = read_json_file(path);
    auto const type = json.is_object() ? json.value("model_type", nlohmann::json()) : nlohmann::json();
    auto const named = type == "bert" ? "bert." : type == "mpnet" ? "mpnet." : "roberta.";
    if (prefix_ != named)
      throw data_error(file_.file() + ": its tensors begin with '" + prefix_ + "', expected '" + named +
                       "', because the model_type of config.json is " +
                       (type.is_null() ? "missing, as in an old RoBERTa" : quoted(type)) +
                       "; take both files from one model");
  }

  safetensors file_;
  std::string prefix_;
  encoder_kind kind_ = encoder_kind::roberta;
};

}  // namespace detail

/// Reads folder/model.safetensors into the encoder and the embedding tables of a model, such as the model in
/// models/roberta.hpp.  If the file does not fit the model, throws data_error and changes nothing.  Does not change
/// other parameters of the model, such as the parameters of fuse-attention.
template <holds_parameters Set>
void load_encoder(std::string const& folder, Set& set) {
  detail::encoder_tensors const published(folder);
  std::vector<std::string> names;  // in the order of the parameters; empty: not in the published encoder
  index_t layers = 0;
  bool typed = false, biased = false;
  walk(set.values(), [&](std::string const& path, auto view) {
    auto const name = encoder_name(path, published.kind());
    typed = typed || path == "source.type";
    biased = biased || path == "encoder.distances";
    if (!name && (path.starts_with("source.") || path.starts_with("encoder.")) &&
        path.find(".fuse.") == std::string::npos)
      throw contract_violation("load_encoder: a published encoder has no " + path +
                               "; give it the parameters of an encoder_under_decoder()");
    names.push_back(name ? published.find(*name, detail::shape_of(view)) : std::string());
    if (path.starts_with("encoder.") && path.ends_with(".attention.query.weight") && name) ++layers;
  });
  published.expect_no_layer(layers);
  if (!typed) published.expect_none(published.types, "types of tokens");
  if (!biased) published.expect_none(published.distances, "bias by distance");
  std::size_t next = 0;
  walk(set.mutable_values(), [&](std::string const&, auto view) {
    using T = typename decltype(view)::element_type;
    auto const& name = names[next++];
    if (name.empty()) return;
    auto const host = published.file().template read_as<T>(name);
    // The first rows of the table of types, and all values of the other tensors.
    set.where().from_host(view.data_handle(), host.data(), static_cast<std::size_t>(view.size()) * sizeof(T));
  });
}

}  // namespace triad
