// Trains a model.  A trainer has the model's parameters and memory, and makes updates.  Allocates memory only in the
// constructor and in classes().
// SPDX-License-Identifier: Apache-2.0
//
// A batch that is too large for the memory is divided into parts p = 1 .. P.  Part p has the fraction s_p of the
// targets of the batch:
//
//   loss = sum_p s_p loss_p,  gradient = sum_p s_p gradient_p
//
// Each loss_p is a mean over the targets of part p, so `loss` is the mean over all targets of the batch.  A batch can
// also be divided into shares (parallel/shares.hpp).  In this case, each part belongs to one share.  The gradients of
// all shares are added along a tree.  If there are several processes, the tree spans all processes, and every process
// then makes the same step.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "triad/core/arena.hpp"
#include "triad/core/backend.hpp"
#include "triad/core/batch_sizes.hpp"
#include "triad/core/batch_views.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/call.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/replay_key.hpp"
#include "triad/core/views.hpp"
#include "triad/layers/layer.hpp"
#include "triad/ops/adam.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/log_step.hpp"
#include "triad/parallel/shares.hpp"
#include "triad/train/attention_table.hpp"
#include "triad/train/model.hpp"
#include "triad/train/model_passes.hpp"
#include "triad/train/optimizer.hpp"
#include "triad/train/parameters.hpp"
#include "triad/train/row_classes.hpp"
#include "triad/train/snapshot.hpp"
#include "triad/train/trainer_options.hpp"
#include "triad/train/update_parts.hpp"

namespace triad {

/// Trains a Model (train/model.hpp) on the backend Ex.  `Processes` is a communicator.  If there are several processes,
/// each process has a trainer with the same options, and all trainers make the same updates.
template <class Model, backend Ex, class Processes = alone>
class trainer {
  static_assert(detail::expect_model<Model>());

 public:
  using T = typename Model::value_type;
  using memory = typename Ex::memory;
  using output = typename Model::output;
  using answers = typename Model::answers;
  using dims = layer_dims<Model>;
  using options_type = basic_trainer_options<dims>;

  static_assert(communicator<Processes, Ex, T>,
                "a communicator has rank(), size(), exchange() and barrier() (triad/parallel/communicator.hpp)");

  /// Never changes parameters for which the model's has_gradient(path) returns false.
  trainer(Ex& ex, Model const& m, options_type const& o)
    requires std::same_as<Processes, alone>
      : trainer(ex, m, o, single_process()) {}
  /// Throws contract_violation if there are more processes than options.shares, or if one of these numbers is not a
  /// power of two.
  trainer(Ex& ex, Model const& m, options_type const& o, Processes& processes)
      : ex_(ex),
        options_(o),
        parts_(shares_with(o, processes.rank(), processes.size())),
        parameters_(m, o.memory != keep::nothing ? holding::moments : holding::values, memory_of(ex)),
        optimizer_(parameters_, o.adam, detail::without_gradient<Model>{m}),
        clock_(memory_of(ex)),
        passes_(ex, m, o.capacity, o.memory, o.key, clock_.step(), {"trainer", "in the trainer's options"}),
        scalars_(scalar_bytes(), memory_of(ex)),
        sums_(gradient_values(), parts_.shares().count(), processes, memory_of(ex)),
        classes_(ex) {
    auto place = scalars_.place();
    loss_ = place.template make<vec<T>>(1);
    norm_ = place.template make<vec<T>>(1);
    part_loss_ = place.template make<vec<T>>(1);
    history_ = as_matrix(place.template make<tensor<T, dyn, dyn>>(history_rows, 2));
  }
  trainer(trainer const&) = delete;
  trainer& operator=(trainer const&) = delete;
  ~trainer() { forget_replays(ex_); }

