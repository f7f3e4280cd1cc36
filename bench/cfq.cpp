// Times training steps of models for CFQ: dependency parsers with the paper's sizes and with smaller sizes, and the
// Edge Transformer with a decoder.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "cfq_tasks.hpp"
#include "run_training.hpp"

namespace bench {
namespace {

template <class Task>
void add_parser(std::string const& name, index_t words, index_t layers, index_t width, bool tied) {
  Task task;
  task.nodes = questions(words);
  task.layers = layers, task.width = width, task.tied = tied;
  Task checked = task;
  checked.nodes = {1, 3, 6};
  checked.layers = 3, checked.width = 24;
  register_training(name, task.name(), task, checked);
}

[[maybe_unused]] bool const registered = [] {
  for (bool const paper : {false, true}) {
    index_t const layers = paper ? 7 : 4, width = paper ? 360 : 128;
    add_parser<edge_dependency_task>("edge_dependency_step", 500, layers, width, false);
    add_parser<biaffine_dependency_task>("biaffine_dependency_step", paper ? 1000 : 500, layers, width, false);
    add_parser<biaffine_dependency_task>("universal_dependency_step", 500, paper ? 8 : 4, width, true);
  }
  edge_pair_task small, paper;
  small.sentences = 16, small.target = 30, small.layers = 4, small.width = 128, small.heads = 4;
  paper.sentences = 4, paper.target = 30;
  for (auto const& task : {small, paper}) register_training("edge_seq2seq_step", task.name(), task, task.small());
  return true;
}();

}  // namespace
}  // namespace bench
