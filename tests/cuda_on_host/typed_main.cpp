// Settings of the typed tests on the stand-in for a GPU: work runs when it is queued, in the tests' own memory.
// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_on_host/settings.hpp"

namespace {

// Runs before Catch2's main().
[[maybe_unused]] auto const before = [] {
  auto how = triad::cuda_on_host::settings_in_use();  // keeps TRIAD_CUDA_ON_HOST=shuffled,seed=7
  how.deferred = false;
  how.unified = true;
  return triad::cuda_on_host::use(how);
}();

}  // namespace