  trainer_bytes bytes() const { return plan(ex_, model(), options_, sums_.processes()); }
  static trainer_bytes plan(Ex& ex, Model const& m, options_type const& o, int processes = 1) {
    bool const learns = o.memory != keep::nothing;
    auto const parameters = planned_bytes([&](arena& a) { (void)m.plan_params(a); }) * (learns ? 4 : 1);
    auto const gradient = parameters / 4;
    auto const values = static_cast<index_t>(gradient / sizeof(T));
    return {parameters, passes::saved_bytes(m, o.capacity, o.memory, rounds_from(ex)),
            passes::scratch_bytes(ex, m, o.capacity, o.memory),
            sums::bytes(learns ? values : 0, shares_with(o, 0, processes).count(), processes)};
  }

  /// Makes one step of Adam on the loss of a batch.  Afterwards loss() and norm() belong to this batch.  Only the first
  /// update and records() wait for a device.  Throws contract_violation if the parameters are not initialised.
  void update(typename Model::input const& in, answers const& targets, double rate) {
    parts_.expect_none();
    TRIAD_EXPECTS(options_.shares == 1,
                  "trainer: update() with " + std::to_string(options_.shares) +
                      " shares, expected 1; call begin_share(), accumulate() and finish() instead");
    expect_trainable();
    expect_step(rate);
    clock_.set(step_, rate);
    replay(ex_, key_of(in, targets, use_of_batch::update), [&] {
      compute_gradient(in, targets, options_.max_norm);
      step_parameters();
    });
    ++step_;
  }

  /// Adds the gradient of one part of a batch, so that the trainer needs memory only for the largest part.  Call
  /// accumulate() for each part, then call finish().  `fraction` is the number of targets of this part, divided by the
  /// number of targets of the batch.
  ///
  /// The fractions of an update must sum to 1, or to 0 if the batch has no targets.  Otherwise finish() throws
  /// contract_violation.  If there are several processes, each process knows only the fractions of its own parts, so
  /// finish() throws only if their sum is above 1.
  ///
  /// If the model's loss is a mean over targets, the result is, up to rounding, the result of update() on the whole
  /// batch.  The loss of a parser is a sum of five means, and the loss of a dependency parser is a sum of two means.
  /// For these models, every token must have all targets.  Dropout draws a new mask for every part.
  void accumulate(typename Model::input const& in, answers const& targets, double fraction) {
    parts_.expect_part(fraction);
    expect_trainable();
    clock_.set_part(step_, part(), fraction);
    replay(ex_, key_of(in, targets, parts_.is_first() ? use_of_batch::first_part : use_of_batch::later_part), [&] {
      if (parts_.is_first()) zero_sums();
      add_gradient(in, targets, part_loss_, detail::weigh<T, Ex>{ex_, clock_.fraction()});
      transform(ex_, detail::add_fraction<T>{clock_.fraction()}, loss_, part_loss_, loss_);
    });
    parts_.add(fraction);
  }
  /// The numbers of those shares of a batch that this process computes.  For each of these shares in order, call
  /// begin_share() once, then accumulate() for each part of the share.  An empty share has no parts.
  share_range shares() const { return parts_.shares(); }
  /// The number of the next part of an update.  Dropout draws its mask from this number.  All parts of an update have
  /// different numbers.
  std::uint32_t part() const { return parts_.number(); }
  void begin_share(index_t share) {
    parts_.expect_share(share);
    expect_trainable();
    end_share();
    parts_.begin(share);
  }
  /// Makes an update on a batch of `examples` examples, divided into shares.  load(first, last) returns the input and
  /// the targets of the examples first .. last - 1.  The loss gives all examples the same weight, so all examples must
  /// have the same number of targets.
  template <class Load>
  void update_in_shares(std::size_t examples, Load&& load, double rate) {
    auto const mine = shares();
    for (auto s = mine.first; s < mine.last; ++s) {
      begin_share(s);
      auto const [first, last] = examples_of_share(s, mine.all, examples);
      if (first == last) continue;
      auto const& [in, targets] = load(first, last);
      accumulate(in, targets, static_cast<double>(last - first) / static_cast<double>(examples));
    }
    finish(rate);
  }
  /// Makes Adam's step on the sum of the gradients of all parts, over all shares and processes.  Afterwards loss() and
  /// norm() belong to the whole batch.
  void finish(double rate) {
    expect_step(rate);
    parts_.expect_all(sums_.processes());
    end_share();
    sums_.sum_over_processes(ex_, parameters_.flat_gradients(), loss_);
    clock_.set(step_, rate);
    replay_key key;
    passes_.add_memory(key);
    replay(ex_, key.value(), [&] {
      clip_summed(options_.max_norm);
      step_parameters();
    });
    parts_.forget();
    ++step_;
  }

