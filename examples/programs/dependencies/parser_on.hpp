// The dependency parsers.  Each parser combines a triad model with a backend, and sets the model's initial values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "parser.hpp"
#include "shared/run/learner_on.hpp"
#include "triad/batches/batch_upload.hpp"
#include "triad/batches/dependency_loader.hpp"
#include "triad/core/scratch.hpp"
#include "triad/decoding/arborescence.hpp"
#include "triad/models/dependency_parser.hpp"
#include "triad/models/sentence_trunks.hpp"

namespace triad::programs::dependencies {

/// Returns how a parameter is initialised.  Word vectors are drawn from a normal distribution.  For any other
/// parameter, its name decides.
inline initializer first_values_of(std::string const& path) {
  return path == "encoder.tokens" ? initializer::normal(1) : initializer::by_name();
}

template <class Model, class Ex>
class parser_on final : public learner_on<parser_on<Model, Ex>, parser, Model, Ex> {
  using base = learner_on<parser_on<Model, Ex>, parser, Model, Ex>;
  using base::ex_, base::trainer_;
  using logits_type = tensor<float, dyn, dyn>;

 public:
  parser_on(Ex ex, Model const& m, options const& o, parser_room const& z)
      : base(std::move(ex), m, settings_of<Ex>(o, z, {.weight_decay = o.decay, .decoupled = true})),
        loader_(z.capacity(), o.max_offset, m.width(), memory_of(ex_)),
        pairs_(planned_bytes([&](arena& a) { plan_pairs(a, z); }), memory_of(ex_)),
        logits_(planned_bytes([&](arena& a) { (void)a.make<logits_type>(z.capacity().nodes, z.relations); }),
                memory_of(ex_)),
        scratch_(relating_scratch(z), memory_of(ex_)) {
    for (auto* v : {&edge_, &child_, &parent_}) v->resize(static_cast<std::size_t>(z.capacity().nodes));
  }

  initializer first_values(std::string const& path) const { return first_values_of(path); }

  void clear() override { loader_.clear(); }
  bool add(std::span<attached_token const> sentence) override {
    auto const n = static_cast<index_t>(sentence.size());
    if (!loader_.has_room(n)) return false;
    sizes_.resize(static_cast<std::size_t>(loader_.dims().graphs));
    sizes_.push_back(n);
    loader_.add(sentence);
    return true;
  }
  /// Uploads the batch for training.
  auto upload() { return loader_.upload_padded(); }

  std::vector<found_tree> const& infer() override {
    auto in = loader_.upload().first;
    in.pairs = {};
    auto const arcs = on_host(trainer_.infer(in).arc);
    trees_.assign(sizes_.size(), {});
    index_t node = 0, row = 0;
    for (std::size_t s = 0; s < trees_.size(); ++s) {
      choose(trees_[s], arcs.data() + row, sizes_[s], node, row);
      node += sizes_[s];
      row += sizes_[s] * sizes_[s];
    }
    relate(in.graphs.dims);
    return trees_;
  }

  attention_table<float> attention([[maybe_unused]] attention_place const& at) override {
    if constexpr (shows_attention<Model, Ex>) {
      auto in = loader_.upload().first;
      in.pairs = {};
      return trainer_.attention_of_last(in, at);
    } else {
      return {0, 0};
    }
  }

 private:
  static std::size_t at(index_t i) { return static_cast<std::size_t>(i); }
  static void plan_pairs(arena& a, parser_room const& z) {
    for (int i = 0; i < 3; ++i) (void)a.make<vec<index_t>>(z.capacity().nodes);
  }
  /// Returns how much scratch memory the relations of all words of the largest batch need.
  std::size_t relating_scratch(parser_room const& z) {
    auto const& m = trainer_.model();
    auto const dims = z.capacity();
    arena values, kept;
    auto const w = plan<float const>(m, values);
    auto const s = m.plan_saved(kept, dims, trainer_.options().memory);
    auto const in = m.measured_input(dims);
    return planned_scratch(ex_, call{}, [&](auto& dry, call const& c) {
      m.relate(dry, c, w, s, in.pairs, logits_type(nullptr, dims.nodes, z.relations));
    });
  }

