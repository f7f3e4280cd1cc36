// The kernels of kernels.cpp for GPUs, in CUDA.
// SPDX-License-Identifier: Apache-2.0
//
// The kernels run in a stream of triad.  This stream waits for all earlier work in the caller's stream, and the
// caller's stream then waits for the kernels.  So memory that the caller frees after a call is not reused before the
// kernels have ended.
#include <map>
#include <memory>
#include <mutex>

#include "kernels_calls.hpp"
#include "kernels_table.h"
#include "triad/cuda/backend.cuh"
#include "triad/cuda/fuse_attention.cuh"
#include "triad/cuda/triangle.cuh"

namespace {

using namespace triad_torch;
using triad::cuda::check;

/// One GPU of this process, created on first use.
struct gpu {
  explicit gpu(int number) : ex(number) {
    ex.record(false);
    for (auto* event : {&began, &ended})
      check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "creating an event");
  }
  ~gpu() {
    for (auto event : {began, ended})
      if (event != nullptr) (void)cudaEventDestroy(event);
  }
  triad::cuda::backend ex;
  triad::cuda::growing_memory scratch;
  cudaEvent_t began = nullptr, ended = nullptr;
  std::mutex one_call;
};

/// All GPUs in use. triad_cuda_kernels_end() releases their resources.  If a process ends without a call of
/// triad_cuda_kernels_end(), nothing is released, because the driver may already be unloaded.
struct all_gpus {
  std::mutex access;
  std::map<std::int64_t, std::unique_ptr<gpu>> used;

  static all_gpus& of_process() {
    static auto* const only = new all_gpus;
    return *only;
  }
  gpu& of(std::int64_t number) {
    std::lock_guard const lock(access);
    auto& one = used[number];
    if (!one) one = std::make_unique<gpu>(static_cast<int>(number));
    return *one;
  }
};

/// Restores the caller's current device when it is destroyed.
class device_as_it_was {
 public:
  device_as_it_was() { check(cudaGetDevice(&number_), "asking for the current device"); }
  device_as_it_was(device_as_it_was const&) = delete;
  device_as_it_was& operator=(device_as_it_was const&) = delete;
  ~device_as_it_was() { (void)cudaSetDevice(number_); }

 private:
  int number_ = 0;
};

/// Calls work(gpu).  Its kernels run after all earlier work in the caller's stream, and before all later work in that
/// stream.  This order also holds if work() throws, because some kernels may already be running.
template <class Work>
void in_order(triad_place const& place, Work&& work) {
  device_as_it_was const caller;
  auto& here = all_gpus::of_process().of(place.device);
  std::lock_guard const lock(here.one_call);
  check(cudaSetDevice(static_cast<int>(place.device)), "choosing a device");
  auto const callers = static_cast<cudaStream_t>(place.stream);
  check(cudaEventRecord(here.began, callers), "recording where the caller's stream is");
  check(cudaStreamWaitEvent(here.ex.stream(), here.began, 0), "waiting for the caller's stream");
  auto const let_the_caller_wait = [&] {
    auto const status = cudaEventRecord(here.ended, here.ex.stream());
    return status != cudaSuccess ? status : cudaStreamWaitEvent(callers, here.ended, 0);
  };
  try {
    work(here);
  } catch (...) {
    (void)let_the_caller_wait();
    throw;
  }
  check(let_the_caller_wait(), "letting the caller's stream wait for the kernels");
}

/// Copies rows to contiguous memory.  The distance between the starts of consecutive rows is `stride` elements.
template <class T>
struct dense_rows {
  static constexpr char const* name = "dense_rows";
  static constexpr int threads = 256;

  TRIAD_DEVICE void operator()(triad::cuda::block const& b, T* to, T const* from, index_t rows, index_t columns,
                               index_t stride) const {
    index_t const item = b.index() * threads + b.thread();
    if (item < rows * columns) to[item] = from[item / columns * stride + item % columns];
  }
};

template <class T>
struct copy_on_device {
  triad::cuda::backend& ex;
  void operator()(T* to, T const* from, index_t rows, index_t columns, index_t stride) const {
    triad::cuda::launch(ex, dense_rows<T>(), triad::cuda::blocks_for(rows * columns, dense_rows<T>::threads), to, from,
                        rows, columns, stride);
  }
};