  /// The number of updates whose losses and norms are kept.
  static constexpr index_t history_rows = 64;
  /// Writes the records of the updates since the last call to `found`, in order.  Waits for these updates.  Only the
  /// records of the last `history_rows` updates are kept.
  void records(std::vector<update_record>& found) {
    std::array<T, 2 * history_rows> table;
    scalars_.memory().to_host(table.data(), history_.data_handle(), table.size() * sizeof(T));
    auto const most = static_cast<std::uint64_t>(history_rows);
    found.clear();
    for (auto s = step_ - reported_ > most ? step_ - most : reported_; s < step_; ++s) {
      auto const row = static_cast<std::size_t>(s % most);
      found.push_back({s, static_cast<double>(table[2 * row]), static_cast<double>(table[2 * row + 1])});
    }
    reported_ = step_;
  }

  /// Computes the loss, its gradient, and the norm of the gradient before clipping.  Makes no step.
  void compute_gradient(typename Model::input const& in, answers const& targets, double max_norm = 0) {
    parts_.expect_none();
    parameters_.expect_weights("trainer");
    zero_gradients();
    add_gradient(in, targets, loss_, [](output const&) {});
    clip_summed(max_norm);
  }

  /// Returns the logits of a batch, computed without dropout.  The result is valid until the next call.  Throws
  /// contract_violation if the parameters are not initialised.  classes(), evaluate_batch(), loss_of() and attention()
  /// throw in this case too.
  output infer(typename Model::input const& in) {
    parameters_.expect_initialized("trainer");
    return passes_.forward(parameters_.values(), in, false, [](call const&, batch_memory const&) {});
  }

  /// Returns the class of each row of infer(in), for logits (rows, classes).  The result is in host memory and valid
  /// until the next call.  Waits for the device.  Allocates if the batch has more rows than every earlier batch.
  /// bytes() does not count the memory of the classes.
  std::vector<index_t> const& classes(typename Model::input const& in) {
    static_assert(detail::has_classes<output>(), "trainer: this model does not say (rows, classes); take infer()");
    return classes_(infer(in));
  }

  /// The logits that infer() would return for a batch, and the loss of the batch.
  struct batch_evaluation {
    output scores;
    T loss;
  };
  /// Returns the logits and the loss of a batch, computed in one pass.
  batch_evaluation evaluate_batch(typename Model::input const& in, answers const& targets) {
    parameters_.expect_initialized("trainer");
    auto const scores = passes_.forward(parameters_.values(), in, false, [&](call const& c, batch_memory const& at) {
      passes_.applied().loss(ex_, *c.scratch, in, at.scores, targets, part_loss_, at.d_scores);
    });
    return {scores, read(part_loss_)};
  }
  /// Returns the loss of a batch, computed without dropout.  Does not change the gradients, loss() or norm().  Waits
  /// for the device.
  T loss_of(typename Model::input const& in, answers const& targets) { return evaluate_batch(in, targets).loss; }