  template <class View>
  std::vector<float> on_host(View const& view) {
    std::vector<float> values(static_cast<std::size_t>(view.size()));
    logits_.memory().to_host(values.data(), view.data_handle(), values.size() * sizeof(float));
    return values;
  }

  /// Finds the best tree of one sentence from its scores, and stores the (child, parent) pairs of the tree.
  void choose(found_tree& tree, float const* scores, index_t n, index_t node, index_t row) {
    tree.parents.resize(at(n * n));
    for (index_t i = 0; i < n; ++i) {
      auto const* const own = scores + i * n;
      double const most = *std::max_element(own, own + n);
      double sum = 0;
      for (index_t j = 0; j < n; ++j) sum += std::exp(own[j] - most);
      for (index_t j = 0; j < n; ++j) tree.parents[at(i * n + j)] = own[j] - most - std::log(sum);
    }
    auto const best = maximum_arborescence(make_matrix<double const>(tree.parents.data(), n, n, n), roots::one);
    for (index_t i = 0; i < n; ++i) {
      auto const p = best[at(i)];
      tree.parent.push_back(static_cast<int>(p));
      edge_[at(node + i)] = row + i * n + p;
      child_[at(node + i)] = node + i;
      parent_[at(node + i)] = node + p;
    }
  }

  /// Computes the relations of the stored (child, parent) pairs.
  void relate(graph_dims const& dims) {
    auto const pairs = pairs_([&](auto const& put) {
      auto const edge = put(edge_, dims.nodes), child = put(child_, dims.nodes);
      return token_pairs{edge, child, put(parent_, dims.nodes)};
    });
    auto scratch = scratch_.place();
    auto const& m = trainer_.model();
    logits_type const logits(static_cast<float*>(logits_.data()), dims.nodes, m.relations());
    m.relate(ex_, trainer_.inspection_call(scratch), trainer_.parameters().values(), trainer_.saved(dims), pairs,
             logits);
    auto const values = on_host(logits);
    auto const* own = values.data();
    for (auto& tree : trees_)
      for (std::size_t i = 0; i < tree.parent.size(); ++i, own += m.relations()) {
        auto const* const best = std::max_element(own, own + m.relations());
        double sum = 0;
        for (index_t r = 0; r < m.relations(); ++r) sum += std::exp(static_cast<double>(own[r]) - *best);
        tree.relation.push_back(static_cast<int>(best - own));
        tree.sure.push_back(1 / sum);
      }
  }

  dependency_loader<Ex, float> loader_;
  std::vector<index_t> edge_, child_, parent_;  // rows of the chosen pairs
  batch_upload<Ex> pairs_;
  buffer<typename Ex::memory> logits_, scratch_;
  std::vector<index_t> sizes_;
  std::vector<found_tree> trees_;
};

template <class Ex>
std::unique_ptr<parser> parser::make(Ex ex, options const& o, room const& z) {
  auto const with = [&](auto const& m) -> std::unique_ptr<parser> {
    return std::make_unique<parser_on<std::remove_cvref_t<decltype(m)>, Ex>>(std::move(ex), m, o, z);
  };
  if (o.model == "edge-transformer") {
    edge_trunk_options const trunk{.tokens = z.tokens,
                                   .relations = 2 * index_t{o.max_offset} + 1,
                                   .layers = o.layers,
                                   .tied = o.tied,
                                   .layer = {.width = o.width,
                                             .heads = o.heads,
                                             .hidden = o.hidden(),
                                             .dropout = o.dropout,
                                             .variant = o.attention,
                                             .attention_bias = true}};
    return with(edge_dependency_parser<float>(trunk, {.relations = z.relations}));
  }
  token_trunk_options const trunk{
      .tokens = z.tokens,
      .layers = o.layers,
      .tied = o.tied,
      .layer = {.width = o.width, .heads = o.heads, .hidden = o.hidden(), .dropout = o.dropout},
      .positional_dropout = o.dropout};
  return with(
      biaffine_dependency_parser<float>(trunk, {.relations = z.relations, .inner = o.width, .dropout = o.dropout}));
}

}  // namespace triad::programs::dependencies
