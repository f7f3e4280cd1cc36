// A learner that combines a triad model with a backend.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "digest.hpp"
#include "learner.hpp"
#include "shared/cli/options.hpp"
#include "shared/processes/world.hpp"
#include "triad/batches/padding.hpp"
#include "triad/core/buffer.hpp"
#include "triad/io/checkpoint.hpp"
#include "triad/train/averages.hpp"
#include "triad/train/finite_weights.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"

namespace triad::programs {

/// Returns which values of a forward pass a trainer keeps.  Without training, it keeps no values.  With `recompute`, it
/// keeps only the inputs of layers, and the backward pass computes the layers again.
constexpr keep kept_of_pass(bool learns, bool recompute) {
  return !learns ? keep::nothing : recompute ? keep::inputs : keep::everything;
}

/// Returns the settings of a trainer for these options.  The trainer has memory for the batches of `z`.  Batches are
/// padded if the backend records an update and replays it.
template <class Ex, class Room>
trainer_options settings_of(width_options const& o, Room const& z, adam_options const& adam = {}) {
  return {.adam = adam,
          .max_norm = o.clip,
          .key = o.seed,
          .memory = kept_of_pass(z.learns, o.recompute),
          .capacity = z.learns ? padded_room_for<Ex>(z.capacity()) : z.capacity(),
          .shares = o.shares};
}

/// `Interface` is learner, or a class that a program derives from learner.  `Self` has two functions: upload() returns
/// the inputs and answers of the batch, and first_values(path) returns the initialiser of a parameter.
template <class Self, class Interface, class Model, class Ex>
class learner_on : public Interface {
 public:
  /// The constructor stores the number of planned bytes in `planned`, so callers omit this argument.  If there is not
  /// enough memory for the trainer, throws memory_refused with this number.
  learner_on(Ex ex, Model const& m, typename trainer<Model, Ex>::options_type const& o, std::size_t planned = 0) try
      : ex_(std::move(ex)),
        processes_(ex_, o.memory != keep::nothing),
        trainer_((planned = planned_bytes_of(m, o), ex_), m, o, processes_) {
  } catch (std::bad_alloc const&) {
    if (planned == 0) throw;
    throw memory_refused(planned);
  }

  void update(double rate) override {
    auto const [in, targets] = self().upload();
    trainer_.update(in, targets, rate);
    if (averages_) averages_->update();
  }
  void accumulate(double fraction) override {
    auto const [in, targets] = self().upload();
    trainer_.accumulate(in, targets, fraction);
  }
  share_range shares() const override { return trainer_.shares(); }
  void begin_share(index_t share) override { trainer_.begin_share(share); }
  void finish(double rate) override {
    trainer_.finish(rate);
    if (averages_) averages_->update();
  }
  void rehearse() override {
    auto const [in, targets] = self().upload();
    trainer_.compute_gradient(in, targets);
    (void)trainer_.loss();  // waits for a device, which computes asynchronously
  }
  std::vector<update_record> const& records() override {
    trainer_.records(records_);
    return records_;
  }
  std::string products() const override {
    if constexpr (requires { report_products(ex_); })
      return report_products(ex_).line();
    else
      return {};
  }
  int patience() const override { return std::is_same_v<typename Ex::memory, host_memory> ? 1 : 16; }

  void initialize(std::uint64_t seed) override {
    triad::initialize(trainer_.parameters(), seed,
                      [this](std::string const& path) { return self().first_values(path); });
  }

  void keep_averages(double decay) override { averages_.emplace(ex_, trainer_.parameters(), decay); }
  void set_dropout(bool drops) override { trainer_.set_dropout(drops); }

  void begin_anew(std::uint64_t seed) override {
    this->initialize(seed);
    trainer_.forget_moments();
    if (averages_) averages_->forget();
  }

  void save(std::string const& path, run_record const& record) override {
    if (!world().is_first()) return;
    checkpoint_state const state{.configuration = nlohmann::json::parse(record.configuration),
                                 .vocabulary = nlohmann::json::parse(record.vocabulary),
                                 .extra = {{"run", record.notes}, {"settings", record.settings}}};
    if (averages_)
      save_checkpoint(path, state, trainer_, *averages_);
    else
      save_checkpoint(path, state, trainer_);
  }
  std::string load(checkpoint const& file, run_record const& record) override {
    auto const& path = file.tensors().file();
    file.expect(nlohmann::json::parse(record.configuration), nlohmann::json::parse(record.vocabulary));
    if (record.resumes) expect_same_settings(path, extra(file, "settings"), record.settings);
    auto& parameters = trainer_.parameters();
    if (record.resumes || file.has_moments())
      file.load(parameters);
    else  // without training, moments are not needed
      file.load(parameters.mutable_values(), parameters.where());
    // If the model is not trained further, its weights are the averages.
    if (!record.resumes && file.has_averages()) file.load_averages(trainer_.parameters());
    if (averages_ && file.has_averages()) file.load_averages(*averages_);
    if (auto const bad = not_finite(); !bad.empty())
      throw data_error(path + ": " + bad +
                       ", so this model has no answers: its run diverged; train again with a smaller --learning-rate, "
                       "or another --seed");
    trainer_.set_step(file.step());
    return extra(file, "run");
  }

  std::string not_finite() const override {
    auto const bad = not_finite_text(first_not_finite(trainer_.parameters()));
    if (!bad.empty() || !averages_ || averages_->count() == 0 || averages_->exchanged()) return bad;
    return not_finite_text(first_not_finite(averages_->values(), averages_->where()), "the average of ");
  }

  std::string digest() const override {
    auto const& parameters = trainer_.parameters();
    auto hash = path_hash({});
    auto const add = [&](auto const& values) {
      auto const host = host_copy(parameters.where(), values);
      hash = path_hash({reinterpret_cast<char const*>(host.data()), host.size() * sizeof host[0]}, hash);
    };
    add(parameters.flat_values());
    add(parameters.flat_first_moments());
    add(parameters.flat_second_moments());
    if (averages_) add(averages_->flat_values());
    return hexadecimal(hash);
  }
  std::uint64_t step() const override { return trainer_.step(); }
  trainer_bytes bytes() const override {
    auto all = trainer_.bytes();
    if (averages_) all.parameters += averages_->bytes();
    return all;
  }
  index_t parameters() const override { return count_values(trainer_.parameters().values()); }

 protected:
  Ex ex_;
  processes_on<Ex> processes_;
  trainer<Model, Ex, processes_on<Ex>> trainer_;

  void in_averages(std::function<void()> const& work) override {
    if (averages_ && averages_->count() > 0) return averages_->in_use(work);
    work();
  }

 private:
  Self& self() { return static_cast<Self&>(*this); }

  std::size_t planned_bytes_of(Model const& m, typename trainer<Model, Ex>::options_type const& o) {
    return trainer<Model, Ex, processes_on<Ex>>::plan(ex_, m, o, processes_.size()).total();
  }

  static std::string extra(checkpoint const& file, char const* name) {
    auto const found = file.state().extra.find(name);
    return found == file.state().extra.end() ? std::string() : found->second;
  }

  std::vector<update_record> records_;
  std::optional<parameter_averages<Model, Ex>> averages_;
};

}  // namespace triad::programs
