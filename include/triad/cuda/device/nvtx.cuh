// Names for profilers: an NVTX range in the domain "triad" around every launch.
// SPDX-License-Identifier: Apache-2.0
//
// All kernels are instances of the template detail::entry, so its name says nothing about a kernel.  Nsight Systems and
// Nsight Compute can show the name of the innermost range instead (docs/operations/gpu.md says how).  Without a
// profiler there is no domain, and a range costs only a comparison with null.
//
// The header of NVTX is part of the CUDA toolkit, and no library is linked for it.  If the header is missing, or
// NVTX_DISABLE (NVTX's own switch) is defined, a range does nothing.
#pragma once

#if __has_include(<nvtx3/nvToolsExt.h>) && !defined(NVTX_DISABLE)
#include <nvtx3/nvToolsExt.h>

namespace triad::cuda {

/// A range of this thread that ends at the end of the scope.  `name` must exist until the range ends.
class named_range {
 public:
  explicit named_range(char const* name) {
    if (domain() == nullptr) return;
    nvtxEventAttributes_t what = {};
    what.version = NVTX_VERSION;
    what.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    what.messageType = NVTX_MESSAGE_TYPE_ASCII;
    what.message.ascii = name;
    nvtxDomainRangePushEx(domain(), &what);
  }
  named_range(named_range const&) = delete;
  named_range& operator=(named_range const&) = delete;
  ~named_range() {
    if (domain() != nullptr) nvtxDomainRangePop(domain());
  }

 private:
  static nvtxDomainHandle_t domain() {
    static nvtxDomainHandle_t const made = nvtxDomainCreateA("triad");
    return made;
  }
};

}  // namespace triad::cuda

#else

namespace triad::cuda {

class named_range {
 public:
  explicit named_range(char const*) {}
  named_range(named_range const&) = delete;
  named_range& operator=(named_range const&) = delete;
  ~named_range() {}  // not trivial, as above, so that compilers do not warn about an unused range
};

}  // namespace triad::cuda

#endif
