// The parsers of COGS.  Each combines a triad model with a backend, and sets the model's initial values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "parser.hpp"
#include "shared/run/learner_on.hpp"
#include "triad/batches/sentence_loader.hpp"
#include "triad/decoding/arborescence.hpp"
#include "triad/models/edge_transformer_parser.hpp"
#include "triad/models/transformer_parser.hpp"
#include "triad/ops/arc_cross_entropy.hpp"
#include "triad/ops/cross_entropy.hpp"
#include "triad/train/row_classes.hpp"

namespace triad::programs::cogs {

/// The dropout rate of positions.  It is fixed, as in the released program, and --dropout does not change it.
inline constexpr double positional_dropout = 0.1;

/// Returns the number of the word whose vector is not trained.  Returns -1 if all vectors are trained.
inline index_t fixed_word(options const& o) { return o.learn_all ? -1 : 1; }

/// Returns how a parameter is initialised, as in the released program.  Word vectors are drawn from a normal
/// distribution, the heads with PyTorch's defaults, and all other parameters with Xavier uniform.
template <class Model>
initializer first_values_of(Model const&, std::string const& path) {
  bool const head = path.starts_with("parent") || path.starts_with("labels");
  return head && path.ends_with("weight") ? initializer::linear_uniform() : initializer::by_name();
}
/// Returns how a parameter of a Transformer is initialised: as above, with two exceptions.  The maps that score parents
/// are initialised like the maps of the encoder.  As in PyTorch, the input maps of an attention are drawn as one matrix
/// (3 d, d), and their biases are zero.
template <class T, index_t D, index_t H, index_t F>
initializer first_values_of(transformer_parser<T, D, H, F> const& m, std::string const& path) {
  if (path.find(".attention.") != std::string::npos) {
    if (path.ends_with("bias")) return initializer::constant(0);
    double const bound = std::sqrt(6 / static_cast<double>(4 * m.width()));
    return path.ends_with("output.weight") ? initializer::xavier_uniform() : initializer::uniform(-bound, bound);
  }
  return path.starts_with("labels") && path.ends_with("weight") ? initializer::linear_uniform()
                                                                : initializer::by_name();
}

template <class Model, class Ex>
class parser_on final : public learner_on<parser_on<Model, Ex>, parser, Model, Ex> {
  using base = learner_on<parser_on<Model, Ex>, parser, Model, Ex>;
  using base::ex_, base::trainer_;

 public:
  parser_on(Ex ex, Model const& m, options const& o, parser_room const& z)
      : base(std::move(ex), m, settings_of<Ex>(o, z, {.weight_decay = o.decay, .decoupled = true})),
        loader_(z.capacity(), o.max_offset, m.width(), memory_of(ex_), z.positions),
        embedding_deviation_(o.embedding_deviation),
        best_memory_(static_cast<std::size_t>(z.capacity().nodes) * sizeof(index_t), memory_of(ex_)) {}

  initializer first_values(std::string const& path) const {
    return path == "encoder.tokens" ? initializer::normal(embedding_deviation_)
                                    : first_values_of(trainer_.model(), path);
  }

  void initialize(std::uint64_t seed) override {
    base::initialize(seed);
    auto const& encoder = trainer_.model().trunk.encoder;
    if (encoder.fixed_token < 0) return;
    std::vector<float> const zero(static_cast<std::size_t>(encoder.width()));
    auto const table = trainer_.parameters().mutable_values().trunk.encoder.tokens;
    trainer_.parameters().where().from_host(&table(encoder.fixed_token, 0), zero.data(), zero.size() * sizeof(float));
  }

  void clear() override { loader_.clear(); }
  bool add(std::span<labelled_token const> sentence) override {
    if (!loader_.has_room(static_cast<index_t>(sentence.size()))) return false;
    sizes_.resize(static_cast<std::size_t>(loader_.dims().graphs));
    sizes_.push_back(static_cast<index_t>(sentence.size()));
    loader_.add(sentence);
    return true;
  }
  /// Uploads the batch for training.
  auto upload() { return loader_.upload_padded(); }

