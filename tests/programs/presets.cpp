// Compares presets with the papers: with every value in a table or a section, and with the parameter counts in LRF's
// Table 1.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "dependencies/cfq/options.hpp"
#include "graphs/clutrr/options.hpp"
#include "meanings/cogs/parser.hpp"
#include "sequences/cfq/options.hpp"
#include "sequences/cognition/options.hpp"
#include "sequences/models.hpp"
#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "trees/transforms/options.hpp"
#include "triad/io/checkpoint.hpp"
#include "triad/layers/linear.hpp"
#include "triad/reference/backend.hpp"
#include "triad/train/parameters.hpp"

namespace programs_presets_tests {

namespace cfq_dependencies = triad::programs::cfq_dependencies;
namespace cfq_sequences = triad::programs::cfq_sequences;
namespace clutrr = triad::programs::clutrr;
namespace cognition = triad::programs::cognition;
namespace cogs = triad::programs::cogs;
namespace sequences = triad::programs::sequences;
namespace transforms = triad::programs::transforms;

using triad::test::contains;

template <class Options>
Options preset(std::string const& name, std::string const& model = {}) {
  Options o;
  o.preset = name;
  if (!model.empty()) o.model = model;
  apply_preset(o);
  return o;
}

/// A row of Table 1 in the Edge Transformer paper, and whether the layers are tied.
struct row {
  char const* model;
  int layers, width, heads, batch;
  double rate;
  int duration;
  bool tied;
};

TEST_CASE("presets have the Edge Transformer paper's Table 1: CLUTRR") {
  for (auto const& e :
       {row{"edge-transformer", 8, 200, 4, 400, 1e-3, 50, true}, row{"rat", 8, 320, 8, 200, 1e-3, 50, true},
        row{"rrat", 6, 320, 8, 200, 1e-3, 50, true}, row{"gat", 8, 320, 8, 200, 1e-3, 50, true}})
    for (auto const* name : {"paper-k234", "paper-k23"}) {
      CAPTURE(e.model, name);
      auto const o = preset<clutrr::options>(name, e.model);
      CHECK(o.layers == e.layers);
      CHECK(o.width == e.width);
      CHECK(o.heads == e.heads);
      CHECK(o.batch == e.batch);
      CHECK(o.rate == e.rate);
      CHECK(o.epochs == e.duration);
      CHECK(o.tied == e.tied);
      CHECK(o.hidden_factor == 4);  // section 3
    }
}

TEST_CASE("our presets of CLUTRR are the paper's but for what they add") {
  for (auto const& [name, as_paper, epochs] :
       {std::tuple("glued-k234", "paper-k234", 150), std::tuple("glued-k23", "paper-k23", 50)}) {
    CAPTURE(name);
    auto const o = preset<clutrr::options>(name);
    CHECK(o.layers == 12);
    CHECK(o.layers_from == 6);
    CHECK(o.augment == 1);
    CHECK(o.dense_loss == 0.1);
    CHECK(o.epochs == epochs);
    auto same = o, paper = preset<clutrr::options>(as_paper);
    same.preset = paper.preset, same.layers = paper.layers, same.layers_from = paper.layers_from;
    same.augment = paper.augment, same.dense_loss = paper.dense_loss, same.epochs = paper.epochs;
    CHECK(training_settings(same) == training_settings(paper));
    CHECK_FALSE(paper_curve(o));
  }
}

TEST_CASE(
    "presets have the Edge Transformer paper's Table 1: dependencies of CFQ, with the layers tied where the paper's "
    "are") {
  for (auto const& e : {row{"edge-transformer", 7, 360, 4, 500, 1e-3, 8000, true},
                        row{"transformer", 7, 360, 4, 1000, 1e-3, 8000, false},
                        row{"universal-transformer", 8, 360, 4, 500, 1e-3, 8000, true}}) {
    CAPTURE(e.model);
    auto o = preset<cfq_dependencies::options>("paper-dependency", e.model);
    CHECK(o.layers == e.layers);
    CHECK(o.width == e.width);
    CHECK(o.heads == e.heads);
    CHECK(o.tokens == e.batch);
    CHECK(o.rate == e.rate);
    CHECK(o.updates == e.duration);
    CHECK(o.tied == e.tied);
    CHECK(o.hidden_factor == 4);  // section 3, of the Edge Transformer
    CHECK(o.attention == triad::triangle_form::full);
    CHECK_NOTHROW(o.settle());
  }
  CHECK_FALSE(preset<cfq_dependencies::options>("small-dependency").tied);  // unlike in the paper
}

TEST_CASE("presets have the Edge Transformer paper's Table 1: queries of CFQ") {
  for (auto const& e : {row{"edge-transformer", 6, 256, 8, 64, 6e-4, 100, true},
                        row{"universal-transformer", 4, 256, 8, 64, 6e-4, 100, true}}) {
    CAPTURE(e.model);
    auto o = preset<cfq_sequences::options>("paper-semantic", e.model);
    CHECK(o.encoder_layers == e.layers);
    CHECK(o.decoder_layers == e.layers);
    CHECK(o.width == e.width);
    CHECK(o.heads == e.heads);
    CHECK(o.pairs == e.batch);
    CHECK(o.rate == e.rate);
    CHECK(o.epochs == e.duration);
    CHECK(o.tied == e.tied);
    CHECK(o.hidden == 4 * e.width);   // section 3
    CHECK(o.longest_training == 50);  // section 4.3
    CHECK_FALSE(o.from_begin);        // section 3: a token is read from the edge (i, i)
    CHECK_NOTHROW(o.settle());
  }
}

TEST_CASE(
    "presets have the Edge Transformer paper's Table 1: COGS, with layers of their own as in the released program") {
  auto const o = preset<cogs::options>("paper");
  CHECK(o.layers == 3);
  CHECK(o.width == 64);
  CHECK(o.heads == 4);
  CHECK(o.batch == 100);
  CHECK(o.rate == 5e-4);
  CHECK(o.epochs == 200);
  CHECK(o.hidden_factor == 4);
  CHECK_FALSE(o.tied);
}

TEST_CASE("our preset of COGS is the paper's but for what it adds") {
  auto o = preset<cogs::options>("swapped");
  CHECK(o.word_dropout == 0.1);
  CHECK(o.augment == 0.5);
  CHECK(o.augment_phrases == "both");
  auto const paper = preset<cogs::options>("paper");
  o.preset = paper.preset, o.word_dropout = paper.word_dropout;
  o.augment = paper.augment, o.augment_phrases = paper.augment_phrases;
  CHECK(training_settings(o) == training_settings(paper));
}

TEST_CASE(
    "the paper's tree machine is the default: appendix D.1 of its paper, and the released program's choices in its "
    "grid") {
  auto const o = preset<transforms::options>("paper");
  CHECK(o.width == 64);
  CHECK(o.heads == 4);
  CHECK(o.hidden_factor == 4);
  CHECK(o.layers == 1);
  CHECK(o.updates == 20000);
  CHECK(o.warmup == 10000);
  CHECK(o.decay == 0.1);
  CHECK(o.beta1 == 0.9);
  CHECK(o.beta2 == 0.95);
  CHECK(o.dropout == 0.1);
  CHECK(o.clip == 1);
  CHECK(o.rows == 10000);
  CHECK(o.test_size == 1250);
}

TEST_CASE(
    "a run of CLUTRR is drawn next to the paper's figures where its settings are the paper's, whatever its seed") {
  auto o = preset<clutrr::options>("paper-k23");
  o.seed = 7, o.data = "folder", o.threads = 1;
  REQUIRE(paper_curve(o));
  CHECK(paper_curve(o)->y == std::vector<double>{.820, .743, .669, .618, .581});  // Table 5, k = 6 to 10
  for (auto const change :
       {+[](clutrr::options& p) { p.width = 32; }, +[](clutrr::options& p) { p.epochs = 1; },
        +[](clutrr::options& p) { p.tied = false; }, +[](clutrr::options& p) { p.paper_form = true; },
        +[](clutrr::options& p) { p.attention = triad::triangle_form::flat; }}) {
    auto other = o;
    change(other);
    CHECK_FALSE(paper_curve(other));
  }
  CHECK_FALSE(paper_curve(preset<clutrr::options>("paper-k23", "rat")));
  CHECK_FALSE(paper_curve(preset<clutrr::options>("quickstart")));
}

/// Returns the number of parameters, in millions, of a model for CoGnition.
double millions(sequences::options const& o) {
  // In github.com/yafuly/CoGnition, data/processed/bin, the dictionaries have 2,004 English lines and 5,500 Chinese
  // lines. Each dictionary also has four special tokens.
  sequences::translator_options sizes{};
  sizes.source_words = 2004 + 4, sizes.target_words = 5500 + 4;
  triad::fused_transformer<float> const model(model_of(o, sizes));
  triad::arena measure;
  return static_cast<double>(triad::count_values(model.plan_params<float const>(measure))) / 1e6;
}

TEST_CASE(
    "preset paper has as many parameters as LRF's Table 1 says of each model that it names, which needs a tied "
    "output") {
  struct expected {
    char const *called, *model;
    int layers;
    bool relative;
    int paper;  // millions, Table 1
  };
  for (auto const& e : {expected{"Transformer", "transformer", 6, false, 35},
                        {"Transformer-Rela", "transformer", 6, true, 35},
                        {"Transformer-Small", "transformer", 4, false, 25},
                        {"Transformer-Deep", "transformer", 8, false, 46},
                        {"DLCL", "dlcl", 6, false, 35},
                        {"LRF", "lrf", 6, false, 48},
                        {"LRF-Rela", "lrf", 6, true, 48},
                        {"LRF-Small", "lrf", 4, false, 33}}) {
    CAPTURE(e.called);
    auto o = preset<cognition::options>("paper", e.model);
    CHECK(o.encoder_layers == 6);  // section "Analysis": 6-6 layers
    CHECK(o.decoder_layers == 6);
    CHECK(o.updates == 100000);  // section "Setup"
    o.encoder_layers = o.decoder_layers = e.layers;
    o.relative = e.relative;
    CHECK_NOTHROW(o.settle());
    CHECK(static_cast<int>(std::lround(millions(o))) == e.paper);
    o.tie_output = false;
    CHECK(static_cast<int>(std::lround(millions(o))) != e.paper);
  }
  // The output of an Edge Transformer cannot be tied, so the preset does not tie it.
  CHECK_NOTHROW(preset<cognition::options>("paper", "edge-transformer").settle());
}

TEST_CASE("preset roberta has the decoder and the number of updates that LRF's paper gives") {
  auto o = preset<cfq_sequences::options>("roberta");
  CHECK_THROWS_WITH(o.settle(), contains("--preset roberta needs --encoder FOLDER"));
  CHECK(o.decoder_layers == 2);
  CHECK(o.width == 256);
  CHECK(o.hidden == 512);
  CHECK(o.updates == 45000);
  CHECK(o.epochs == 0);
  CHECK(o.schedule == "linear");
}

TEST_CASE("a parser's form of attention is in its settings and its checkpoint where it is not full, as in older runs") {
  using options = cfq_dependencies::options;
  options full, other;
  other.attention = triad::triangle_form::value_ablation;
  CHECK_THAT(to_toml(full), contains("attention = \"full\"\n"));
  CHECK_THAT(training_settings(full), !contains("attention"));
  CHECK_THAT(training_settings(other), contains("attention = \"value-ablation\"\n"));
  using triad::programs::configuration_of;
  CHECK_FALSE(configuration_of(full).contains("attention"));

  triad::test::scratch_folder const folder;
  auto const path = folder / "model.safetensors";
  triad::parameter_set<triad::linear<float>, triad::reference::backend> const some(
      triad::linear<float>{triad::extents<triad::dyn, triad::dyn>(1, 1)});
  auto const reread = [&](nlohmann::json const& shape) {
    triad::save_checkpoint(path, {.configuration = shape, .vocabulary = nlohmann::json::array()}, some);
    auto o = other;
    restore(o, triad::checkpoint(path));
    return o.attention;
  };
  CHECK(reread(configuration_of(full)) == triad::triangle_form::full);
  CHECK(reread(configuration_of(other)) == triad::triangle_form::value_ablation);
  auto unknown = configuration_of(other);
  unknown["attention"] = "none";
  CHECK_THROWS_WITH(reread(unknown), contains("an unknown form of attention"));

  other.model = "transformer";
  CHECK_THROWS_WITH(other.settle(),
                    contains("--attention is about the states of edges, which --model transformer does not have"));
}

}  // namespace programs_presets_tests
