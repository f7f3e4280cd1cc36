// A parser made of a triad model and a backend.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "../common/learner_on.hpp"
#include "models.hpp"
#include "triad/decoding/arborescence.hpp"

namespace cogs {

template <class Model, class Ex>
class parser_on final : public triad::examples::learner_on<parser_on<Model, Ex>, parser, Model, Ex> {
  using base = triad::examples::learner_on<parser_on<Model, Ex>, parser, Model, Ex>;
  using base::ex_, base::trainer_;
  using index_t = triad::index_t;

 public:
  parser_on(Ex ex, Model const& m, options const& o, parser_options const& z)
      : base(std::move(ex), m, settings(o, z)),
        loader_(z.capacity(), reach, m.width(), triad::memory_of(ex_)),
        best_memory_(static_cast<std::size_t>(z.capacity().nodes) * sizeof(index_t), triad::memory_of(ex_)) {}

  static triad::trainer_options settings(options const& o, parser_options const& z) {
    return {.adam = {.weight_decay = o.decay, .decoupled = true},
            .max_norm = o.clip,
            .key = o.seed,
            .memory = !z.learns     ? triad::keep::nothing
                      : o.recompute ? triad::keep::inputs
                                    : triad::keep::everything,
            .capacity = z.capacity()};
  }
  triad::initializer first_values(std::string const& path) const { return first_values_of(trainer_.model(), path); }

  void initialize(std::uint64_t seed) override {
    base::initialize(seed);
    auto const& encoder = trainer_.model().trunk.encoder;
    if (encoder.fixed_token < 0) return;
    std::vector<float> const zero(static_cast<std::size_t>(encoder.width()));
    auto const table = trainer_.parameters().mutable_values().trunk.encoder.tokens;
    trainer_.parameters().where().from_host(&table(encoder.fixed_token, 0), zero.data(), zero.size() * sizeof(float));
  }

  void clear() override { loader_.clear(); }
  bool add(std::span<triad::labelled_token const> sentence) override {
    if (!loader_.has_room(static_cast<index_t>(sentence.size()))) return false;
    sizes_.resize(static_cast<std::size_t>(loader_.dims().graphs));
    sizes_.push_back(static_cast<index_t>(sentence.size()));
    loader_.add(sentence);
    return true;
  }
  auto upload() { return loader_.upload(); }

  std::vector<parse> const& infer() override {
    auto const in = loader_.upload().first;
    auto const found = trainer_.infer(in);
    index_t const nodes = in.graphs.dims.nodes;
    triad::vec<index_t> const best(static_cast<index_t*>(best_memory_.data()), nodes);
    auto const numbers = [&] {
      std::vector<index_t> values(static_cast<std::size_t>(nodes));
      best_memory_.memory().to_host(values.data(), best.data_handle(), values.size() * sizeof(index_t));
      return values;
    };
    auto const labels = [&](auto logits) {
      triad::argmax_rows(ex_, logits, best);
      return numbers();
    };
    triad::best_arcs(ex_, trainer_.model().arcs_of(in), in.graphs, triad::vec<float const>(found.parent), best);
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
      bool const along = trainer_.model().readout == triad::arcs::from_child;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) p.score[i * n + j] = score[edge + (along ? i * n + j : j * n + i)];
      for (auto const t : triad::maximum_arborescence(
               triad::make_matrix<float const>(p.score.data(), sizes_[s], sizes_[s], sizes_[s])))
        p.tree.push_back(static_cast<int>(t));
      node += n, edge += n * n;
    }
    return parses_;
  }

 private:
  triad::sentence_loader<Ex, float> loader_;
  triad::buffer<typename Ex::memory> best_memory_;
  std::vector<index_t> sizes_;
  std::vector<parse> parses_;
};

/// The model that the options describe, on a backend, which moves into it.
template <class Ex>
std::unique_ptr<parser> parser_with(Ex ex, options const& o, parser_options const& z) {
  return with_model(o, z, [&](auto const& m) -> std::unique_ptr<parser> {
    return std::make_unique<parser_on<std::remove_cvref_t<decltype(m)>, Ex>>(std::move(ex), m, o, z);
  });
}

}  // namespace cogs
