// Tests published encoders of other kinds than RoBERTa: the states are PyTorch's, and errors are named.
// tests/io/roberta.cpp tests what all kinds share.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/encoder.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/published_encoder.hpp"
#include "tests/io/scratch_folder.hpp"
#include "tests/ragged.hpp"
#include "triad/batches/pair_loader.hpp"
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

/// Returns the last states (rows, width) of all sentences.  The loader adds `end` to each.
std::vector<double> states(set& parameters, std::vector<tokens> const& sentences, index_t end) {
  auto const& model = parameters.model();
  reference::backend ex;
  index_t rows = 0, longest = 0;
  for (auto const& s : sentences) {
    auto const n = static_cast<index_t>(s.size()) + 1;
    rows += n;
    longest = std::max(longest, n);
  }
  pair_loader<reference::backend, double> loader(
      {static_cast<index_t>(sentences.size()), rows, static_cast<index_t>(sentences.size()), longest, 1}, model.width(),
      end, end);
  for (auto const& s : sentences) loader.add(s, {});
  auto const in = loader.upload().first;
  test::spoiled_memory const memory([&](arena& a) { return model.plan_saved(a, in.sizes); });
  auto place = memory.place();
  auto const saved = model.plan_saved(place, in.sizes);
  test::with_scratch(ex, call{},
                     [&](auto& any, call const& c) { model.encode(any, c, parameters.values(), in, saved.encoder); });
  auto const y = saved.encoder.y();
  return {y.data_handle(), y.data_handle() + y.size()};
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
    auto const found = states(parameters, {{2, 5, 7, 5, 10}, {2, 4}}, 3);
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
  CHECK(states(parameters, {tokens(static_cast<std::size_t>(z.positions) - 1, 5)}, 3).size() == 72);
  CHECK_THROWS_WITH(states(parameters, {tokens(static_cast<std::size_t>(z.positions), 5)}, 3),
                    contains("a source of 10 tokens, expected at most 9"));

  test::encoder_weights other(z);
  other.all.at("bert.embeddings.token_type_embeddings.weight").shape = {1, 16};
  test::write_encoder(folder / "", other, test::encoder_json(z));
  CHECK_THROWS_WITH(load_encoder(folder / "", parameters), contains("token_type_embeddings.weight\" of shape (1, 8)"));
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
  refused("model_type", "gpt2", any, "or \"bert\" as model_type, found \"gpt2\"; only encoders of the kind of RoBERTa");
  refused("model_type", nullptr, any, "expected 1 as type_vocab_size, found 2");  // the file of a RoBERTa has one type
  refused("model_type", nullptr, encoder_kind::bert, "\"bert\" as model_type, found none");
  refused("model_type", "roberta", encoder_kind::bert, "\"bert\" as model_type, found \"roberta\"");
  refused("hidden_size", 8, encoder_kind::roberta,
          "as model_type, found \"bert\"; only encoders of the kind of RoBERTa");
  refused("is_decoder", true, any, "false as is_decoder, found true");
  refused("max_position_embeddings", 0, any, "an integer of 1 or more as max_position_embeddings");
  refused("position_embedding_type", "relative_key_query", any, "as position_embedding_type");
  refused("hidden_act", "relu", any, "as hidden_act");
  auto json = test::encoder_json(z);
  json.erase("pad_token_id");
  test::write_encoder(folder / "", test::encoder_weights(z), json);
  CHECK(read_encoder_config(folder / "", encoder_kind::bert).padding == 0);
}

}  // namespace io_encoder_tests
