// Names for profilers: an NVTX range in the domain "triad" around every launch.
// SPDX-License-Identifier: Apache-2.0
//
// All kernels are instances of one template, detail::entry, whose name says nothing.  Nsight Systems and Nsight Compute
// can put the name of the innermost range in its place (docs/operations/gpu.md says how).  Where no profiler is
// attached there is no such domain, and a range is a comparison with null.
//
// The toolkit has the header, and no library is linked for it.  Where it is missing, or NVTX_DISABLE is defined (NVTX's
// own switch), ranges are nothing at all.
#pragma once

#if __has_include(<nvtx3/nvToolsExt.h>) && !defined(NVTX_DISABLE)
#include <nvtx3/nvToolsExt.h>

namespace triad::cuda {

/// From here to the end of the scope, by the thread that made it.  `name` lives as long.
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
  ~named_range() {}  // not trivial, as above: no warning about an unused range
};

}  // namespace triad::cuda

#endif
