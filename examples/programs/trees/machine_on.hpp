// A machine that combines a triad model with a backend.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "machine.hpp"
#include "models.hpp"
#include "options.hpp"
#include "shared/run/learner_on.hpp"
#include "triad/batches/tree_loader.hpp"
#include "triad/models/tree_trace.hpp"
#include "triad/tree/bind.hpp"

namespace triad::programs::trees {

/// `Roles` owns the memory that the model's interpreter refers to.  It is std::monostate if there is no such memory.
template <class Model, class Ex, class Roles>
class machine_on final : public learner_on<machine_on<Model, Ex, Roles>, machine, Model, Ex> {
  using base = learner_on<machine_on<Model, Ex, Roles>, machine, Model, Ex>;
  using base::ex_, base::trainer_;
  using batch_type = tree_batch<float>;

 public:
  machine_on(Ex ex, Model const& m, Roles roles, tree_positions<> const& positions, options const& o,
             machine_options const& z)
      : base(std::move(ex), m, settings(o, z)),
        options_(o),
        positions_(positions),
        roles_(std::move(roles)),
        loader_({positions, m.steps, z.symbols, z.batch, o.empty_tree}, memory_of(ex_)),
        symbols_there_(static_cast<std::size_t>(z.batch * positions.count()) * sizeof(index_t), memory_of(ex_)),
        symbols_(static_cast<std::size_t>(z.batch * positions.count())) {
    if (z.learns && choice_of_both(o) != "softmax") noise_.emplace(m.steps, z.batch, o, memory_of(ex_));
  }

  static typename trainer<Model, Ex>::options_type settings(options const& o, machine_options const& z) {
    return {.adam = {.beta1 = o.beta1, .beta2 = o.beta2, .weight_decay = o.decay, .decoupled = true},
            .max_norm = o.clip,
            .key = o.seed,
            .memory = kept_of_pass(z.learns, o.recompute),
            .capacity = {z.batch},
            .shares = o.shares};
  }
  initializer first_values(std::string const& path) const { return first_values_of(options_, path); }

  void initialize(std::uint64_t seed) override {
    base::initialize(seed);
    std::map<std::string, std::vector<float>> first;
    auto const& where = trainer_.parameters().where();
    walk(trainer_.parameters().mutable_values(), [&](std::string const& path, auto view) {
      auto const name = in_first_layer(path);
      if (name.empty()) return;
      auto const [found, is_first] = first.try_emplace(name, static_cast<std::size_t>(view.size()));
      auto& values = found->second;
      if (is_first)
        where.to_host(values.data(), view.data_handle(), values.size() * sizeof(float));
      else
        where.from_host(view.data_handle(), values.data(), values.size() * sizeof(float));
    });
  }

  tree_positions<> const& positions() const override { return positions_; }
  /// Copies each row of a parameter.  If the new row is longer, its remaining elements are zero.  Only the rows of
  /// `shrink` become longer, because only the columns of `shrink` are positions.
  void widen(machine const& smaller) override {
    TRIAD_EXPECTS((std::is_same_v<Roles, std::monostate>), "machine: over such roles there are no first positions");
    auto const& from = dynamic_cast<machine_on const&>(smaller).trainer_.parameters();
    std::map<std::string, std::pair<index_t, std::vector<float>>> values;
    walk(from.values(),
         [&](std::string const& path, auto view) { values[path] = {view.extent(0), host_copy(from.where(), view)}; });
    auto const& where = trainer_.parameters().where();
    walk(trainer_.parameters().mutable_values(), [&](std::string const& path, auto view) {
      auto const& [rows, few] = values.at(path);
      TRIAD_EXPECTS(rows == view.extent(0) && few.size() <= static_cast<std::size_t>(view.size()),
                    "machine: " + path + " is no wider than before");
      std::vector<float> all(static_cast<std::size_t>(view.size()));
      auto const to = all.size() / static_cast<std::size_t>(rows), of = few.size() / static_cast<std::size_t>(rows);
      for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r)
        std::copy_n(few.begin() + static_cast<std::ptrdiff_t>(r * of), of,
                    all.begin() + static_cast<std::ptrdiff_t>(r * to));
      where.from_host(view.data_handle(), all.data(), all.size() * sizeof(float));
    });
  }
  void clear() override { loader_.clear(); }
  bool add(placed_row const& row) override {
    if (!loader_.has_room()) return false;
    loader_.add(row.source, row.target);
    return true;
  }

