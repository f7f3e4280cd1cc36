// The kernels of kernels.cpp for GPUs, in CUDA.
// SPDX-License-Identifier: Apache-2.0
//
// The kernels run in the caller's stream, and work in memory that the caller gives them.  They copy nothing from the
// host.  So the caller may capture a call in a CUDA graph.
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

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
  explicit gpu(int number) : ex(number) {}
  triad::cuda::backend ex;
  std::mutex one_call;
};

/// While this exists, calls of this thread that allocate are legal although another thread captures a stream.
class relaxed_captures {
 public:
  relaxed_captures() { check(cudaThreadExchangeStreamCaptureMode(&mode_), "changing the mode of captures"); }
  relaxed_captures(relaxed_captures const&) = delete;
  relaxed_captures& operator=(relaxed_captures const&) = delete;
  ~relaxed_captures() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
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
  gpu& of(triad_place const& place) {
    std::lock_guard const lock(access);
    auto& one = used[place.device];
    if (!one) {
      check(cudaSetDevice(static_cast<int>(place.device)), "choosing a device");
      TRIAD_EXPECTS(!triad::cuda::is_captured(static_cast<cudaStream_t>(place.stream)),
                    "kernels: the first call on this GPU is captured in a CUDA graph, expected a call before it, which "
                    "allocates; warm up as PyTorch's documentation of CUDA graphs says");
      relaxed_captures const other_threads;
      one = std::make_unique<gpu>(static_cast<int>(place.device));
    }
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

/// Calls work(backend), whose kernels run in the caller's stream.
template <class Work>
void in_callers_stream(triad_place const& place, Work&& work) {
  device_as_it_was const caller;
  auto& here = all_gpus::of_process().of(place);
  std::lock_guard const lock(here.one_call);
  // Calls share no memory of the backend, so streams need not wait for each other.
  here.ex.queue_in_unordered(static_cast<cudaStream_t>(place.stream));
  work(here.ex);
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

/// The sizes and the first indices of some graphs, as an argument of a kernel.  So the host need not copy them, and a
/// CUDA graph stores them.
struct some_graphs {
  static constexpr index_t most = 100;  // the arguments of a kernel have at most 4 KB
  index_t size[most], node[most], edge[most], triangle[most];
};

/// Writes the sizes and the first indices of `count` graphs, from graph `first` on.
struct write_graphs {
  static constexpr char const* name = "write_graphs";
  static constexpr int threads = 128;

  TRIAD_DEVICE void operator()(triad::cuda::block const& b, index_t* size, index_t* node, index_t* edge,
                               index_t* triangle, some_graphs const& graphs, index_t first, index_t count) const {
    index_t const g = b.index() * threads + b.thread();
    if (g >= count) return;
    size[first + g] = graphs.size[g];
    node[first + g] = graphs.node[g];
    edge[first + g] = graphs.edge[g];
    triangle[first + g] = graphs.triangle[g];
  }
};

/// The same for graphs of n nodes each.
struct write_equal_graphs {
  static constexpr char const* name = "write_equal_graphs";
  static constexpr int threads = 128;

  TRIAD_DEVICE void operator()(triad::cuda::block const& b, index_t* size, index_t* node, index_t* edge,
                               index_t* triangle, index_t n, index_t count) const {
    index_t const g = b.index() * threads + b.thread();
    if (g >= count) return;
    size[g] = n;
    node[g] = g * n;
    edge[g] = g * n * n;
    triangle[g] = g * n * n * n;
  }
};

/// Returns the graphs of a call, in memory of the device.
triad::graph_batch graphs_on_device(triad::cuda::backend& ex, triad::arena& place, triad_torch::graph_sizes const& of,
                                    bool equal) {
  using triad::cuda::blocks_for;
  auto const count = of.dims.graphs;
  auto const make = [&] { return place.make<triad::vec<index_t>>(count); };
  auto const size = make(), node = make(), edge = make(), triangle = make();
  if (!place.measuring()) {
    auto const write = [&](auto const& kernel, index_t graphs, auto const&... arguments) {
      triad::cuda::launch(ex, kernel, blocks_for(graphs, kernel.threads), size.data_handle(), node.data_handle(),
                          edge.data_handle(), triangle.data_handle(), arguments..., graphs);
    };
    if (equal)
      write(write_equal_graphs(), count, of.dims.max_nodes);
    else
      for (index_t first = 0; first < count; first += some_graphs::most) {
        auto const some = std::min(some_graphs::most, count - first);
        some_graphs values{};
        std::copy_n(of.size.begin() + first, some, values.size);
        std::copy_n(of.node.begin() + first, some, values.node);
        std::copy_n(of.edge.begin() + first, some, values.edge);
        std::copy_n(of.triangle.begin() + first, some, values.triangle);
        write(write_graphs(), some, values, first);
      }
  }
  return {of.dims, size, node, edge, triangle};
}

/// Calls run(call, backend, arena, graphs, copy) twice.  The first call measures the scratch memory and computes
/// nothing.  The second call computes.
template <class Run>
void with_triangle(triad_triangle_call const& c, Run&& run) {
  with_type(c.type, [&](auto type) {
    using T = decltype(type);
    triangle_call<T> const work(c);
    if (work.empty()) return;
    TRIAD_EXPECTS(c.place.memory != nullptr, "kernels: no memory to work in, expected place.memory for a GPU");
    in_callers_stream(c.place, [&](triad::cuda::backend& ex) {
      auto const planned = [&](auto& on, triad::arena& scratch) {
        auto const graphs = graphs_on_device(ex, scratch, work.sizes(), c.sizes == nullptr);
        run(work, on, scratch, graphs, copy_on_device<T>{ex});
      };
      triad::measuring<triad::cuda::backend> planner{&ex};
      auto const bytes = triad::planned_bytes([&](triad::arena& scratch) { planned(planner, scratch); });
      auto* const memory = c.place.memory(c.place.memory_context, static_cast<std::int64_t>(bytes));
      if (memory == nullptr)
        throw std::runtime_error("CUDA out of memory: triangular attention needs " + std::to_string(bytes) +
                                 " bytes to work in on device " + std::to_string(c.place.device));
      triad::arena scratch(memory, bytes);
      planned(ex, scratch);
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
    in_callers_stream(c.place, [&](triad::cuda::backend& ex) {
      auto const blocks = triad::cuda::blocks_for(c.trees * positions.count() * c.filler, kernel::threads);
      triad::cuda::launch(ex, kernel(), blocks, static_cast<T const*>(c.from), static_cast<T*>(c.to), positions,
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
      in_callers_stream(call->place, [&](triad::cuda::backend& ex) { fuse_call<decltype(type)>{*call}.value(ex); });
    });
  });
}

int fuse_grad(triad_fuse_call const* call, char* message, std::int64_t room) {
  return guarded(message, room, [&] {
    with_type(call->type, [&](auto type) {
      fuse_call<decltype(type)> const work{*call};
      in_callers_stream(call->place, [&](triad::cuda::backend& ex) {
        ex.where().zero(call->d_states, work.bytes_of_states());
        work.gradient(ex);
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

/// Releases all resources on GPUs, after all work on them.  No other call may be running.
extern "C" TRIAD_TORCH_API void triad_cuda_kernels_end(void) {
  try {
    device_as_it_was const caller;
    auto& all = all_gpus::of_process();
    std::lock_guard const lock(all.access);
    for (auto const& one : all.used)
      if (cudaSetDevice(static_cast<int>(one.first)) == cudaSuccess) (void)cudaDeviceSynchronize();
    all.used.clear();
  } catch (std::exception const&) {  // a driver that has ended; nothing is left to release
  }
}
