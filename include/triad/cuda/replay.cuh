// CUDA graphs: work that comes again with the same shapes and the same memory is recorded once and replayed as one launch.
// SPDX-License-Identifier: Apache-2.0
//
// What changes from step to step (step number, learning rate, the batch) is copied to fixed addresses before the work and read
// there by its kernels; so is what dropout and Adam need.  A training step of small graphs is some hundreds of short kernels:
// launched one by one they would wait for the host.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "triad/cuda/status.cuh"

namespace triad::cuda {

/// The recordings of one stream.  Work is recorded when its key is seen the second time, since most of what runs once never
/// runs again; beyond `most` keys it is run as it is.
class recordings {
 public:
  recordings() = default;
  recordings(recordings&& other) noexcept : known_(std::exchange(other.known_, {})), replayed_(other.replayed_) {}
  recordings& operator=(recordings&& other) noexcept {
    std::swap(known_, other.known_);
    std::swap(replayed_, other.replayed_);
    return *this;
  }
  ~recordings() { clear(); }

  static constexpr std::size_t most = 64;

  template <class Work>
  void run(cudaStream_t stream, std::uint64_t key, Work&& work) {
    recording* const found = find(key);
    if (found == nullptr) {
      if (known_.size() < most) known_.push_back({key, nullptr});
      return work();
    }
    if (found->graph == nullptr) found->graph = record(stream, work);
    check(cudaGraphLaunch(found->graph, stream), "replaying a recorded graph");
    ++replayed_;
  }

  /// Forgets all: before memory that recorded work uses is given back.
  void clear() noexcept {
    for (auto const& r : known_)
      if (r.graph != nullptr) (void)cudaGraphExecDestroy(r.graph);
    known_.clear();
  }
  /// How often a recording was replayed.
  std::uint64_t replayed() const { return replayed_; }

 private:
  struct recording {
    std::uint64_t key;
    cudaGraphExec_t graph;
  };

  recording* find(std::uint64_t key) {
    for (auto& r : known_)
      if (r.key == key) return &r;
    return nullptr;
  }

  template <class Work>
  static cudaGraphExec_t record(cudaStream_t stream, Work& work) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "beginning to record a graph");
    try {
      work();
    } catch (...) {
      (void)cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) (void)cudaGraphDestroy(graph);
      throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "recording a graph");
    cudaGraphExec_t ready = nullptr;
    auto const status = cudaGraphInstantiate(&ready, graph, 0);
    (void)cudaGraphDestroy(graph);
    check(status, "preparing a recorded graph");
    return ready;
  }

  std::vector<recording> known_;
  std::uint64_t replayed_ = 0;
};

}  // namespace triad::cuda
