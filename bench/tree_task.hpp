// A Differentiable Tree Machine in training on trees of random symbols, with counts of its work.  The machine's
// operations move rows, or multiply by matrices as in the paper.
// SPDX-License-Identifier: Apache-2.0
//
// The floor counts this work of a step, in addition to the work of the agent:
//
//   stream    the reachable rows of each tree, once at every later step forward and once backward; the rows of W_shrink
//             for reachable positions, twice for each step, forward and backward; 8 passes over W_shrink for its
//             gradient and AdamW
//   products  W_shrink times the tree of each step, its transpose times the gradient, and its own gradient for all
//             steps at once
#pragma once

#include <utility>
#include <vector>

#include "sequences.hpp"
#include "triad/batches/tree_loader.hpp"
#include "triad/models/tree_machine.hpp"
#include "triad/tree/shift.hpp"
#include "work.hpp"

namespace bench {

struct tree_task {
  index_t depth = 10, steps = 16, batch = 16, symbols = 101, width = 64, nodes = 40;
  triad::keep memory = triad::keep::everything;
  bool ours = false;  // with roots that are distributions, and an empty tree

  struct node {
    index_t position, filler;
  };

  index_t examples() const { return batch; }
  triad::tree_positions<> where() const { return {2, depth}; }
  triad::tree_dims dims() const { return {batch}; }
  triad::tree_machine_options sizes() const {
    triad::tree_machine_options z{.steps = steps, .symbols = symbols, .unit_fillers = true};
    z.agent = {.layer = {.width = width,
                         .heads = 4,
                         .hidden = 4 * width,
                         .dropout = 0.1,
                         .norms = triad::norm_position::before,
                         .between = triad::activation::gelu},
               .fillers = symbols};
    if (ours) z.root = triad::tree_root::distribution, z.empty_tree = true;
    return z;
  }
  template <class T>
  auto model() const {
    return triad::tree_machine<T>(triad::tree_interpreter<T>(where()), where().count(), sizes());
  }
  template <class T, class Ex>
  auto loader(Ex& ex) const {
    return triad::tree_loader<Ex, T>(
        {.where = where(), .steps = steps, .symbols = symbols, .batch = batch, .empty_tree = ours},
        triad::memory_of(ex));
  }

  /// Puts symbols at the first `nodes` positions, like the programs that this benchmark is compared with.
  template <class Loader>
  void fill(Loader& loader) const {
    triad::random_stream random(5, 0);
    auto const tree = [&] {
      std::vector<node> all;
      for (index_t q = 0; q < std::min(nodes, where().count()); ++q)
        all.push_back({q, 1 + random_index(random, symbols - 1)});
      return all;
    };
    for (index_t b = 0; b < batch; ++b) {
      auto const source = tree();
      loader.add(source, tree());
    }
  }
  template <class Loader>
  static auto upload(Loader& loader) {
    return loader.upload();
  }

  /// Returns this machine with smaller sizes, which the reference backend computes in a short time.
  tree_task small() const {
    tree_task t = *this;
    t.depth = 6, t.steps = 9, t.batch = 3, t.nodes = 12;
    return t;
  }

  work_model count_work() const {
    work_model work;
    triad::reachable_positions reachable(where(), steps);
    for (index_t q = 0; q < std::min(nodes, where().count()); ++q) reachable.add(q);
    reachable.close();
    auto const rows = [&](index_t slot) {
      index_t count = 0;
      for (index_t q = 0; q < where().count(); ++q)
        count += slot == 0 ? reachable.first()[static_cast<std::size_t>(q)]
                           : reachable.since()[static_cast<std::size_t>(q)] <= slot;
      return static_cast<double>(count);
    };
    double const row = 4.0 * static_cast<double>(symbols),
                 shrink = static_cast<double>(where().count()) * row * static_cast<double>(width);
    for (index_t l = 0; l < steps; ++l) {
      work.stream += 2 * static_cast<double>(steps - l) * static_cast<double>(batch) * rows(l) * row;
      work.stream += 2 * rows(l) * row * static_cast<double>(width);
      auto const used = static_cast<index_t>(rows(l)) * symbols;
      work.add({batch, width, used, false, true}, 1);
      if (l > 0) work.add({batch, used, width, false, false}, 1);
    }
    work.stream += 8 * shrink;
    work.add({width, where().count() * symbols, steps * batch, true, false}, 1);
    return work;
  }
};

/// This machine with the paper's interpreter: the roles are arbitrary orthonormal vectors, and each operation is a
/// product with a matrix.
struct matrix_tree_task : tree_task {
  template <class T>
  auto model() const {
    return triad::tree_machine<T, triad::matrix_interpreter<T>>(interpreter<T>(), where().count(), sizes());
  }
  matrix_tree_task small() const { return {tree_task::small()}; }
  template <class T>
  triad::matrix_interpreter<T> interpreter() const {
    index_t const r = where().count();
    auto& all = store<T>();
    if (all.empty()) {
      all.resize(static_cast<std::size_t>(5 * r * r));
      triad::random_orthonormal(7, triad::make_matrix(all.data(), r, r, r));
      triad::make_shifts_both_ways(where(), triad::tensor<T const, triad::dyn, triad::dyn>(all.data(), r, r),
                                   triad::tensor<T, triad::dyn, triad::dyn, triad::dyn>(all.data() + r * r, 4, r, r));
    }
    return {2,
            r,
            r,
            false,
            triad::tensor<T const, triad::dyn, triad::dyn>(all.data(), r, r),
            triad::tensor<T const, triad::dyn, triad::dyn, triad::dyn>(all.data() + r * r, 4, r, r)};
  }

 private:
  template <class T>
  std::vector<T>& store() const {
    static std::vector<std::pair<index_t, std::vector<T>>> by_depth;
    for (auto& [d, values] : by_depth)
      if (d == depth) return values;
    return by_depth.emplace_back(depth, std::vector<T>()).second;
  }
};

}  // namespace bench