/// Calls run(call, backend, arena, graphs, copy) twice.  The first call measures the scratch memory and computes
/// nothing.  The second call computes.
template <class Run>
void with_triangle(triad_triangle_call const& c, Run&& run) {
  with_type(c.type, [&](auto type) {
    using T = decltype(type);
    triangle_call<T> const work(c);
    if (work.empty()) return;
    cudaStreamCaptureStatus recording{};
    check(cudaStreamIsCapturing(static_cast<cudaStream_t>(c.place.stream), &recording),
          "asking whether the call is being recorded");
    TRIAD_EXPECTS(recording == cudaStreamCaptureStatusNone,
                  "triangular_attention: it copies the graphs' sizes from the host, which no CUDA graph can hold; call "
                  "it outside of torch.cuda.graph, and compile without mode=\"reduce-overhead\"");
    in_order(c.place, [&](gpu& here) {
      auto const planned = [&](auto& ex, triad::arena& scratch) {
        auto const graphs = work.sizes().view([&](std::vector<index_t> const& v) {
          auto const there = scratch.make<triad::vec<index_t>>(static_cast<index_t>(v.size()));
          if (!scratch.measuring())
            here.ex.where().from_host(there.data_handle(), v.data(), v.size() * sizeof(index_t));
          return triad::vec<index_t const>(there);
        });
        run(work, ex, scratch, graphs, copy_on_device<T>{here.ex});
      };
      triad::measuring<triad::cuda::backend> planner{&here.ex};
      auto const bytes = triad::planned_bytes([&](triad::arena& scratch) { planned(planner, scratch); });
      triad::arena scratch(here.scratch.at_least(bytes), bytes);
      planned(here.ex, scratch);
    });
  });
}

/// Takes child `child` of each tree or, if `Graft`, makes each tree child `child` of a new root.  One thread computes
/// one element of the result.
template <class T, bool Graft>
struct shift_trees {
  static constexpr char const* name = "shift_trees";
  static constexpr int threads = 256;

  TRIAD_DEVICE void operator()(triad::cuda::block const& b, T const* from, T* to, triad::tree_positions<> positions,
                               index_t trees, index_t filler, index_t child) const {
    index_t const item = b.index() * threads + b.thread(), numbers = positions.count() * filler;
    if (item >= trees * numbers) return;
    index_t const tree = item / numbers, position = item % numbers / filler, f = item % filler;
    index_t source;
    if constexpr (Graft) {
      auto const part = positions.cons_source(position);
      source = part.position != triad::no_position && part.argument == child ? part.position : triad::no_position;
    } else {
      source = positions.child_source(child, position);
    }
    to[item] = source == triad::no_position ? T(0) : from[tree * numbers + source * filler + f];
  }
};

template <bool Graft>
void shift(triad_tree_call const& c) {
  auto const positions = positions_of(c);
  with_type(c.type, [&](auto type) {
    using T = decltype(type);
    using kernel = shift_trees<T, Graft>;
    in_order(c.place, [&](gpu& here) {
      auto const blocks = triad::cuda::blocks_for(c.trees * positions.count() * c.filler, kernel::threads);
      triad::cuda::launch(here.ex, kernel(), blocks, static_cast<T const*>(c.from), static_cast<T*>(c.to), positions,
                          index_t{c.trees}, index_t{c.filler}, index_t{c.child});
    });
  });
}

int triangle(triad_triangle_call const* call, char* message, std::int64_t room) {
  return guarded(message, room, [&] {
    with_triangle(*call, [](auto const& work, auto& ex, triad::arena& scratch, triad::graph_batch const& graphs,
                            auto const& copy) { work.value(ex, scratch, graphs, copy); });
  });
}

int triangle_grad(triad_triangle_call const* call, char* message, std::int64_t room) {
  return guarded(message, room, [&] {
    with_triangle(*call, [](auto const& work, auto& ex, triad::arena& scratch, triad::graph_batch const& graphs,
                            auto const& copy) { work.gradient(ex, scratch, graphs, copy); });
  });
}

int fuse(triad_fuse_call const* call, char* message, std::int64_t room) {
  return guarded(message, room, [&] {
    with_type(call->type, [&](auto type) {
      in_order(call->place, [&](gpu& here) { fuse_call<decltype(type)>{*call}.value(here.ex); });
    });
  });
}

int fuse_grad(triad_fuse_call const* call, char* message, std::int64_t room) {
  return guarded(message, room, [&] {
    with_type(call->type, [&](auto type) {
      fuse_call<decltype(type)> const work{*call};
      in_order(call->place, [&](gpu& here) {
        here.ex.where().zero(call->d_states, work.bytes_of_states());
        work.gradient(here.ex);
      });
    });
  });
}

int tree_child(triad_tree_call const* call, char* message, std::int64_t room) {
  return guarded(message, room, [&] { shift<false>(*call); });
}
int tree_graft(triad_tree_call const* call, char* message, std::int64_t room) {
  return guarded(message, room, [&] { shift<true>(*call); });
}

}  // namespace

extern "C" TRIAD_TORCH_API triad_kernels const* triad_cuda_kernels_table(void) {
  static triad_kernels const table{triangle, triangle_grad, fuse, fuse_grad, tree_child, tree_graft};
  return &table;
}

/// Releases all resources on GPUs.  No other call may be running.
extern "C" TRIAD_TORCH_API void triad_cuda_kernels_end(void) {
  auto& all = all_gpus::of_process();
  std::lock_guard const lock(all.access);
  all.used.clear();
}
