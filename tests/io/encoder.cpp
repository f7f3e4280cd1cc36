// Tests published encoders of other kinds than RoBERTa: the states are PyTorch's, and errors are named.
// tests/io/roberta.cpp tests what all kinds share.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/encoder.hpp"

#include <algorithm>
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

namespace io_encoder_tests {

using namespace triad;
using triad::test::contains;
using triad::test::scratch_folder;
using set = parameter_set<roberta_transformer<double>, reference::backend>;
using tokens = std::vector<index_t>;
using test::encoder_states;

constexpr test::encoder_sizes sizes_of(std::string_view kind) {
  test::encoder_sizes z;
  z.kind = kind;
  return z;
}

set loaded(std::string const& folder) {
  fused_transformer_options z;
  z.target_tokens = 5;
  z.decoder = {.layer = {4, 2, 6}, .layers = 2};
  auto const config = read_encoder_config(folder);
  set parameters(encoder_under_decoder<double>(config, z), holding::values);
  initialize(parameters, 3);
  load_encoder(folder, parameters);
  return parameters;
}

// The expected states were computed with torch 2.15.0 and transformers 5.24.0 in double precision, from the files of
// write_encoder(): AutoModel.from_pretrained(folder, dtype=torch.float64)(input_ids=ids).last_hidden_state.
constexpr double rounding = 1e-8;

TEST_CASE("the states of a BERT are PyTorch's") {
  auto const z = sizes_of("bert");
  std::vector<double> const expected{
      -0.917217373, -0.718491422, -1.012688439, -0.816204041, 1.381844356, 1.020662187, -1.172960608, 0.020887243,
      -0.917401875, -0.725133525, -1.013257463, -0.805739623, 1.382075635, 1.013822751, -1.176213066, 0.020435864,
      -0.913091124, -0.751550143, -1.063094318, -0.748477314, 1.427405733, 0.954631189, -1.189450188, 0.01802364,
      -0.914278222, -0.753936147, -1.052612569, -0.749039901, 1.415880458, 0.961779161, -1.188756822, 0.018166385,
      -0.913662503, -0.735733138, -1.052166772, -0.776500303, 1.421874107, 0.973809649, -1.188135279, 0.019010177,
      -0.910522965, -0.764792064, -1.093178162, -0.718838164, 1.447640449, 0.923147986, -1.193820555, 0.017305193,
      -0.91920262,  -0.644701401, -0.895328991, -0.940662461, 1.373356499, 1.07084404,  -1.142681777, 0.024972329,
      -0.919070688, -0.628062714, -0.881721304, -0.958054629, 1.384720377, 1.057980535, -1.142419536, 0.02420603,
      -0.91379454,  -0.720311732, -0.989486759, -0.814458986, 1.435970804, 0.984729538, -1.176256247, 0.018865911};
  for (std::string const prefix : {"bert.", ""}) {
    scratch_folder const folder;
    test::write_encoder(folder / "", test::encoder_weights(prefix, z), test::encoder_json(z));
    auto parameters = loaded(folder / "");
    auto const found = encoder_states(parameters, {{2, 5, 7, 5, 10}, {2, 4}}, 3);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK_THAT(found[i], test::WithinAbs(expected[i], rounding));
  }
}

TEST_CASE("a BERT has positions from 0, and the first row of its token types is read") {
  auto const z = sizes_of("bert");
  scratch_folder const folder;
  test::encoder_weights const w(z);
  test::write_encoder(folder / "", w, test::encoder_json(z));
  auto const c = read_encoder_config(folder / "");
  CHECK((c.kind == encoder_kind::bert && c.padding == 0 && c.first() == 0));
  auto parameters = loaded(folder / "");
  CHECK(parameters.model().source.longest() == z.positions);
  auto const type = parameters.values().source.type;
  auto const& published = w("embeddings.token_type_embeddings.weight");
  REQUIRE((type.extent(0) == 1 && published.size() == 2 * 8));
  for (index_t i = 0; i < z.width; ++i) CHECK(type(0, i) == double{published[static_cast<std::size_t>(i)]});
  // The longest sentence uses every position; one token more is refused.
  CHECK(encoder_states(parameters, {tokens(static_cast<std::size_t>(z.positions) - 1, 5)}, 3).size() == 72);
  CHECK_THROWS_WITH(encoder_states(parameters, {tokens(static_cast<std::size_t>(z.positions), 5)}, 3),
                    contains("a source of 10 tokens, expected at most 9"));

  // The tensors of a BERT next to the config.json of a RoBERTa, which has other positions.
  auto config = test::encoder_json(z);
  config["model_type"] = "roberta";
  test::write_encoder(folder / "", w, config);
  CHECK_THROWS_WITH(
      load_encoder(folder / "", parameters),
      contains("its tensors begin with 'bert.', expected 'roberta.', because the model_type of config.json "
               "is \"roberta\"; take both files from one model"));

  test::encoder_weights other(z);
  other.all.at("bert.embeddings.token_type_embeddings.weight").shape = {1, 16};
  test::write_encoder(folder / "", other, test::encoder_json(z));
  CHECK_THROWS_WITH(load_encoder(folder / "", parameters), contains("token_type_embeddings.weight\" of shape (1, 8)"));
}

TEST_CASE("the states of an MPNet are PyTorch's, in a sentence longer than the reach of the bias too") {
  auto z = sizes_of("mpnet");
  z.positions = 120;
  // All states of the first two sentences, and those of tokens 0, 50 and 99 of the third.
  std::vector<double> const expected{
      0.030531382, 0.235582988, 1.188534136, 0.426748598, 0.486876168, 0.516127206, -0.564625326, -0.248955778,
      0.028078041, 0.230504366, 1.187805222, 0.427838931, 0.490478284, 0.50835338,  -0.566553604, -0.246349705,
      0.036424684, 0.210544677, 1.185382678, 0.419998904, 0.478563373, 0.516355875, -0.560912347, -0.251291687,
      0.034918092, 0.231488186, 1.186398769, 0.424649622, 0.483576224, 0.518030778, -0.56291209,  -0.2513489,
      0.0308381,   0.224177319, 1.187841547, 0.428471141, 0.485792518, 0.511460909, -0.564435043, -0.247808,
      0.02573837,  0.218977885, 1.187268382, 0.421035642, 0.488756391, 0.505735008, -0.565941716, -0.245415458,
      0.034186644, 0.307853255, 1.195526888, 0.437548837, 0.487339261, 0.550055736, -0.564781253, -0.25606875,
      0.026676647, 0.291848204, 1.198424893, 0.442109999, 0.494745274, 0.536346862, -0.569073447, -0.248908001,
      0.040671234, 0.272870383, 1.195489449, 0.423232015, 0.47956052,  0.558808833, -0.560194029, -0.25794995,
      0.03169584,  0.249378703, 1.194192248, 0.445837652, 0.478055773, 0.528591834, -0.560617476, -0.250583401,
      0.030780764, 0.245662542, 1.195040782, 0.44563513,  0.482694882, 0.525347855, -0.563271502, -0.248440013,
      0.028987726, 0.239862071, 1.195006758, 0.440781273, 0.481660685, 0.524679286, -0.562732434, -0.248013868};
  tokens longest{0};
  for (index_t i = 0; i < 98; ++i) longest.push_back(3 + 7 * i % 8);
  for (std::string const prefix : {"mpnet.", ""}) {
    scratch_folder const folder;
    test::write_encoder(folder / "", test::encoder_weights(prefix, z), test::encoder_json(z));
    auto const c = read_encoder_config(folder / "");
    CHECK((c.kind == encoder_kind::mpnet && c.first() == 2 && c.distances() && !c.typed()));
    auto parameters = loaded(folder / "");
    auto const all = encoder_states(parameters, {{0, 5, 7, 5, 10}, {0, 4}, longest}, 2);
    auto found = std::vector<double>(all.begin(), all.begin() + 9 * 8);
    for (std::ptrdiff_t const row : {9, 59, 108})
      found.insert(found.end(), all.begin() + row * 8, all.begin() + row * 8 + 8);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK_THAT(found[i], test::WithinAbs(expected[i], rounding));
  }
}

TEST_CASE("every tensor of an MPNet becomes the parameter of its role") {
  auto const z = sizes_of("mpnet");
  scratch_folder const folder;
  test::encoder_weights const w(z);
  test::write_encoder(folder / "", w, test::encoder_json(z));
  auto parameters = loaded(folder / "");
  std::map<std::string, std::string> const expected{
      {"source.word", "embeddings.word_embeddings.weight"},
      {"source.norm.bias", "embeddings.LayerNorm.bias"},
      {"encoder.distances", "encoder.relative_attention_bias.weight"},
      {"encoder.0.attention.query.weight", "encoder.layer.0.attention.attn.q.weight"},
      {"encoder.1.attention.key.bias", "encoder.layer.1.attention.attn.k.bias"},
      {"encoder.1.attention.value.weight", "encoder.layer.1.attention.attn.v.weight"},
      {"encoder.1.attention.output.bias", "encoder.layer.1.attention.attn.o.bias"},
      {"encoder.0.attention.norm.gain", "encoder.layer.0.attention.LayerNorm.weight"},
      {"encoder.0.feed_forward.norm.bias", "encoder.layer.0.output.LayerNorm.bias"}};
  std::set<std::string> read;
  std::size_t seen = 0;
  walk(parameters.values(), [&](std::string const& path, auto view) {
    CAPTURE(path);
    auto const name = encoder_name(path, encoder_kind::mpnet);
    REQUIRE(name.has_value() == (path.starts_with("source.") || path.starts_with("encoder.")));
    if (!name) return;
    if (auto const known = expected.find(path); known != expected.end()) {
      CHECK(*name == known->second);
      ++seen;
    }
    CHECK(read.insert("mpnet." + *name).second);
    auto const& values = w(*name);
    CHECK(std::vector<double>(view.data_handle(), view.data_handle() + view.size()) ==
          std::vector<double>(values.begin(), values.end()));
  });
  CHECK(seen == expected.size());
  for (auto const& [name, e] : w.all) {
    CAPTURE(name);
    CHECK(read.count(name) == (name.find("pooler") == std::string::npos ? 1u : 0u));
  }
  CHECK_FALSE(encoder_name("source.type", encoder_kind::mpnet));
  CHECK_FALSE(encoder_name("encoder.distances", encoder_kind::bert));
}

TEST_CASE("weights of another kind than the model's are refused, and nothing is changed") {
  scratch_folder const folder, other;
  auto const bert = sizes_of("bert"), mpnet = sizes_of("mpnet");
  test::write_encoder(folder / "", test::encoder_weights(bert), test::encoder_json(bert));
  test::write_encoder(other / "", test::encoder_weights(mpnet), test::encoder_json(mpnet));
  auto of_bert = loaded(folder / ""), of_mpnet = loaded(other / "");
  auto const before = encoder_states(of_mpnet, {{0, 4}}, 2);
  CHECK_THROWS_WITH(load_encoder(folder / "", of_mpnet), contains("a published encoder has no encoder.distances"));
  CHECK_THROWS_WITH(load_encoder(other / "", of_bert), contains("a published encoder has no source.type"));
  // A model without types, and a file with them.
  test::encoder_weights typed(mpnet);
  typed.all["mpnet.embeddings.token_type_embeddings.weight"] = {{1, 8}, std::vector<float>(8)};
  test::write_encoder(folder / "", typed, test::encoder_json(mpnet));
  CHECK_THROWS_WITH(load_encoder(folder / "", of_mpnet),
                    contains("token_type_embeddings.weight\", expected none: the model has no types of tokens"));
  test::encoder_weights shaped(mpnet);
  shaped.all.at("mpnet.encoder.relative_attention_bias.weight").shape = {16, 4};
  test::write_encoder(folder / "", shaped, test::encoder_json(mpnet));
  CHECK_THROWS_WITH(load_encoder(folder / "", of_mpnet),
                    contains("relative_attention_bias.weight\" of shape (32, 2), found (16, 4)"));
  test::encoder_weights more(mpnet);
  more.all["mpnet.encoder.layer.2.attention.attn.q.weight"] = {{1}, {0}};
  test::write_encoder(folder / "", more, test::encoder_json(mpnet));
  CHECK_THROWS_WITH(load_encoder(folder / "", of_mpnet), contains("expected 2 layers, found tensor"));
  CHECK(encoder_states(of_mpnet, {{0, 4}}, 2) == before);
}

TEST_CASE("a config is read as the kind that it names, and other kinds and roles are refused") {
  scratch_folder const folder;
  auto const z = sizes_of("bert");
  auto const refused = [&](char const* name, nlohmann::json const& value, std::optional<encoder_kind> only,
                           std::string const& message) {
    CAPTURE(message);
    auto json = test::encoder_json(z);
    json.erase(name);
    if (!value.is_null()) json[name] = value;
    test::write_encoder(folder / "", test::encoder_weights(z), json);
    CHECK_THROWS_WITH(read_encoder_config(folder / "", only), contains("config.json: expected ") && contains(message));
  };
  auto const any = std::optional<encoder_kind>();
  refused("model_type", "gpt2", any,
          "or \"mpnet\" as model_type, found \"gpt2\"; only encoders of the kind of RoBERTa");
  refused("model_type", nullptr, any, "expected 1 as type_vocab_size, found 2");  // the file of a RoBERTa has one type
  refused("model_type", nullptr, encoder_kind::bert, "\"bert\" as model_type, found none");
  refused("model_type", "roberta", encoder_kind::bert, "\"bert\" as model_type, found \"roberta\"");
  refused("hidden_size", 8, encoder_kind::roberta,
          "as model_type, found \"bert\"; only encoders of the kind of RoBERTa");
  refused("model_type", "mpnet", encoder_kind::bert, "\"bert\" as model_type, found \"mpnet\"");
  refused("is_decoder", true, any, "false as is_decoder, found true");
  refused("max_position_embeddings", 0, any, "an integer of 1 or more as max_position_embeddings");
  refused("position_embedding_type", "relative_key_query", any, "as position_embedding_type");
  refused("hidden_act", "relu", any, "as hidden_act");
  auto of_mpnet = test::encoder_json(sizes_of("mpnet"));
  of_mpnet["relative_attention_num_buckets"] = 16;
  test::write_encoder(folder / "", test::encoder_weights(sizes_of("mpnet")), of_mpnet);
  CHECK_THROWS_WITH(read_encoder_config(folder / ""), contains("32 as relative_attention_num_buckets, found 16"));
  auto json = test::encoder_json(z);
  json.erase("pad_token_id");
  test::write_encoder(folder / "", test::encoder_weights(z), json);
  CHECK(read_encoder_config(folder / "", encoder_kind::bert).padding == 0);
}

}  // namespace io_encoder_tests