  /// Runs infer(in), and returns the attention weights of an edge (heads, terms).  The table owns its memory, which is
  /// host memory.  The model must have attention_weights().  Throws contract_violation if there is no such layer, graph
  /// or edge, or if the trainer has not kept the layer's values.
  attention_table<T> attention(typename Model::input const& in, attention_place const& at) {
    static_assert(shows_attention<Model, Ex>,
                  "trainer: this model has no attention_weights, so where it looked is unknown "
                  "(models/graph_model.hpp has one)");
    (void)infer(in);
    return attention_of_last(in, at);
  }
  /// Returns the attention weights without another pass.  The last pass must have been infer(in).
  attention_table<T> attention_of_last(typename Model::input const& in, attention_place const& at) {
    auto scratch = passes_.scratch();
    return detail::attention_at<T>(ex_, passes_.applied(), passes_.make_call(scratch, false), parameters_.values(), in,
                                   passes_.place(detail::dims_of_batch(in)).saved, at);
  }

  /// Sets how many times later passes apply the layer of a tied model.  The number must be at most the depth at
  /// construction, for which memory is planned.  The parameters are the same for all depths.
  void set_depth(index_t layers)
    requires detail::has_depth<Model>
  {
    parts_.expect_none();
    passes_.set_depth(layers);
  }
  /// Switches all dropout of the model on or off, from the next update on.  Do not call this function between the parts
  /// of an update.
  void set_dropout(bool drops) {
    parts_.expect_none();
    drops_ = drops;
  }

  T loss() const { return read(loss_); }
  T norm() const { return read(norm_); }
  /// The number of updates made so far.
  std::uint64_t step() const { return step_; }
  /// Sets the number of updates made so far.  Discards the parts of an unfinished update.
  void set_step(std::uint64_t step) {
    step_ = reported_ = step;
    parts_.forget();
  }

  /// Sets the moments to zero.  Call this function if training starts again from other values.  The step continues to
  /// count, so Adam's bias correction is too weak for the new moments.  Therefore the next updates differ in size from
  /// the first updates of a new training.
  void forget_moments() {
    expect_to_learn();
    fill(ex_, T(0), parameters_.flat_first_moments());
    fill(ex_, T(0), parameters_.flat_second_moments());
  }

  /// Returns a copy of the parameters, the moments and the step, in host memory.  `into` is a snapshot whose memory is
  /// reused.
  trainer_snapshot<T> snapshot(trainer_snapshot<T> into = {}) const {
    take_snapshot(parameters_, step_, into);
    return into;
  }
  /// Restores the state of the snapshot.  Later updates then give the same bits as after the snapshot.  Throws
  /// contract_violation if the snapshot belongs to another model.
  void restore(trainer_snapshot<T> const& then) {
    put_snapshot(then, parameters_);
    set_step(then.step);
  }

  Model const& model() const { return passes_.model(); }
  /// The backend that was given at construction.
  Ex& context() const { return ex_; }
  parameter_set<Model, Ex>& parameters() { return parameters_; }
  parameter_set<Model, Ex> const& parameters() const { return parameters_; }
  /// The options that were given at construction.
  options_type const& options() const { return options_; }

  /// Returns the values that forward() saved for the last batch, for inspection.
  typename Model::saved saved(dims const& d) { return passes_.place(d).saved; }
  call inspection_call(arena& scratch) const { return passes_.make_call(scratch, false); }

 private:
  using passes = model_passes<Model, Ex>;
  using batch_memory = typename passes::batch_memory;
  using sums = gradient_sums<T, Ex, Processes>;

  enum class use_of_batch : std::uint64_t { update, first_part, later_part };
  /// Returns the key under which the work of a batch is recorded and replayed.
  std::uint64_t key_of(typename Model::input const& in, answers const& targets, use_of_batch what) const {
    replay_key key;
    key.add(static_cast<std::uint64_t>(what));
    key.add(std::uint64_t{drops_});
    passes_.add_pass(key);
    add_to_key(key, in);
    add_to_key(key, targets);
    return key.value();
  }

