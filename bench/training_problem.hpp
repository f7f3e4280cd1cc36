// A model in training on one batch of random data.  Its loss and gradients are checked, and whole steps are timed.
// SPDX-License-Identifier: Apache-2.0
//
// A task defines the training by these members: model<T>(), dims(), memory, loader<T>(ex), fill(loader), upload(loader)
// -> (input, answers) and count_work().  If some batches are larger or padded, a task also has capacity().
#pragma once

#include "compare.hpp"
#include "problem.hpp"
#include "triad/batches/loader.hpp"
#include "triad/batches/padding.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/trainer.hpp"

namespace bench {

template <class T, class Task, class Ex>
class training_problem {
  using model = decltype(std::declval<Task const&>().template model<T>());
  using loader = decltype(std::declval<Task const&>().template loader<T>(std::declval<Ex&>()));
  using trainer = triad::trainer<model, Ex>;
  static_assert(triad::loader<loader>, "a task's loader(ex) is a loader of batches (triad/batches/loader.hpp)");

 public:
  training_problem(Ex& ex, Task const& task)
      : trainer_(ex, task.template model<T>(), options(task)),
        loader_(task.template loader<T>(ex)),
        on_host_(task.template model<T>(), triad::holding::gradients) {
    set_parameters(on_host_.mutable_values());
    auto const from = on_host_.flat_values(), to = trainer_.parameters().flat_values();
    trainer_.parameters().where().from_host(to.data_handle(), from.data_handle(), from.size() * sizeof(T));
    task.fill(loader_);
  }

  static triad::trainer_bytes bytes(Ex& ex, Task const& task) {
    return trainer::plan(ex, task.template model<T>(), options(task));
  }

  /// Makes a whole training step: forward, loss, backward, clipping, Adam.
  void step() {
    auto const batch = Task::upload(loader_);
    trainer_.update(batch.first, batch.second, 1e-3);
  }
  /// Makes a training step on another batch, which fill(loader) provides.
  template <class Fill>
  void step_on(Fill const& fill) {
    loader_.clear();
    fill(loader_);
    step();
  }
  /// Computes only the gradients.
  void differentiate() {
    auto const batch = Task::upload(loader_);
    trainer_.compute_gradient(batch.first, batch.second);
  }
  T loss() const { return trainer_.loss(); }
  /// Returns the gradients in host memory.  They are valid until the next call.
  auto gradients() {
    auto const from = trainer_.parameters().flat_gradients(), to = on_host_.flat_gradients();
    trainer_.parameters().where().to_host(to.data_handle(), from.data_handle(), to.size() * sizeof(T));
    return on_host_.gradients();
  }

 private:
  static typename trainer::options_type options(Task const& task) {
    return {.max_norm = 1, .key = 3, .memory = task.memory, .capacity = capacity(task)};
  }
  static auto capacity(Task const& task) {
    if constexpr (requires { task.capacity(); })
      return triad::padded_room_for<Ex>(task.capacity());
    else
      return task.dims();
  }

  trainer trainer_;
  loader loader_;
  triad::parameter_set<model, triad::reference::backend> on_host_;
};

/// Compares the loss and the gradients on one backend with those on another backend in double.  There is dropout.
template <class Ex, class Judge, class Task>
verdict check_training(Ex& ex, Judge& judge, Task const& task) {
  training_problem<float, Task, Ex> found(ex, task);
  training_problem<double, Task, Judge> expected(judge, task);
  found.differentiate();
  expected.differentiate();
  float const loss = found.loss();
  double const expected_loss = expected.loss();
  if (auto wrong = compare("the loss", &loss, &expected_loss, 1)) return wrong;
  return compare_fields(found.gradients(), expected.gradients());
}

}  // namespace bench
