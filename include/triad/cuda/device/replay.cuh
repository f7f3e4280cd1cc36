// CUDA graphs: work that is repeated with the same shapes and the same memory is recorded once and replayed as one
// launch.
// SPDX-License-Identifier: Apache-2.0
//
// Some values change from step to step: the step number, the learning rate, the batch, and the state of dropout and
// Adam.  These values are copied to fixed addresses before the recorded work, and the kernels of the work read the
// values there.  A training step with small graphs has some hundreds of short kernels.  If the host launched these
// kernels one by one, the device would wait for the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/cuda/device/status.cuh"

namespace triad::cuda {

/// The recordings of one stream.  Work is recorded when its key comes for the second time, because most work that runs
/// once never runs again.  Up to `most` keys are stored, and a further key replaces the least recently used key.  A
/// training with padded batches (batches/padding.hpp) has about ten to forty shapes.
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

  /// Replays that are still running are not affected: the runtime keeps the graph until the replays are done.
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
      (void)cudaGetLastError();  // `work` throws the cause, so the next launch must not report this error
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
