// A network made of a triad model and a backend.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <sstream>
#include <type_traits>
#include <utility>

#include "models.hpp"
#include "record.hpp"
#include "triad/io/checkpoint.hpp"
#include "triad/models/graph_loader.hpp"
#include "triad/train/initialize.hpp"

namespace clutrr {

template <class Model, class Ex>
class network_on final : public network {
 public:
  network_on(Ex ex, Model const& m, options const& o, network_sizes const& z)
      : ex_(std::move(ex)), trainer_(ex_, m, settings(o, z)), loader_(z.capacity(), triad::memory_of(ex_)), best_(static_cast<std::size_t>(z.batch)),
        best_memory_(best_.size() * sizeof(triad::index_t), triad::memory_of(ex_)) {}

  static triad::trainer_options settings(options const& o, network_sizes const& z) {
    return {.max_norm = o.clip, .key = o.seed,
            .memory = !z.learns ? triad::keep::nothing : o.recompute ? triad::keep::inputs : triad::keep::everything, .capacity = z.capacity()};
  }

  void clear() override { loader_.clear(); }
  bool add(kinship_graph const& g) override {
    if (!loader_.has_room(g.nodes)) return false;
    auto* const label = loader_.add(g.nodes, g.query.from, g.query.to, g.target);
    for (auto const& e : g.edges) label[e.from * g.nodes + e.to] = e.label;
    return true;
  }

  void update(double rate) override {
    auto const in = loader_.upload();
    trainer_.update(in, loader_.uploaded_answers(), rate);
  }
  void rehearse() override {
    auto const in = loader_.upload();
    trainer_.compute_gradient(in, loader_.uploaded_answers());
    (void)trainer_.loss();  // a device works on while the host goes on; this waits
  }
  std::vector<triad::update_record> const& records() override {
    trainer_.records(records_);
    return records_;
  }
  int patience() const override { return std::is_same_v<typename Ex::memory, triad::host_memory> ? 1 : 16; }

  std::vector<triad::index_t> const& infer() override {
    auto const b = loader_.dims().graphs;
    triad::vec<triad::index_t> const best(static_cast<triad::index_t*>(best_memory_.data()), b);
    triad::argmax_rows(ex_, trainer_.infer(loader_.upload()), best);
    best_.resize(static_cast<std::size_t>(b));
    best_memory_.memory().to_host(best_.data(), best.data_handle(), best_.size() * sizeof(triad::index_t));
    return best_;
  }

  std::vector<std::vector<float>> attention([[maybe_unused]] int layer, [[maybe_unused]] int i, [[maybe_unused]] int j) override {
    std::vector<std::vector<float>> rows;
    if constexpr (requires { &Model::template attention_weights<Ex>; }) {
      auto const in = loader_.upload();
      auto const n = loader_.dims().max_nodes, heads = trainer_.model().layers.layer.attention.heads();
      auto const terms = trainer_.model().layers.layer.attention.variant == triad::triangle_form::flat ? 2 * n : n;
      triad::buffer<typename Ex::memory> memory(static_cast<std::size_t>(heads * terms) * sizeof(float), triad::memory_of(ex_));
      triad::tensor<float, triad::dyn, triad::dyn> const weights(static_cast<float*>(memory.data()), heads, terms);
      triad::arena none;
      trainer_.model().attention_weights(ex_, trainer_.inspection_call(none), in, trainer_.saved(in.graphs.dims), layer, 0, i, j,
                                         triad::as_matrix(weights));
      for (triad::index_t h = 0; h < heads; ++h) {
        rows.emplace_back(static_cast<std::size_t>(terms));
        memory.memory().to_host(rows.back().data(), &weights(h, 0), rows.back().size() * sizeof(float));
      }
    }
    return rows;
  }

  void initialize(std::uint64_t seed) override {
    // As the released program: its readout keeps the framework's default, everything else is xavier uniform.
    auto const rule = [](std::string const& path) {
      return path.starts_with("readout") && path.ends_with("weight") ? triad::initializer::linear_uniform() : triad::initializer::by_name();
    };
    triad::initialize(trainer_.parameters().mutable_values(), seed, rule, trainer_.parameters().where());
  }

  void save(std::string const& path, run_record const& record) override {
    triad::checkpoint_state const state{.step = trainer_.step(), .key = trainer_.options().key, .configuration = to_json(record.model),
                                        .vocabulary = to_json(record.words),
                                        .extra = {{"run", record.notes}, {"settings", training_settings(record.model)}}};
    triad::save_checkpoint(path, state, trainer_.parameters());
  }
  std::string load(std::string const& path, run_record const& record) override {
    triad::checkpoint const file(path);
    file.expect(to_json(record.model), to_json(record.words));
    if (record.resumes) expect_same_settings(path, file, record);
    file.load(trainer_.parameters());
    trainer_.set_step(file.step());
    auto const found = file.state().extra.find("run");
    return found == file.state().extra.end() ? std::string() : found->second;
  }

  std::uint64_t step() const override { return trainer_.step(); }
  triad::trainer_bytes bytes() const override { return trainer_.bytes(); }
  triad::index_t parameters() const override { return triad::count_values(trainer_.parameters().values()); }

 private:
  /// A resumed run must be the run that was begun.
  static void expect_same_settings(std::string const& path, triad::checkpoint const& file, run_record const& record) {
    auto const found = file.state().extra.find("settings");
    std::istringstream was(found == file.state().extra.end() ? std::string() : found->second), is(training_settings(record.model));
    for (std::string old, now; std::getline(is, now);) {
      std::getline(was, old);
      if (old != now)
        throw triad::data_error(path + " was trained with " + (old.empty() ? "no record of its settings" : old) + ", this run has " + now +
                                "; give the same options to go on from it");
    }
  }

  Ex ex_;
  triad::trainer<Model, Ex> trainer_;
  triad::graph_loader<Ex> loader_;
  std::vector<triad::update_record> records_;
  std::vector<triad::index_t> best_;
  triad::buffer<typename Ex::memory> best_memory_;
};

/// make(model) for models.hpp: a network on a backend, which moves into it.
template <class Ex>
auto network_maker(Ex ex, options const& o, network_sizes const& z) {
  return [ex = std::move(ex), &o, &z](auto const& m) mutable -> std::unique_ptr<network> {
    return std::make_unique<network_on<std::remove_cvref_t<decltype(m)>, Ex>>(std::move(ex), m, o, z);
  };
}

}  // namespace clutrr
