// Times training steps of the Edge Transformer: CLUTRR and COGS with the papers' sizes, and one graph of 512 nodes with
// recomputation.  Also times inference with the model for CLUTRR.
// SPDX-License-Identifier: Apache-2.0

#include "run_training.hpp"
#include "training_tasks.hpp"
#include "triad/train/runner.hpp"

namespace bench {
namespace {

/// A model that computes the answers to one batch, without training.
template <class T, class Ex>
class answering_problem {
 public:
  answering_problem(Ex& ex, graph_task const& task)
      : run_(ex, task.model<T>(), task.dims()), loader_(task.loader<T>(ex)) {
    set_parameters(run_.parameters().mutable_values());
    task.fill(loader_);
  }
  auto answer() { return run_(loader_.upload().first); }
  std::size_t bytes() const { return run_.bytes(); }

 private:
  triad::runner<triad::edge_transformer<T>, Ex> run_;
  triad::graph_loader<Ex> loader_;
};

verdict check_answers(graph_task const& task) {
  checker judge;
  answering_problem<float, triad::cpu::backend> found(machine(), task);
  answering_problem<double, checker> expected(judge, task);
  return compare_views("the logits", found.answer(), expected.answer());
}

void run_answering(benchmark::State& state, std::string const& name, graph_task const& task,
                   graph_task const& checked) {
  answering_problem<float, triad::cpu::backend> p(machine(), task);
  if (!may_time(state, name, p.bytes(), [&] { return check_answers(checked); })) return;
  double const seconds = time_work(state, {.model = task.count_work(false), .total = p.bytes()}, [&] { p.answer(); });
  state.counters["examples/s"] = static_cast<double>(task.examples()) / seconds;
}

[[maybe_unused]] bool const registered = [] {
  register_training("clutrr_step", "/b:400/l:8/d:200/h:4", clutrr(400), clutrr(100));
  register_training("cogs_step", "/b:100/l:3/d:64/h:4", cogs(), cogs());
  register_training("edge_transformer", "/train/l:8/b:1/n:512/d:128/h:4", large(512), large(40), {.warm = false});
  for (index_t const batch : {1, 400}) {
    auto const name = "clutrr_answer/b:" + std::to_string(batch) + "/l:8/d:200/h:4";
    auto const timed = [=](benchmark::State& state) { run_answering(state, name, clutrr(batch), clutrr(40)); };
    benchmark::RegisterBenchmark(name.c_str(), timed)->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace bench
