// main() of the tests on a GPU. If there is no GPU, it prints a message and returns a status for which CTest reports
// "skipped".
// SPDX-License-Identifier: Apache-2.0
#if TRIAD_TEST_CATCH2 >= 3
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include <cuda_runtime_api.h>

#include <cstdio>

int main(int argc, char** argv) {
  int count = 0;
  auto const status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    std::fprintf(stderr, "nothing was tested, there is no GPU here: %s\n",
                 status == cudaSuccess ? "the driver has none" : cudaGetErrorString(status));
    return 77;
  }
  return Catch::Session().run(argc, argv);
}
