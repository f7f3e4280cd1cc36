// Tests the files of a published RoBERTa: every weight is read into the right parameter, the encoder's results are
// those of RoBERTa, and errors are named.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/roberta.hpp"

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/encoder_states.hpp"
#include "tests/io/published_encoder.hpp"
#include "tests/io/scratch_folder.hpp"
#include "triad/models/roberta.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/parameters.hpp"

namespace io_roberta_tests {

using namespace triad;
using triad::test::contains;
using triad::test::scratch_folder;

constexpr test::encoder_sizes sizes;
constexpr index_t width = sizes.width, layers = sizes.layers, heads = sizes.heads, hidden = sizes.hidden,
                  words = sizes.tokens, positions = sizes.positions;
constexpr index_t end_token = 2;

using weights = test::encoder_weights;
nlohmann::json config() { return test::encoder_json(); }
void write(scratch_folder const& folder, weights const& w, nlohmann::json const& json = config()) {
  test::write_encoder(folder / "", w, json);
}

template <class T>
using set = parameter_set<roberta_transformer<T>, reference::backend>;

template <class T = double>
set<T> made(std::string const& folder, bool fused, holding what = holding::values) {
  fused_transformer_options z;
  z.target_tokens = 5;
  z.decoder = {.layer = {4, 2, 6}, .layers = 2};
  z.encoder.fused = fused ? all_fused(layers) : 0;
  set<T> parameters(roberta_under_decoder<T>(read_roberta_config(folder), z), what);
  initialize(parameters, 3);
  return parameters;
}

template <class Fields>
std::map<std::string, std::vector<double>> by_path(Fields fields) {
  std::map<std::string, std::vector<double>> all;
  walk(fields, [&](std::string const& path, auto view) {
    all[path].assign(view.data_handle(), view.data_handle() + view.size());
  });
  return all;
}

TEMPLATE_TEST_CASE(
    "every tensor of a published encoder becomes the parameter of its role; fuse modules and decoder stay", "", float,
    double) {
  scratch_folder const folder;
  weights const w;
  write(folder, w);
  for (bool fused : {false, true}) {
    auto parameters = made<TestType>(folder / "", fused);
    auto const before = by_path(parameters.values());
    load_roberta(folder / "", parameters);
    auto const after = by_path(parameters.values());
    std::map<std::string, std::string> expected{
        {"source.word", "embeddings.word_embeddings.weight"},
        {"source.position", "embeddings.position_embeddings.weight"},
        {"source.type", "embeddings.token_type_embeddings.weight"},
        {"source.norm.gain", "embeddings.LayerNorm.weight"},
        {"source.norm.bias", "embeddings.LayerNorm.bias"},
        {"encoder.0.attention.query.weight", "encoder.layer.0.attention.self.query.weight"},
        {"encoder.0.attention.norm.gain", "encoder.layer.0.attention.output.LayerNorm.weight"},
        {"encoder.1.attention.key.bias", "encoder.layer.1.attention.self.key.bias"},
        {"encoder.1.attention.value.weight", "encoder.layer.1.attention.self.value.weight"},
        {"encoder.1.attention.output.bias", "encoder.layer.1.attention.output.dense.bias"},
        {"encoder.0.feed_forward.inner.weight", "encoder.layer.0.intermediate.dense.weight"},
        {"encoder.1.feed_forward.outer.bias", "encoder.layer.1.output.dense.bias"},
        {"encoder.1.feed_forward.norm.bias", "encoder.layer.1.output.LayerNorm.bias"}};
    for (auto const& [ours, theirs] : expected) {
      CAPTURE(ours);
      CHECK(after.at(ours) == std::vector<double>(w(theirs).begin(), w(theirs).end()));
    }
    std::set<std::string> read;
    for (auto const& [path, values] : after) {
      CAPTURE(path);
      auto const theirs = roberta_name(path);
      bool const published =
          (path.starts_with("source.") || path.starts_with("encoder.")) && path.find(".fuse.") == std::string::npos;
      REQUIRE(theirs.has_value() == published);
      CHECK(values == (published ? std::vector<double>(w(*theirs).begin(), w(*theirs).end()) : before.at(path)));
      if (published) CHECK(read.insert("roberta." + *theirs).second);
    }
    for (auto const& [name, e] : w.all) {
      CAPTURE(name);
      CHECK(read.count(name) == (name.find("pooler") == std::string::npos ? 1u : 0u));
    }
    CHECK((after.count("encoder.1.fuse.key.weight") == 1) == fused);
  }
}

TEST_CASE("files without the prefix, and older ones that call a norm's parameters gamma and beta, are read alike") {
  scratch_folder const folder, other;
  weights const w;
  write(folder, w);
  auto parameters = made(folder / "", false), others = made(folder / "", false);
  load_roberta(folder / "", parameters);
  weights bare("");
  using renamed = std::pair<std::string, std::string>;
  for (auto const& [now, then] :
       {renamed("LayerNorm.weight", "LayerNorm.gamma"), renamed("LayerNorm.bias", "LayerNorm.beta")})
    for (auto at = bare.all.begin(); at != bare.all.end();) {
      auto const name = at->first;
      if (!name.ends_with(now)) {
        ++at;
        continue;
      }
      bare.all[name.substr(0, name.size() - now.size()) + then] = at->second;
      at = bare.all.erase(at);
    }
  CHECK(bare.all.count("embeddings.LayerNorm.gamma") == 1);
  write(other, bare);
  load_roberta(other / "", others);
  CHECK(by_path(parameters.values()) == by_path(others.values()));
}

TEST_CASE("an encoder whose table of words is stored as a language model's head is read by the alias") {
  scratch_folder const folder, other;
  weights const w;
  write(folder, w);
  auto parameters = made(folder / "", false), others = made(folder / "", false);
  load_roberta(folder / "", parameters);
  write(other, w);
  // The file has the form that save_model of safetensors.torch writes: if several names have the same memory, only the
  // first name in alphabetical order is kept.
  std::string const dropped = "roberta.embeddings.word_embeddings.weight", kept = "lm_head.decoder.weight";
  safetensors_writer file;
  for (auto const& [name, e] : w.all) file.add(name == dropped ? kept : name, e.shape, e.values);
  file.text(dropped, kept);
  file.write(other / "model.safetensors");
  load_roberta(other / "", others);
  CHECK(by_path(parameters.values()) == by_path(others.values()));
}

// ---- RoBERTa in plain loops, from the published names ---------------------------------------------------------------

using rows = std::vector<std::vector<double>>;

rows mapped(rows const& x, weights const& w, std::string const& name) {
  auto const &weight = w(name + ".weight"), &bias = w(name + ".bias");
  rows y(x.size(), std::vector<double>(bias.begin(), bias.end()));
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t o = 0; o < bias.size(); ++o)
      for (std::size_t c = 0; c < x[i].size(); ++c) y[i][o] += x[i][c] * weight[o * x[i].size() + c];
  return y;
}
rows sum_normed(rows x, rows const& branch, weights const& w, std::string const& name) {
  auto const &gain = w(name + ".weight"), &bias = w(name + ".bias");
  for (std::size_t i = 0; i < x.size(); ++i) {
    double mean = 0, square = 0;
    for (std::size_t c = 0; c < width; ++c) mean += (x[i][c] += branch[i][c]) / width;
    for (double v : x[i]) square += (v - mean) * (v - mean) / width;
    for (std::size_t c = 0; c < width; ++c) x[i][c] = (x[i][c] - mean) / std::sqrt(square + 1e-3) * gain[c] + bias[c];
  }
  return x;
}
rows attended(rows const& q, rows const& k, rows const& v) {
  constexpr std::size_t each = width / heads;
  rows y(q.size(), std::vector<double>(width));
  for (std::size_t h = 0; h < heads; ++h)
    for (std::size_t i = 0; i < q.size(); ++i) {
      std::vector<double> weight(k.size());
      double total = 0;
      for (std::size_t j = 0; j < k.size(); ++j) {
        double score = 0;
        for (std::size_t c = h * each; c < (h + 1) * each; ++c) score += q[i][c] * k[j][c];
        total += weight[j] = std::exp(score / std::sqrt(static_cast<double>(each)));
      }
      for (std::size_t j = 0; j < k.size(); ++j)
        for (std::size_t c = h * each; c < (h + 1) * each; ++c) y[i][c] += weight[j] / total * v[j][c];
    }
  return y;
}
rows roberta(std::vector<index_t> const& tokens, weights const& w) {
  rows x(tokens.size(), std::vector<double>(width)), nothing = x;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    for (std::size_t c = 0; c < width; ++c)
      x[i][c] = double{w("embeddings.word_embeddings.weight")[static_cast<std::size_t>(tokens[i]) * width + c]} +
                w("embeddings.position_embeddings.weight")[(i + 2) * width + c] +
                double{w("embeddings.token_type_embeddings.weight")[c]};
  x = sum_normed(x, nothing, w, "embeddings.LayerNorm");
  for (index_t k = 0; k < layers; ++k) {
    auto const layer = "encoder.layer." + std::to_string(k) + ".";
    auto const part = [&](char const* name) { return mapped(x, w, layer + "attention.self." + name); };
    auto const context =
        mapped(attended(part("query"), part("key"), part("value")), w, layer + "attention.output.dense");
    x = sum_normed(x, context, w, layer + "attention.output.LayerNorm");
    auto inner = mapped(x, w, layer + "intermediate.dense");
    for (auto& row : inner)
      for (double& v : row) v = v * 0.5 * std::erfc(-v / std::sqrt(2.0));
    x = sum_normed(x, mapped(inner, w, layer + "output.dense"), w, layer + "output.LayerNorm");
  }
  return x;
}

