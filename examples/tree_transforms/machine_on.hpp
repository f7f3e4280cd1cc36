// A machine made of a triad model and a backend.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "../common/learner_on.hpp"
#include "models.hpp"
#include "noise.hpp"
#include "temperature.hpp"
#include "triad/batches/tree_loader.hpp"
#include "triad/tree/bind.hpp"
#include "triad/tree/placement.hpp"

namespace tree_transforms {

/// Roles: what the model's interpreter has views of, or nothing.
template <class Model, class Ex, class Roles>
class machine_on final : public triad::examples::learner_on<machine_on<Model, Ex, Roles>, machine, Model, Ex> {
  using base = triad::examples::learner_on<machine_on<Model, Ex, Roles>, machine, Model, Ex>;
  using base::ex_, base::trainer_;
  using batch_type = triad::tree_batch<float>;

 public:
  machine_on(Ex ex, Model const& m, Roles roles, triad::tree_positions<> const& positions, options const& o,
             machine_options const& z)
      : base(std::move(ex), m, settings(o, z)),
        options_(o),
        positions_(positions),
        roles_(std::move(roles)),
        loader_({positions, m.steps, z.symbols, z.batch}, triad::memory_of(ex_)),
        symbols_there_(static_cast<std::size_t>(z.batch * positions.count()) * sizeof(index_t), triad::memory_of(ex_)),
        symbols_(static_cast<std::size_t>(z.batch * positions.count())) {
    if (z.learns && choice_of_both(o) != "softmax") noise_.emplace(m.steps, z.batch, o, triad::memory_of(ex_));
  }

  static typename triad::trainer<Model, Ex>::options settings(options const& o, machine_options const& z) {
    return {.adam = {.beta1 = o.beta1, .beta2 = o.beta2, .weight_decay = o.decay, .decoupled = true},
            .max_norm = o.clip,
            .key = o.seed,
            .memory = !z.learns     ? triad::keep::nothing
                      : o.recompute ? triad::keep::inputs
                                    : triad::keep::everything,
            .capacity = {z.batch}};
  }
  triad::initializer first_values(std::string const& path) const { return first_values_of(options_, path); }

