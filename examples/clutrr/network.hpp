// One model on one backend behind a small interface, so that the trainer is compiled once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "graph.hpp"
#include "options.hpp"
#include "triad/core/errors.hpp"
#include "triad/train/trainer.hpp"

namespace clutrr {

/// What a checkpoint holds beside parameters and moments.
struct run_record {
  options model;  // of which those that shape the model must agree
  vocabulary words;
  std::string notes{};    // whatever the run wants back
  bool resumes = false;   // the options of training must agree too
};

class network {
 public:
  virtual ~network() = default;

  // A batch: graphs are added, then used.
  virtual void clear() = 0;
  /// False where the batch has no room for it.
  virtual bool add(kinship_graph const& graph) = 0;

  virtual void update(double rate) = 0;
  /// What the updates since the last call found.  On a device this waits for them: it is asked every `patience()` updates.
  virtual std::vector<triad::update_record> const& records() = 0;
  virtual int patience() const = 0;
  /// The work of an update without the update: for timing.
  virtual void rehearse() = 0;
  /// The most likely target of each graph of the batch.
  virtual std::vector<triad::index_t> const& infer() = 0;
  /// After infer(): weights[head][l] of edge (i, j) of graph 0 at one layer.  Empty where the model has no triangles.
  virtual std::vector<std::vector<float>> attention(int layer, int i, int j) = 0;

  virtual void initialize(std::uint64_t seed) = 0;
  virtual void save(std::string const& path, run_record const& record) = 0;
  /// Returns the record's notes.
  virtual std::string load(std::string const& path, run_record const& record) = 0;

  virtual std::uint64_t step() const = 0;
  virtual triad::trainer_bytes bytes() const = 0;
  virtual triad::index_t parameters() const = 0;
};

/// Room for batches of `batch` graphs of `usual_nodes` people, and for fewer graphs of up to `max_nodes`.
struct network_sizes {
  int labels, targets;  // rows of the embedding, logits
  int batch, usual_nodes, max_nodes;
  bool learns;  // false: room for inference alone

  triad::graph_dims capacity() const {
    triad::index_t const b = batch, n = usual_nodes, most = max_nodes, rows = std::max(b * n * n, most * most);
    return {b, rows, std::max(b * n, most), rows * most, most};
  }
};

// The model that the options describe, on one backend; each is a translation unit of its own.  Where a build has not got the
// backend, its function says so by a data_error.
std::unique_ptr<network> make_on_reference(options const& o, network_sizes const& z);
std::unique_ptr<network> make_on_cpu(options const& o, network_sizes const& z);
std::unique_ptr<network> make_on_cuda(options const& o, network_sizes const& z);

inline std::unique_ptr<network> make_network(options const& o, network_sizes const& z) {
  if (o.backend == "cuda") return make_on_cuda(o, z);
  if (o.arithmetic != "float32")
    throw triad::data_error("--arithmetic " + o.arithmetic + " is for --backend cuda; " + o.backend + " has float32 alone");
  return o.backend == "reference" ? make_on_reference(o, z) : make_on_cpu(o, z);
}

}  // namespace clutrr
