// One model on one backend: what the task's verbs ask of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "../../common/backend_choice.hpp"
#include "../../common/learner.hpp"
#include "options.hpp"
#include "triad/batches/dependency_loader.hpp"

namespace dependency {

/// What the model says of one sentence, by numbers.
struct found_tree {
  std::vector<int> parent;      // of the best tree with one root; its own place for the root
  std::vector<int> relation;    // the best one to that parent
  std::vector<double> sure;     // the probability of that relation, given the parent
  std::vector<double> parents;  // (n, n) the logarithm of the probability that token i's parent is j, by itself
};

class parser : public triad::examples::learner {
 public:
  // A batch: sentences are added, then used.
  virtual void clear() = 0;
  /// False where the batch has no room for it.
  virtual bool add(std::span<triad::attached_token const> sentence) = 0;
  /// Of each sentence of the batch.
  virtual std::vector<found_tree> const& infer() = 0;
};

/// Room for batches of `words` words in sentences of up to `usual`, and for any sentence of up to `longest`.
struct parser_options {
  triad::index_t tokens, relations;
  int words, usual, longest;
  bool learns;  // false: room for inference alone

  triad::graph_dims capacity() const {
    triad::index_t const most = std::max(usual, longest), nodes = std::max(words, longest);
    triad::index_t const rows = std::max(triad::index_t{words} * usual, triad::index_t{longest} * longest);
    return {nodes, rows, nodes, rows * most, most};
  }
};

// The model that the options describe, on one backend; each is a translation unit of its own.  Where a build has not
// got the backend, its function says so by a data_error.
std::unique_ptr<parser> make_on_reference(options const& o, parser_options const& z);
std::unique_ptr<parser> make_on_cpu(options const& o, parser_options const& z);
std::unique_ptr<parser> make_on_cuda(options const& o, parser_options const& z);

inline std::unique_ptr<parser> make_parser(options const& o, parser_options const& z) {
  return triad::examples::on_chosen_backend(
      o, [&] { return make_on_reference(o, z); }, [&] { return make_on_cpu(o, z); },
      [&] { return make_on_cuda(o, z); });
}

}  // namespace dependency
