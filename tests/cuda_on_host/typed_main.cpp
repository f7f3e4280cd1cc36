// main() of the typed tests on the stand-in for a GPU: work is done at once, in the memory of the tests themselves.
// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_on_host/settings.hpp"
#include "tests/typed_session.hpp"

int main(int count, char** words) {
  auto how = triad::cuda_on_host::settings_in_use();  // TRIAD_CUDA_ON_HOST=shuffled,seed=7 counts
  how.deferred = false;
  how.unified = true;
  triad::cuda_on_host::use(how);
  return triad::test::run_typed_tests(count, words);
}