  static Processes& single_process() {
    static Processes one;
    return one;
  }
  /// Returns no shares if the trainer has no memory for training.
  static share_range shares_with(options_type const& o, int rank, int processes) {
    return o.memory != keep::nothing ? shares_of(o.shares, rank, processes) : share_range{};
  }
  bool learns() const { return options_.memory != keep::nothing; }
  index_t gradient_values() { return learns() ? parameters_.flat_gradients().extent(0) : 0; }
  /// The gradients without those of constant parameters before and after them, which remain zero.
  vec<T> trained_gradients() { return optimizer_.trained(parameters_.flat_gradients()); }
  void zero_gradients() { fill(ex_, T(0), trained_gradients()); }
  void zero_sums() {
    zero_gradients();
    fill(ex_, T(0), loss_);
  }
  /// Ends the current share, if there is one, and adds the gradient of the share to the sum over shares.
  void end_share() {
    if (!parts_.in_share()) return;
    if (parts_.in_first_share()) sums_.begin();
    if (parts_.is_first()) zero_sums();
    sums_.add(ex_, parameters_.flat_gradients(), loss_);
    parts_.end_share();
  }

  /// Call this function once for each update, outside of replayed work.
  void expect_to_learn() const {
    TRIAD_EXPECTS(learns(),
                  "trainer: training with options.memory keep::nothing, expected keep::everything or keep::inputs");
  }
  void expect_step(double rate) const {
    TRIAD_EXPECTS(rate >= 0 && is_finite(rate),
                  "trainer: the learning rate is " + std::to_string(rate) + ", expected a finite number of 0 or more");
    parameters_.expect_weights("trainer");
  }
  void expect_trainable() {
    expect_to_learn();
    parameters_.expect_weights("trainer");
    parameters_.expect_initialized("trainer");
  }

  /// Adds to the gradients.  Calls weigh(d_scores) between loss() and backward().
  template <class Weigh>
  void add_gradient(typename Model::input const& in, answers const& targets, vec<T> loss, Weigh&& weigh) {
    auto const& model = passes_.applied();
    (void)passes_.forward(parameters_.values(), in, drops_, [&](call const& c, batch_memory const& at) {
      model.loss(ex_, *c.scratch, in, at.scores, targets, loss, at.d_scores);
      weigh(at.d_scores);
      model.backward(ex_, c, parameters_.values(), in, at.saved, at.d_scores, parameters_.gradients());
    });
  }
  void clip_summed(double max_norm) {
    auto scratch = passes_.scratch();
    clip_gradient(ex_, scratch, max_norm, trained_gradients(), norm_);
  }
  void step_parameters() {
    optimizer_.update(ex_, parameters_, clock_);
    log_step(ex_, clock_.step(), vec<T const>(loss_), vec<T const>(norm_), history_);
  }

  T read(vec<T> value) const {
    T result;
    scalars_.memory().to_host(&result, value.data_handle(), sizeof result);
    return result;
  }

  static std::size_t scalar_bytes() {
    return planned_bytes([](arena& a) {
      for (int i = 0; i < 3; ++i) (void)a.make<vec<T>>(1);
      (void)a.make<tensor<T, dyn, dyn>>(history_rows, 2);
    });
  }

  Ex& ex_;
  options_type options_;
  update_parts parts_;  // the parts of an unfinished update
  parameter_set<Model, Ex> parameters_;
  adam_optimizer<Model, Ex> optimizer_;
  training_clock<Ex> clock_;
  passes passes_;
  buffer<memory> scalars_;
  sums sums_;
  row_classes<Ex> classes_;
  vec<T> loss_{nullptr, 0}, norm_{nullptr, 0}, part_loss_{nullptr, 0};
  matrix<T> history_ = no_matrix<T>();     // (history_rows, 2)
  std::uint64_t step_ = 0, reported_ = 0;  // reported_: the first update that records() has not returned
  bool drops_ = true;                      // set by set_dropout()
};

}  // namespace triad
