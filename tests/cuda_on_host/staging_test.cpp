// Tests copies to a device through page-locked memory. The device must get the values that the host's memory has at the
// time of the call, even if the copy is large or runs late.
// Tests cuda/device/staging.cuh and cuda/device/memory.cuh.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <numeric>
#include <vector>

#include "session.hpp"
#include "triad/cuda/backend.cuh"
#include "triad/cuda/elementwise.cuh"

namespace cuda_on_host_staging_tests {

using namespace triad;
using test::contains;

TEST_CASE("bytes may change as soon as a copy to the device returns") {
  triad::cuda::backend ex;
  auto const memory = memory_of(ex);
  for (std::size_t count : {std::size_t{1}, std::size_t{100}, std::size_t{300} << 10,
                            std::size_t{1} << 20}) {  // up to 8 MiB: more than the page-locked memory
    CAPTURE(count);
    buffer<triad::cuda::device_memory> there(count * sizeof(std::uint64_t), memory);
    std::vector<std::uint64_t> here(count), back(count);
    std::iota(here.begin(), here.end(), count);
    auto const sent = here;
    memory.from_host(there.data(), here.data(), there.bytes());
    std::fill(here.begin(), here.end(), 0);
    memory.to_host(back.data(), there.data(), there.bytes());
    CHECK(back == sent);
  }
}

TEST_CASE("copies that follow each other arrive each in its place") {
  triad::cuda::backend ex;
  auto const memory = memory_of(ex);
  constexpr std::size_t copies = 400, each = 3000;  // 9.6 MB: both halves are used several times
  buffer<triad::cuda::device_memory> there(copies * each * sizeof(std::uint64_t), memory);
  std::vector<std::uint64_t> here(each), back(copies * each);
  for (std::size_t i = 0; i < copies; ++i) {
    std::fill(here.begin(), here.end(), i);
    memory.from_host(static_cast<std::uint64_t*>(there.data()) + i * each, here.data(), each * sizeof(std::uint64_t));
  }
  memory.to_host(back.data(), there.data(), there.bytes());
  for (std::size_t i = 0; i < back.size(); ++i) REQUIRE(back[i] == i / each);
}

TEST_CASE("a copy from the host is no part of recorded work") {
  triad::cuda::backend ex;
  auto const memory = memory_of(ex);
  buffer<triad::cuda::device_memory> there(8, memory);
  double const here = 1;
  auto const work = [&] { memory.from_host(there.data(), &here, 8); };
  work();
  replay(ex, 7, work);  // the first call runs it directly
  CHECK_THROWS_WITH(replay(ex, 7, work), contains("a copy from the host inside recorded work"));
  work();  // the stream still works
}

TEST_CASE("work that cannot be recorded says why, and no later call is blamed for it") {
  triad::cuda::backend ex;
  auto const memory = memory_of(ex);
  buffer<triad::cuda::device_memory> there(8, memory);
  double here = 1;
  memory.from_host(there.data(), &here, 8);
  auto const work = [&] { memory.to_host(&here, there.data(), 8); };  // waits, which is not allowed in a recording
  replay(ex, 7, work);
  CHECK_THROWS_AS(replay(ex, 7, work), triad::cuda::device_error);
  fill(ex, 2.0, make_vec(static_cast<double*>(there.data()), 1));
  memory.to_host(&here, there.data(), 8);
  CHECK(here == 2);
}

}  // namespace cuda_on_host_staging_tests
