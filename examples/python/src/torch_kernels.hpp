// Chooses the kernels for the device of a tensor, and calls them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>

#include "kernels.h"
#include "kernels_table.h"
#include "torch_tensor.hpp"

namespace triad_torch {

inline std::int64_t type_of(tensor const& x) {
  auto const t = x.type();
  expect(t == aoti_torch_dtype_float32() || t == aoti_torch_dtype_float64(),
         "another element type, expected float32 or float64");
  return t == aoti_torch_dtype_float32() ? triad_float32 : triad_float64;
}
inline bool lie_together(tensor const& x, tensor const& y) {
  return x.device_type() == y.device_type() && x.device_index() == y.device_index();
}
inline void expect_alike(tensor const& x, tensor const& like, char const* name) {
  expect(x.type() == like.type() && lie_together(x, like),
         std::string(name) + " has another element type or device, expected those of the first operand");
}

inline triad_kernels const *host_kernels = nullptr, *cuda_kernels = nullptr;
// Returns PyTorch's current stream on a device.  The function is in PyTorch's CUDA library, so this pointer is null if
// PyTorch is built without CUDA.
inline AOTITorchError (*current_cuda_stream)(std::int32_t device, void** stream) = nullptr;

/// Runs tasks on PyTorch's threads.  If we had threads of our own, they would compete with PyTorch's idle OpenMP
/// threads, which spin.
inline void on_pytorchs_threads(int workers, void (*work)(void*, int), void* context) {
  struct both {
    void (*work)(void*, int);
    void* context;
  } call{work, context};
  check(torch_parallel_for(
            0, workers, 1,
            [](std::int64_t begin, std::int64_t end, void* with) {
              auto const& c = *static_cast<both const*>(with);
              for (; begin < end; ++begin) c.work(c.context, static_cast<int>(begin));
            },
            &call),
        "lend its threads");
}

/// The kernels for the device of `x`, the device and the stream on which the kernels run, and their memory.
class here {
 public:
  triad_kernels const* kernels = nullptr;
  triad_place place{};

  explicit here(tensor const& x) : like_(x) {
    if (x.device_type() == aoti_torch_device_type_cpu()) {
      expect(host_kernels != nullptr, "no kernels, expected them loaded; import triad_torch first");
      kernels = host_kernels;
      std::uint32_t threads = 1;
      check(torch_get_num_threads(&threads), "say how many threads it has");
      place.threads = threads;
      place.borrowed = on_pytorchs_threads;
      return;
    }
    expect(cuda_kernels != nullptr && current_cuda_stream != nullptr,
           "a tensor on a GPU, expected on the host: these kernels were built without CUDA");
    kernels = cuda_kernels;
    place.device = x.device_index();
    check(current_cuda_stream(x.device_index(), &place.stream), "say which stream is current");
    place.memory = of_pytorch;
    place.memory_context = this;
  }
  here(here const&) = delete;
  here& operator=(here const&) = delete;

 private:
  /// Memory of PyTorch's allocator.  After the call, PyTorch gives it to later work of the current stream alone.  If
  /// the call is captured, the memory belongs to the CUDA graph.
  static void* of_pytorch(void* self, std::int64_t bytes) noexcept {
    try {
      auto& at = *static_cast<here const*>(self);
      at.memory_ = at.like_.like({std::max<std::int64_t>(bytes, 1)}, aoti_torch_dtype_bool());
      return at.memory_.data();
    } catch (std::exception const&) {
      return nullptr;
    }
  }

  tensor const& like_;
  tensor mutable memory_;
};

template <class Call>
inline void run(int (*kernel)(Call const*, char*, std::int64_t), Call const& call) {
  char message[1024] = "";
  if (kernel(&call, message, sizeof message) != 0) throw std::runtime_error(std::string("triad: ") + message);
}

}  // namespace triad_torch
