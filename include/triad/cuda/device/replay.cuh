// CUDA graphs: work that is repeated with the same shapes and the same memory is recorded once and replayed as one
// launch.
// SPDX-License-Identifier: Apache-2.0
//
// Values that change from step to step are copied to fixed addresses before the work, and the kernels of the work read
// them there.  Such values are the step number, the learning rate, the batch, and the state of dropout and Adam.  A
// training step with small graphs has some hundreds of short kernels.  If they were launched one by one, the device
// would wait for the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/cuda/device/status.cuh"

namespace triad::cuda {

/// The recordings of one stream.  Work is recorded when its key is seen for the second time, since most work that runs
/// once never runs again.  `most` keys are remembered; a further key replaces the least recently used one.  Padded
/// batches (batches/padding.hpp) of one training have about ten to forty shapes.
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
    TRIAD_EXPECTS(!running_, "cuda: a replay inside recorded work, expected none; leave the inner triad::replay out");
    in_scope const guard(running_);
    auto const found = std::find_if(known_.begin(), known_.end(), [&](recording const& r) { return r.key == key; });
    if (found == known_.end()) {
      if (known_.size() == most) {
        forget(known_.front());
        known_.erase(known_.begin());
      }
      known_.push_back({key, nullptr});
      return work();
    }
    std::rotate(found, found + 1, known_.end());
    recording& latest = known_.back();
    if (latest.graph == nullptr) latest.graph = record(stream, work);
    check(cudaGraphLaunch(latest.graph, stream), "replaying a recorded graph");
    ++replayed_;
  }

  /// Deletes all recordings.  Must be called before memory that recorded work uses is freed.
  void clear() noexcept {
    for (auto const& r : known_) forget(r);
    known_.clear();
  }
  /// The number of replays so far.
  std::uint64_t replayed() const { return replayed_; }

 private:
  struct recording {
    std::uint64_t key;
    cudaGraphExec_t graph;
  };

  /// Sets a flag to true for the length of a scope.
  struct in_scope {
    bool& flag;
    explicit in_scope(bool& f) : flag(f) { flag = true; }
    in_scope(in_scope const&) = delete;
    in_scope& operator=(in_scope const&) = delete;
    ~in_scope() { flag = false; }
  };

  /// Running replays are not affected: the runtime keeps the graph until they are done.
  static void forget(recording const& r) noexcept {
    if (r.graph != nullptr) (void)cudaGraphExecDestroy(r.graph);
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
      (void)
          cudaGetLastError();  // clears the error of the failed recording: `work` throws the cause, and the next launch
                               // must not report it
      throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "recording a graph");
    cudaGraphExec_t ready = nullptr;
    auto const status = cudaGraphInstantiate(&ready, graph, 0);
    (void)cudaGraphDestroy(graph);
    check(status, "preparing a recorded graph");
    return ready;
  }

  std::vector<recording> known_;  // the least recently used first
  std::uint64_t replayed_ = 0;
  bool running_ = false;
};

}  // namespace triad::cuda
