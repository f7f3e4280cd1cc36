// Tests how gradients are sent between GPUs, and the message if they are sent in the slower way.
// SPDX-License-Identifier: Apache-2.0
#include "shared/processes/world.hpp"
#include "tests/catch.hpp"
#include "triad/reference/reference.hpp"

namespace programs_device_rows_tests {

using namespace triad::programs;

TEST_CASE("rows go by NCCL where each process has a GPU of its own and NCCL") {
  std::string const a = "0000:01:00.0 of one", b = "0000:02:00.0 of one", c = "0000:01:00.0 of two";
  CHECK(why_no_nccl({{a, {}}}).empty());
  // GPUs of different machines are different, even if they have the same name.
  CHECK(why_no_nccl({{a, {}}, {b, {}}, {c, {}}}).empty());
  CHECK(why_no_nccl({{a, {}}, {b, {}}, {c, {}}, {b, {}}}) ==
        "processes 1 and 3 share a GPU, 0000:02:00.0 of one, and NCCL wants one for each");
  CHECK(why_no_nccl({{a, {}}, {{}, "NCCL cannot be loaded"}}) == "NCCL cannot be loaded (process 1 of 2)");
  CHECK(why_no_nccl({{{}, "there is none"}, {{}, "there is none"}}) == "there is none (process 0 of 2)");
}

TEST_CASE("a learner on the host asks for no GPU, and one process is alone") {
  triad::reference::backend ex;
  processes_on<triad::reference::backend> me(ex, true);
  static_assert(triad::communicator<decltype(me), triad::reference::backend, float>);
  CHECK(me.rank() == 0);
  CHECK(me.size() == 1);
  me.barrier();
  float x = 1;
  CHECK_THROWS_AS(me.exchange(ex, 1, triad::vec<float const>(triad::make_vec(&x, 1)), triad::make_vec(&x, 1)),
                  triad::communication_error);
}

}  // namespace programs_device_rows_tests