TEST_CASE("a loaded encoder computes what RoBERTa is, written out in loops") {
  scratch_folder const folder;
  weights const w;
  write(folder, w);
  auto parameters = made(folder / "", false);
  load_roberta(folder / "", parameters);
  std::vector<std::vector<index_t>> const sentences{{0, 5, 7, 5, 10}, {0, 4}};
  auto const y = test::encoder_states(parameters, sentences, end_token);
  index_t row = 0;
  for (auto s : sentences) {
    s.push_back(end_token);
    for (auto const& expected : roberta(s, w)) {
      for (index_t c = 0; c < width; ++c)
        CHECK_THAT(y[static_cast<std::size_t>(row * width + c)],
                   test::WithinAbs(expected[static_cast<std::size_t>(c)], 1e-13));
      ++row;
    }
  }
  CHECK(row * width == static_cast<index_t>(y.size()));
}

// ---- invalid files --------------------------------------------------------------------------------------------------

TEST_CASE(
    "weights that are missing, of another shape, cut off or of another type are refused by name, and nothing is "
    "changed") {
  scratch_folder const good;
  write(good, weights());
  auto parameters = made(good / "", true);
  auto const before = by_path(parameters.values());
  auto const refused = [&](std::function<void(weights&)> const& spoil, std::vector<std::string> const& texts) {
    scratch_folder const folder;
    weights w;
    spoil(w);
    write(folder, w);
    for (auto const& text : texts) {
      CAPTURE(text);
      CHECK_THROWS_WITH(load_roberta(folder / "", parameters), contains(text) && contains("model.safetensors"));
    }
    CHECK(by_path(parameters.values()) == before);
  };
  refused([](weights& w) { w.all.erase("roberta.encoder.layer.1.output.dense.bias"); },
          {"expected a tensor \"roberta.encoder.layer.1.output.dense.bias\""});
  refused([](weights& w) { w.all.erase("roberta.embeddings.LayerNorm.bias"); },
          {"\"roberta.embeddings.LayerNorm.bias\""});
  refused([](weights& w) { w.all.erase("roberta.embeddings.word_embeddings.weight"); },
          {"\"embeddings.word_embeddings.weight\", found none"});
  refused([](weights& w) { w.all.at("roberta.encoder.layer.0.attention.self.key.weight").shape = {width * width, 1}; },
          {"\"roberta.encoder.layer.0.attention.self.key.weight\" of shape (8, 8), found (64, 1)"});
  refused([](weights& w) { w.all["roberta.encoder.layer.2.attention.self.query.weight"] = {{1}, {0}}; },
          {"expected 2 layers", "layer.2."});

  scratch_folder const half;
  {
    safetensors_writer file;
    weights const w;
    for (auto const& [name, e] : w.all) {
      if (name == "roberta.embeddings.token_type_embeddings.weight") {
        file.add_bytes(name, "BF16", e.shape, std::vector<std::byte>(e.values.size() * 2));
      } else {
        file.add(name, e.shape, e.values);
      }
    }
    file.write(half / "model.safetensors");
  }
  CHECK_THROWS_WITH(load_roberta(half / "", parameters),
                    contains("token_type_embeddings.weight\" in F32 or F64, found BF16; convert"));

  auto bytes = test::content(good / "model.safetensors");
  bytes.resize(bytes.size() - 7);
  test::write_content(half / "model.safetensors", bytes);
  CHECK_THROWS_WITH(load_roberta(half / "", parameters), contains("model.safetensors, byte "));

  scratch_folder const none;
  CHECK_THROWS_WITH(load_roberta(none / "", parameters),
                    contains("model.safetensors: found none, expected a safetensors file"));
  for (auto const* name : {"pytorch_model.bin.index.json", "pytorch_model.bin", "model.safetensors.index.json"}) {
    std::ofstream(none / name) << "x";
    CHECK_THROWS_WITH(load_roberta(none / "", parameters), contains(name) && contains("expected a safetensors file"));
  }
  CHECK_THROWS_WITH(roberta_weights_in(none / ""), contains("join them: model.save_pretrained"));
  CHECK(roberta_weights_in(good / "") == good / "model.safetensors");
  CHECK(by_path(parameters.values()) == before);
}

