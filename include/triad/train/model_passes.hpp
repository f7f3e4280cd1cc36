// A model together with the memory that its forward and backward passes write to.  The memory is planned for the
// largest batch.  It is allocated at construction, and never grows.
// SPDX-License-Identifier: Apache-2.0
//
//   model_passes passes(ex, model, capacity, keep::everything, key, clock.step());
//   passes.forward(values, in, train, [&](call const& c, auto const& at) { ... loss and backward ... });
//
// The caller owns the parameters.  All passes write the saved values, the logits and the gradient of the logits to the
// same memory, so these values belong to the last batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "triad/core/backend.hpp"
#include "triad/core/batch_sizes.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/call.hpp"
#include "triad/core/replay_key.hpp"
#include "triad/core/scratch.hpp"
#include "triad/core/views.hpp"
#include "triad/layers/layer.hpp"
#include "triad/ops/reduce.hpp"
#include "triad/train/model.hpp"

namespace triad {

namespace detail {
/// A model whose member `layers` is a repeat with a depth that is given at construction.
template <class Model>
concept has_depth = requires(Model& m) {
  m.layers.tied;
  m.layers.count();
  requires std::remove_cvref_t<decltype(m.layers.depth)>::rank_dynamic() == 1;
};
}  // namespace detail

template <class Model, backend Ex>
class model_passes {
  static_assert(detail::expect_model<Model>());

 public:
  using T = typename Model::value_type;
  using memory = typename Ex::memory;
  using input = typename Model::input;
  using output = typename Model::output;
  using dims = layer_dims<Model>;

  /// The memory of one batch: the values saved for backward, the logits, and the gradient of the logits.
  struct batch_memory {
    typename Model::saved saved;
    output scores, d_scores;
  };

  /// The caller's name for messages, and a text that says where the caller sets the capacity.
  struct caller {
    char const* name = "model_passes";
    char const* capacity = "that it was made with";
  };

  /// `capacity` has the sizes of the largest batch.  `key` and `step` are for dropout.  `step` points to the backend's
  /// memory, and every pass reads it.
  model_passes(Ex& ex, Model const& m, dims const& capacity, keep kept, philox_key key, std::uint64_t const* step)
      : model_passes(ex, m, capacity, kept, key, step, caller()) {}
  model_passes(Ex& ex, Model const& m, dims const& capacity, keep kept, philox_key key, std::uint64_t const* step,
               caller const& by)
      : ex_(ex),
        caller_(by),
        model_(m),
        applied_(m),
        capacity_(capacity),
        keep_(kept),
        key_(key),
        step_(step),
        saved_(saved_bytes(m, capacity, kept, rounds_from(ex)), memory_of(ex)),
        scratch_(scratch_bytes(ex, m, capacity, kept), memory_of(ex)) {}

  /// Returns the memory for the values of the largest batch.  `rounds` is rounds_from(ex) (core/backend.hpp).
  static std::size_t saved_bytes(Model const& m, dims const& capacity, keep kept, index_t rounds = 0) {
    return planned_bytes(
        [&](arena& a) {
          (void)m.plan_saved(a, capacity, kept);
          (void)m.plan_output(a, capacity);
          (void)m.plan_output(a, capacity);
        },
        rounds);
  }
  /// Returns the scratch memory that a pass over the largest batch needs.  Measures this memory with a pass that does
  /// not compute.
  static std::size_t scratch_bytes(Ex& ex, Model const& m, dims const& capacity, keep kept) {
    arena values, gradients, places;
    places.set_rounds_from(rounds_from(ex));
    auto const w = triad::plan<T const>(m, values);
    auto const s = m.plan_saved(places, capacity, kept);
    auto const scores = m.plan_output(places, capacity);
    auto const in = m.measured_input(capacity);
    auto const pass = [&](auto& dry, call const& c) {
      m.forward(dry, c, w, in, s, scores);
      m.loss(dry, *c.scratch, in, scores, m.measured_answers(capacity), make_vec<T>(nullptr, 1), scores);
      if (kept == keep::nothing) return;
      m.backward(dry, c, w, in, s, scores, m.plan_params(gradients));
      triad::norm(dry, *c.scratch, make_vec<T>(nullptr, static_cast<index_t>(values.peak() / sizeof(T))),
                  make_vec<T>(nullptr, 1));
    };
    return detail::measured_for<Model>([&] { return planned_scratch(ex, call{.train = true}, pass); });
  }

  /// Runs forward() over a batch, with dropout if `train` is true.  Then calls then(call, memory), which may use the
  /// same scratch memory.  Throws contract_violation if the batch is larger than the capacity.  The result is valid
  /// until the next call.
  template <class Values, class Then>
  output forward(Values const& values, input const& in, bool train, Then&& then) {
    return detail::within_capacity(caller_.name, caller_.capacity, detail::dims_of_batch(in), capacity_, [&] {
      auto const at = place(detail::dims_of_batch(in));
      auto free = scratch();
      auto const c = make_call(free, train);
      applied_.forward(ex_, c, values, in, at.saved, at.scores);
      then(c, at);
      return at.scores;
    });
  }

  /// Returns the model that was given at construction.
  Model const& model() const { return model_; }
  /// Returns the model with the depth that set_depth() has set.
  Model const& applied() const { return applied_; }
  /// Sets how many times later passes apply the layer of a tied model.  The number must be at most the depth at
  /// construction.
  void set_depth(index_t layers)
    requires detail::has_depth<Model>
  {
    TRIAD_EXPECTS(model_.layers.tied || layers == model_.layers.count(),
                  std::string(caller_.name) + ": a depth of " + std::to_string(layers) + ", expected " +
                      std::to_string(model_.layers.count()) +
                      ": the layers are not tied, so each has parameters of its own");
    TRIAD_EXPECTS(layers >= 1 && layers <= model_.layers.count(),
                  std::string(caller_.name) + ": a depth of " + std::to_string(layers) + ", expected 1 to " +
                      std::to_string(model_.layers.count()) +
                      ", which memory is planned for; make the model with as many layers as it will have");
    applied_.layers.depth = decltype(applied_.layers.depth)(layers);
  }

  /// Returns the memory for a batch of these sizes.
  batch_memory place(dims const& d) {
    auto all = saved_.place();
    all.set_rounds_from(rounds_from(ex_));
    auto const s = applied_.plan_saved(all, d, keep_);
    auto const scores = applied_.plan_output(all, d);
    return {s, scores, applied_.plan_output(all, d)};
  }
  /// Returns the scratch memory.  Its contents are not needed between passes.
  arena scratch() { return scratch_.place(); }
  call make_call(arena& free, bool train) const { return {&free, train, key_, step_, 0}; }
  /// Adds to `key` the values that a replayed pass depends on besides its batch: the depth and the address of the
  /// memory.
  void add_pass(replay_key& key) const {
    if constexpr (detail::has_depth<Model>) key.add(applied_.layers.count());
    add_memory(key);
  }
  /// Adds the address of the scratch memory to `key`, the key of replayed work.  This function is for work that does
  /// not depend on the depth.
  void add_memory(replay_key& key) const { key.add(scratch_.data()); }

 private:
  Ex& ex_;
  caller caller_;
  Model model_, applied_;
  dims capacity_;
  keep keep_;
  philox_key key_;
  std::uint64_t const* step_;
  buffer<memory> saved_, scratch_;
};

}  // namespace triad
