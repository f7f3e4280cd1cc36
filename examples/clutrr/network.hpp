// One model on one backend: what the program's verbs ask of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../common/backend_choice.hpp"
#include "../common/learner.hpp"
#include "graph.hpp"
#include "options.hpp"
#include "triad/batches/batch_upload.hpp"

namespace clutrr {

class network : public triad::examples::learner {
 public:
  // A batch: graphs are added, then used.
  virtual void clear() = 0;
  /// False where the batch has no room for it.
  virtual bool add(kinship_graph const& graph) = 0;

  /// The most likely target of each graph of the batch.
  virtual std::vector<triad::index_t> const& infer() = 0;
  /// After infer(): weights[head][l] of edge (i, j) of graph 0 at one layer.  Empty where the model has no triangles.
  virtual std::vector<std::vector<float>> attention(int layer, int i, int j) = 0;
};

/// Room for batches of `batch` graphs of `usual_nodes` people, and for fewer graphs of up to `max_nodes`.
struct network_options {
  int labels, targets;  // rows of the embedding, logits
  int batch, usual_nodes, max_nodes;
  bool learns;  // false: room for inference alone

  triad::graph_dims capacity() const { return triad::room_for(batch, usual_nodes, max_nodes); }
};

// The model that the options describe, on one backend; each is a translation unit of its own.  Where a build has not
// got the backend, its function says so by a data_error.
std::unique_ptr<network> make_on_reference(options const& o, network_options const& z);
std::unique_ptr<network> make_on_cpu(options const& o, network_options const& z);
std::unique_ptr<network> make_on_cuda(options const& o, network_options const& z);

inline std::unique_ptr<network> make_network(options const& o, network_options const& z) {
  return triad::examples::on_chosen_backend(
      o, [&] { return make_on_reference(o, z); }, [&] { return make_on_cpu(o, z); },
      [&] { return make_on_cuda(o, z); });
}

}  // namespace clutrr