  std::vector<parse> const& infer() override {
    auto const in = loader_.upload().first;
    auto const found = trainer_.infer(in);
    index_t const nodes = in.graphs.dims.nodes;
    vec<index_t> const best(static_cast<index_t*>(best_memory_.data()), nodes);
    auto const numbers = [&] {
      std::vector<index_t> values(static_cast<std::size_t>(nodes));
      best_memory_.memory().to_host(values.data(), best.data_handle(), values.size() * sizeof(index_t));
      return values;
    };
    auto const labels = [&](auto logits) {
      argmax_rows(ex_, logits, best);
      auto values = numbers();
      expect_classes(values);
      return values;
    };
    best_arcs(ex_, trainer_.model().arcs_of(in), in.graphs, vec<float const>(found.parent), best);
    auto const parent = numbers(), role = labels(found.labels.role), category = labels(found.labels.category),
               noun_type = labels(found.labels.noun_type), verb = labels(found.labels.verb);
    std::vector<float> score(static_cast<std::size_t>(in.graphs.dims.rows));
    best_memory_.memory().to_host(score.data(), found.parent.data_handle(), score.size() * sizeof(float));

    parses_.assign(sizes_.size(), {});
    std::size_t node = 0, edge = 0;
    for (std::size_t s = 0; s < parses_.size(); ++s) {
      auto const n = static_cast<std::size_t>(sizes_[s]);
      auto& p = parses_[s];
      auto const part = [&](std::vector<index_t> const& all) {
        std::vector<int> own(n);
        for (std::size_t i = 0; i < n; ++i) own[i] = static_cast<int>(all[node + i]);
        return own;
      };
      p.parent = part(parent), p.role = part(role), p.category = part(category), p.noun_type = part(noun_type),
      p.verb = part(verb);
      p.score.resize(n * n);
      bool const along = trainer_.model().readout == arcs::from_child;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) p.score[i * n + j] = score[edge + (along ? i * n + j : j * n + i)];
      for (auto const t :
           maximum_arborescence(make_matrix<float const>(p.score.data(), sizes_[s], sizes_[s], sizes_[s])))
        p.tree.push_back(static_cast<int>(t));
      node += n;
      edge += n * n;
    }
    return parses_;
  }

  attention_table<float> attention([[maybe_unused]] attention_place const& at) override {
    if constexpr (shows_attention<Model, Ex>) {
      return trainer_.attention_of_last(loader_.upload().first, at);
    } else {
      return {0, 0};
    }
  }

 private:
  sentence_loader<Ex, float> loader_;
  double embedding_deviation_;
  buffer<typename Ex::memory> best_memory_;
  std::vector<index_t> sizes_;
  std::vector<parse> parses_;
};

template <class Ex>
std::unique_ptr<parser> parser::make(Ex ex, options const& o, room const& z) {
  auto const with = [&](auto const& m) -> std::unique_ptr<parser> {
    return std::make_unique<parser_on<std::remove_cvref_t<decltype(m)>, Ex>>(std::move(ex), m, o, z);
  };
  bool const edges = o.model == "edge-transformer";
  if (edges) {
    edge_transformer_parser_options const sizes{
        .tokens = z.tokens,
        .relations = 2 * index_t{o.max_offset} + 1,
        .labels = z.labels,
        .layers = o.layers,
        .tied = o.tied,
        .layer = {.width = o.width,
                  .heads = o.heads,
                  .hidden = o.hidden(),
                  .dropout = o.dropout,
                  .variant = o.attention,
                  .attention_bias = true},
        .encoding = o.positional ? sequence_encoding::positional : sequence_encoding::relational,
        .positional_dropout = positional_dropout,
        .readout = o.from_parent ? arcs::from_parent : arcs::from_child,
        .fixed_token = fixed_word(o),
        .verb_from_word = o.verb_from_word};
    if (o.paper_form) return with(edge_transformer_parser<float, dyn, dyn, dyn, form::paper>(sizes));
    return with(edge_transformer_parser<float>(sizes));
  }
  transformer_parser_options const sizes{
      .tokens = z.tokens,
      .labels = z.labels,
      .layers = o.layers,
      .tied = o.tied,
      .layer = {.width = o.width, .heads = o.heads, .hidden = o.hidden(), .dropout = o.dropout},
      .positional_dropout = positional_dropout,
      .fixed_token = fixed_word(o),
      .verb_from_word = o.verb_from_word};
  return with(transformer_parser<float>(sizes));
}

}  // namespace triad::programs::cogs
