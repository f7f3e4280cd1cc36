// How rows of one GPU's memory come to another process's GPU: by NCCL, or through the memory of the hosts.
// SPDX-License-Identifier: Apache-2.0
//
// NCCL is in a library beside the program, triad-nccl.so, which is loaded where several processes train on GPUs, so
// nobody else needs NCCL.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace triad::apps {

class process_group;

/// Rows that go from GPU to GPU.
class device_rows {
 public:
  virtual ~device_rows() = default;
  virtual void exchange(int partner, void const* mine, std::size_t sent, void* theirs, std::size_t wanted) = 0;
};

/// What a process says of itself before rows go by NCCL: which GPU it has, or why it cannot.
struct device_place {
  std::string gpu, why_not;
};
/// Why rows of these processes go through the hosts; empty: they go by NCCL, since each has a GPU of its own.
std::string why_no_nccl(std::vector<device_place> const& of_all);

/// By NCCL, in this stream of this device, where that is possible for all processes.  Otherwise null, and process 0 has
/// said why, once.  All processes of the world call it at once.
std::unique_ptr<device_rows> rows_by_nccl(int device, void* stream);

}  // namespace triad::apps
