// Makes traces of a tree machine from the saved memory of a forward pass.  A trace has the weights of all choices in
// every step, and the trees that the steps wrote.
// SPDX-License-Identifier: Apache-2.0
//
// tree/program_trace.hpp converts a trace to a program.  Traces exist only for machines of binary trees, because car,
// cdr and cons are operations on binary trees.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "triad/core/backend.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/scratch.hpp"
#include "triad/core/views.hpp"
#include "triad/models/tree_machine.hpp"
#include "triad/ops/matmul.hpp"
#include "triad/ops/tree_loss.hpp"
#include "triad/tree/bind.hpp"
#include "triad/tree/placement.hpp"
#include "triad/tree/positions.hpp"
#include "triad/tree/program_trace.hpp"

namespace triad {

/// Returns one trace for each sample of the batch, without the trees.  `s` has the values that forward() saved for the
/// batch `in`, in training or in inference.  `in` and `s` must be in the memory `where` (memory_of(backend)).  The root
/// of a step is the label with the largest product of its filler and the agent's root.  The label <empty> is not
/// considered.
template <class Model, class Memory>
std::vector<tree_trace> traces_of(Model const& model, Memory const& where, typename Model::input const& in,
                                  typename Model::saved const& s) {
  TRIAD_EXPECTS(model.branching() == 2, "traces_of: trees of branching " + std::to_string(model.branching()) +
                                            ", expected 2, as car, cdr and cons need");
  auto const batch = static_cast<std::size_t>(s.batch), steps = static_cast<std::size_t>(model.steps),
             symbols = static_cast<std::size_t>(model.symbols), width = static_cast<std::size_t>(model.fillers()),
             choices = static_cast<std::size_t>(s.arguments.extent(2));
  std::vector<tree_trace> found(batch, tree_trace(steps));
  auto const arguments = host_copy(where, s.arguments);
  auto const fillers = model.unit_fillers ? std::vector<typename Model::value_type>() : host_copy(where, in.fillers);
  for (std::size_t k = 0; k < steps; ++k) {
    auto const operation = host_copy(where, s.operation(static_cast<index_t>(k))),
               root = host_copy(where, s.root(static_cast<index_t>(k)));
    for (std::size_t b = 0; b < batch; ++b) {
      auto& step = found[b][k];
      for (std::size_t j = 0; j < 3; ++j) step.operations[j] = static_cast<double>(operation[b * 3 + j]);
      auto const weights_of = [&](std::size_t choice) {
        std::array<double, 4> weights{};
        for (std::size_t j = 0; j < 4; ++j)
          weights[j] = static_cast<double>(arguments[((k * batch + b) * choices + choice) * 4 + j]);
        return weights;
      };
      for (std::size_t l = 0; l <= k; ++l) step.arguments.push_back(weights_of(l));
      if (model.empty_tree) step.empty = weights_of(k + 1);
      auto const* const predicted = root.data() + b * width;
      for (std::size_t v = 1; v < symbols; ++v) {
        double score = 0;
        if (model.unit_fillers)
          score = static_cast<double>(predicted[v]);
        else
          for (std::size_t f = 0; f < width; ++f)
            score += static_cast<double>(predicted[f]) * static_cast<double>(fillers[v * width + f]);
        if (v == 1 || score > step.root_score) {
          step.root = static_cast<index_t>(v);
          step.root_score = score;
        }
      }
    }
  }
  return found;
}

/// traces_of() with the tree that each step wrote.  decode_rows decides the symbol at each position; `threshold` is its
/// threshold.  A trace also has all scores of symbols that are at least least_written.  `w` has the parameters.
/// Allocates memory for the scores of a batch's trees, and frees this memory at the end.
template <backend Ex, class Model>
std::vector<tree_trace> traces_of(Ex& ex, Model const& model,
                                  typename Model::template fields<typename Model::value_type const> const& w,
                                  tree_positions<> const& positions, typename Model::input const& in,
                                  typename Model::saved const& s, double threshold = decode_threshold) {
  using T = typename Model::value_type;
  using memory = typename Ex::memory;
  expect_extent("traces_of", "positions", positions.count(), model.positions);
  auto const where = memory_of(ex);
  auto found = traces_of(model, where, in, s);
  auto const rows = s.batch * positions.count();
  buffer<memory> there(static_cast<std::size_t>(rows) * sizeof(index_t), where);
  vec<index_t> const symbols(static_cast<index_t*>(there.data()), rows);
  tree_pass<T> const pass{in.support, s.memory, s.weights};
  std::vector<T> written;  // (rows, symbols)
  for (index_t k = 0; k < model.steps; ++k) {
    auto const decode = [&](auto& backend, call const& c) {
      auto const frame = c.scratch->open();
      auto const fillers = model.interpreter.unbind(backend, w.interpreter, *c.scratch, pass, k + 1);
      auto const read = [&](matrix<T const> scores) {
        decode_rows(backend, scores, threshold, symbols);
        if constexpr (executes<std::remove_cvref_t<decltype(backend)>>) written = host_copy(where, scores);
      };
      if (model.unit_fillers) return read(fillers);
      auto const scores = c.scratch->template make<tensor<T, dyn, dyn>>(rows, model.symbols);
      matmul(backend, fillers, transposed(in.fillers), scores);
      read(as_matrix(read_only(scores)));
    };
    buffer<memory> scratch(planned_scratch(ex, {}, decode), where);
    auto place = scratch.place();
    call c;
    c.scratch = &place;
    decode(ex, c);
    auto const labels = host_copy(where, symbols);
    auto const score = written.begin();
    for (std::size_t b = 0; b < found.size(); ++b) {
      auto& step = found[b][static_cast<std::size_t>(k)];
      auto const first = static_cast<index_t>(b) * positions.count();
      step.tree = tree_of_labels(positions, vec<index_t const>(labels.data() + first, positions.count()));
      for (index_t p = 0; p < positions.count(); ++p)
        for (index_t v = 1; v < model.symbols; ++v)
          if (auto const x = static_cast<double>(score[(first + p) * model.symbols + v]); x >= least_written)
            step.symbols.push_back({p, v, x});
    }
  }
  return found;
}

}  // namespace triad