  void initialize(std::uint64_t seed) override {
    base::initialize(seed);
    std::map<std::string, std::vector<float>> first;
    auto const& where = trainer_.parameters().where();
    triad::walk(trainer_.parameters().mutable_values(), [&](std::string const& path, auto view) {
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

  triad::tree_positions<> const& positions() const override { return positions_; }
  void clear() override { loader_.clear(); }
  bool add(placed_row const& row) override {
    if (!loader_.has_room()) return false;
    loader_.add(row.source, row.target);
    return true;
  }

  /// The batch as an update sees it.
  auto upload() {
    auto batch = plain();
    if (noise_) noise_->add(batch.first, trainer_.step());
    batch.first.operation_temperature = temperature_at(options_, choice_of_operations(options_), trainer_.step());
    batch.first.argument_temperature = temperature_at(options_, choice_of_arguments(options_), trainer_.step());
    return batch;
  }

  std::span<index_t const> infer() override {
    given_ = plain().first;
    auto const scores = trainer_.infer(given_);
    return decoded(triad::as_matrix(triad::read_only(scores)));
  }

  std::vector<triad::tree_trace> traced(bool trees) override {
    auto const s = trainer_.saved(given_.sizes);
    auto const batch = static_cast<std::size_t>(given_.sizes.batch),
               steps = static_cast<std::size_t>(trainer_.model().steps);
    auto const columns = static_cast<std::size_t>(trainer_.model().symbols);
    std::vector<triad::tree_trace> found(batch, triad::tree_trace(steps));
    auto const arguments = fetched(s.arguments);
    for (std::size_t k = 0; k < steps; ++k) {
      auto const operation = fetched(s.operation(static_cast<index_t>(k))),
                 root = fetched(s.root(static_cast<index_t>(k)));
      for (std::size_t b = 0; b < batch; ++b) {
        auto& step = found[b][k];
        for (std::size_t j = 0; j < 3; ++j) step.operations[j] = static_cast<double>(operation[b * 3 + j]);
        step.arguments.resize(k + 1);
        for (std::size_t l = 0; l <= k; ++l)
          for (std::size_t j = 0; j < 4; ++j)
            step.arguments[l][j] = static_cast<double>(arguments[((k * batch + b) * steps + l) * 4 + j]);
        auto const* const fillers = root.data() + b * columns;
        auto const* const most = std::max_element(fillers + 1, fillers + columns);  // <empty> is no label
        step.root = static_cast<index_t>(most - fillers);
        step.root_score = static_cast<double>(*most);
      }
      if (trees) read_trees(s, static_cast<index_t>(k), found);
    }
    return found;
  }

 private:
  std::pair<batch_type, triad::tree_answers> plain() {
    auto batch = loader_.upload();
    if (choice_of_arguments(options_) == "gumbel-released") batch.first.over = triad::choice_over::arguments;
    if constexpr (!std::is_same_v<Roles,
                                  std::monostate>) {  // over such roles, a tree of few positions has values everywhere
      batch.first.support = {};
      batch.first.bounds = nullptr;
    }
    return batch;
  }

  template <class View>
  std::vector<float> fetched(View view) const {
    std::vector<float> values(static_cast<std::size_t>(view.size()));
    trainer_.parameters().where().to_host(values.data(), view.data_handle(), values.size() * sizeof(float));
    return values;
  }

  /// The symbols of rows of scores: (batch N, symbols).
  std::span<index_t const> decoded(triad::matrix<float const> scores) {
    triad::vec<index_t> const there(static_cast<index_t*>(symbols_there_.data()), scores.extent(0));
    triad::decode_rows(ex_, scores, triad::decode_threshold, there);
    auto const count = static_cast<std::size_t>(scores.extent(0));
    symbols_there_.memory().to_host(symbols_.data(), there.data_handle(), count * sizeof(index_t));
    return std::span<index_t const>(symbols_).first(count);
  }

  /// What step k wrote.
  void read_trees(typename Model::saved const& s, index_t k, std::vector<triad::tree_trace>& found) {
    if (tree_scratch_.bytes() == 0) {
      auto const bytes = triad::planned_bytes([&](triad::arena& a) {
        a.make<triad::tensor<float, triad::dyn, triad::dyn>>(trainer_.given().capacity.batch * positions_.count(),
                                                             trainer_.model().symbols);
      });
      tree_scratch_ = triad::buffer<typename Ex::memory>(bytes, triad::memory_of(ex_));
    }
    auto scratch = tree_scratch_.place();
    triad::tree_pass<float> const pass{given_.support, s.memory, s.weights};
    auto const symbols = decoded(
        trainer_.model().interpreter.unbind(ex_, trainer_.parameters().values().interpreter, scratch, pass, k + 1));
    auto const count = static_cast<std::size_t>(positions_.count());
    for (std::size_t b = 0; b < found.size(); ++b)
      found[b][static_cast<std::size_t>(k)].tree =
          triad::tree_of_labels(positions_, triad::vec<index_t const>(symbols.data() + b * count, positions_.count()));
  }

  options options_;
  triad::tree_positions<> positions_;
  [[no_unique_address]] Roles roles_;
  triad::tree_loader<Ex, float> loader_;
  std::optional<gumbel_noise<Ex>> noise_;
  triad::buffer<typename Ex::memory> symbols_there_, tree_scratch_;
  std::vector<index_t> symbols_;
  batch_type given_{};  // what infer() was asked last
};

/// The machine that the options describe, on a backend, which moves into it.
template <class Ex>
std::unique_ptr<machine> machine_with(Ex ex, options const& o, machine_options const& z) {
  triad::tree_positions<> const positions(2, z.depth);
  auto const sizes = sizes_of(o, z);
  if (o.interpreter == "rows") {
    using model = triad::tree_machine<float>;
    return std::make_unique<machine_on<model, Ex, std::monostate>>(
        std::move(ex), model(triad::tree_interpreter<float>(positions), positions.count(), sizes), std::monostate{},
        positions, o, z);
  }
  using model = triad::tree_machine<float, triad::matrix_interpreter<float>>;
  using roles = role_memory<typename Ex::memory>;
  roles all(positions, o.role_seed, triad::memory_of(ex));
  model const m(all.interpreter(positions, o.interpreter == "learned"), positions.count(), sizes);
  return std::make_unique<machine_on<model, Ex, roles>>(std::move(ex), m, std::move(all), positions, o, z);
}

}  // namespace tree_transforms
