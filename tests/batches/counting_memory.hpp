// Host memory that counts the copies into it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/buffer.hpp"

namespace triad::test {

struct counting_memory : host_memory {
  int* copies = nullptr;
  void from_host(void* to, void const* from, std::size_t bytes) const {
    ++*copies;
    host_memory::from_host(to, from, bytes);
  }
};

}  // namespace triad::test
