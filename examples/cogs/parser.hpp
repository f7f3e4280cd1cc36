// One model on one backend: what the program's verbs ask of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "../common/backend_choice.hpp"
#include "../common/learner.hpp"
#include "options.hpp"
#include "triad/batches/sentence_loader.hpp"

namespace cogs {

/// What the model says of one sentence, by numbers.
struct parse {
  std::vector<int> parent;                           // the best of each token by itself; its own place for a root
  std::vector<int> tree;                             // the best parents that make no cycle
  std::vector<int> role, category, noun_type, verb;  // the best labels
  std::vector<float> score;                          // (n, n) of token i's parent j
};

class parser : public triad::examples::learner {
 public:
  // A batch: sentences are added, then used.
  virtual void clear() = 0;
  /// False where the batch has no room for it.
  virtual bool add(std::span<triad::labelled_token const> sentence) = 0;
  /// Of each sentence of the batch.
  virtual std::vector<parse> const& infer() = 0;
};

/// Room for `batch` sentences of `usual` tokens, and for fewer of up to `longest`.
struct parser_options {
  int tokens;
  triad::label_counts labels;
  int batch, usual, longest;
  bool learns;  // false: room for inference alone

  triad::graph_dims capacity() const { return triad::room_for(batch, usual, longest); }
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

}  // namespace cogs