  /// Accumulates the gradients of one part of an update's batch.  The gradient of the loss is scaled by `fraction`
  /// before evenness is added to it, so evenness is scaled separately.
  void accumulate(double fraction) override {
    fraction_ = fraction;
    base::accumulate(fraction);
    fraction_ = 1;
  }

  /// Uploads the batch, the noise and the settings of the current update.
  auto upload() {
    auto batch = plain();
    if (noise_) noise_->add(batch.first, trainer_.step() | std::uint64_t{trainer_.part()} << 32);
    auto const update = update_of_attempt(options_, trainer_.step());
    batch.first.operation_temperature = temperature_at(options_, choice_of_operations(options_), update);
    batch.first.argument_temperature = temperature_at(options_, choice_of_arguments(options_), update);
    batch.first.evenness = evenness_at(options_, update) * fraction_;
    batch.first.recency = recency_at(options_, update) / static_cast<double>(options_.steps);
    batch.first.loss.empty_weight = empty_weight_at(options_, update);
    if (options_.loss == "divergence") batch.first.loss.distance = tree_distance::divergence;
    batch.first.loss.floor = options_.floor;
    return batch;
  }

  std::span<index_t const> infer() override {
    given_ = plain().first;
    auto const scores = trainer_.infer(given_);
    return decoded(as_matrix(read_only(scores)));
  }

  std::vector<tree_trace> traced(bool trees) override {
    auto const s = trainer_.saved(given_.sizes);
    if (!trees) return traces_of(trainer_.model(), trainer_.parameters().where(), given_, s);
    return traces_of(ex_, trainer_.model(), trainer_.parameters().values(), positions_, given_, s);
  }

  std::vector<double> gradient_norms() override {
    std::vector<double> squares(static_cast<std::size_t>(trainer_.model().steps));
    auto const& where = trainer_.parameters().where();
    walk(trainer_.parameters().gradients(), [&](std::string const& path, auto view) {
      auto const step = step_of(path);
      if (step < 0) return;
      for (float const d : host_copy(where, view))
        squares[static_cast<std::size_t>(step)] += static_cast<double>(d) * static_cast<double>(d);
    });
    for (auto& s : squares) s = std::sqrt(s);
    return squares;
  }

 private:
  std::pair<batch_type, tree_answers> plain() {
    auto batch = loader_.upload();
    if (choice_of_arguments(options_) == "gumbel-released") batch.first.over = choice_over::arguments;
    if constexpr (!std::is_same_v<Roles, std::monostate>) {
      // With roles that are not unit vectors, even a tree with few nodes has values in every row, so no row may be
      // skipped.
      batch.first.support = {};
      batch.first.bounds = nullptr;
    }
    return batch;
  }

  /// Returns the symbol with the largest score for each row of `scores` (batch N, symbols).
  std::span<index_t const> decoded(matrix<float const> scores) {
    vec<index_t> const there(static_cast<index_t*>(symbols_there_.data()), scores.extent(0));
    decode_rows(ex_, scores, decode_threshold, there);
    auto const count = static_cast<std::size_t>(scores.extent(0));
    symbols_there_.memory().to_host(symbols_.data(), there.data_handle(), count * sizeof(index_t));
    return std::span<index_t const>(symbols_).first(count);
  }

  options options_;
  tree_positions<> positions_;
  [[no_unique_address]] Roles roles_;
  tree_loader<Ex, float> loader_;
  std::optional<gumbel_noise<Ex>> noise_;
  buffer<typename Ex::memory> symbols_there_;
  std::vector<index_t> symbols_;
  batch_type given_{};   // the batch of the last infer()
  double fraction_ = 1;  // the fraction of the update's batch that is uploaded
};

template <class Ex>
std::unique_ptr<machine> machine::make(Ex ex, options const& o, room const& z) {
  tree_positions<> const positions(2, z.depth);
  auto const sizes = sizes_of(o, z);
  if (o.interpreter == "rows") {
    using model = tree_machine<float>;
    return std::make_unique<machine_on<model, Ex, std::monostate>>(
        std::move(ex), model(tree_interpreter<float>(positions), positions.count(), sizes), std::monostate{}, positions,
        o, z);
  }
  using model = tree_machine<float, matrix_interpreter<float>>;
  using roles = role_memory<typename Ex::memory>;
  roles all(positions, o.role_seed, memory_of(ex));
  model const m(all.interpreter(positions, o.interpreter == "learned"), positions.count(), sizes);
  return std::make_unique<machine_on<model, Ex, roles>>(std::move(ex), m, std::move(all), positions, o, z);
}

}  // namespace triad::programs::trees
