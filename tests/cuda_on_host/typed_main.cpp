// How the typed tests run on the stand-in for a GPU: work is done at once, in the memory of the tests themselves.
// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_on_host/settings.hpp"

namespace {

// Before main(), which is Catch2's.
[[maybe_unused]] auto const before = [] {
  auto how = triad::cuda_on_host::settings_in_use();  // TRIAD_CUDA_ON_HOST=shuffled,seed=7 counts
  how.deferred = false;
  how.unified = true;
  return triad::cuda_on_host::use(how);
}();

}  // namespace