TEST_CASE("a model that is no RoBERTa's is not given one's weights") {
  scratch_folder const folder;
  write(folder, weights());
  fused_transformer_options z;
  z.source_tokens = words;
  z.target_tokens = 5;
  z.encoder = z.decoder = {.layer = {width, heads, hidden}, .layers = 2};
  parameter_set<fused_transformer<double>, reference::backend> other{fused_transformer<double>(z), holding::values};
  CHECK_THROWS_WITH(load_roberta(folder / "", other), contains("a published encoder has no source.table"));
}

TEST_CASE("a config that is damaged, or of another kind of encoder, is refused with what was found") {
  scratch_folder const folder;
  write(folder, weights());
  auto const c = read_roberta_config(folder / "");
  CHECK((c.width == width && c.layers == layers && c.heads == heads && c.hidden == hidden && c.tokens == words &&
         c.positions == positions && c.padding == 1));
  CHECK(c.epsilon == 1e-3);
  struct fault {
    char const *name, *value, *message;  // value: JSON, or null to remove the member
  };
  for (auto const& f :
       {fault{"hidden_size", nullptr, "an integer of 1 or more as hidden_size, found none"},
        fault{"hidden_size", "8.5", "as hidden_size, found 8.5;"},
        fault{"num_hidden_layers", "0", "as num_hidden_layers, found 0;"},
        fault{"num_attention_heads", "3", "a divisor of hidden_size 8"}, fault{"vocab_size", "-4", "as vocab_size"},
        fault{"max_position_embeddings", "2", "an integer of 3 or more as max_position_embeddings"},
        fault{"intermediate_size", "18446744073709551615", "as intermediate_size"},
        fault{"type_vocab_size", "2", "expected 1 as type_vocab_size"},
        fault{"hidden_act", "\"gelu_new\"", "as hidden_act"}, fault{"hidden_act", nullptr, "as hidden_act, found none"},
        fault{"position_embedding_type", "\"relative_key\"", "as position_embedding_type"},
        fault{"model_type", "\"bert\"", "\"roberta\" or"},
        fault{"layer_norm_eps", "0", "a positive number below 1 as layer_norm_eps"},
        fault{"layer_norm_eps", "2", "a positive number below 1 as layer_norm_eps"},
        fault{"layer_norm_eps", nullptr, "as layer_norm_eps, found none"}}) {
    CAPTURE(f.name, f.message);
    auto json = config();
    json.erase(f.name);
    if (f.value) json[f.name] = nlohmann::json::parse(f.value);
    write(folder, weights(), json);
    CHECK_THROWS_WITH(read_roberta_config(folder / ""), contains("config.json: expected") && contains(f.message));
  }
  std::ofstream(folder / "config.json") << "[1, 2]";
  CHECK_THROWS_WITH(read_roberta_config(folder / ""), contains("as hidden_size, found none"));
  std::ofstream(folder / "config.json") << "{\n \"hidden_size\": 8,\n }";
  CHECK_THROWS_WITH(read_roberta_config(folder / ""), contains("config.json:3: expected JSON"));
  std::ofstream(folder / "config.json") << "{\"layer_norm_eps\": 1e999}";
  CHECK_THROWS_WITH(read_roberta_config(folder / ""), contains("config.json: there is a value that cannot be read"));
  std::string const deep(200'000, '[');
  std::ofstream(folder / "config.json") << "{\"hidden_size\": " << deep << std::string(deep.size(), ']') << "}";
  CHECK_THROWS_WITH(read_roberta_config(folder / ""),
                    contains("config.json: expected JSON of at most 64 levels, found more"));
  CHECK_THROWS_WITH(read_roberta_config(folder / "nowhere"), contains("expected a file of JSON"));
}

}  // namespace io_roberta_tests
