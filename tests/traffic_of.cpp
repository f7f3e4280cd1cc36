// Counts the messages and bytes that each process sends for sums over processes: triad-traffic-of VALUES PROCESSES
// SPDX-License-Identifier: Apache-2.0
// The sums are those of one update: a gradient of VALUES values, and a loss. Prints a line for each rank: the rank, the
// messages, the bytes.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/threads_as_processes.hpp"
#include "triad/reference/reference.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("triad-traffic-of VALUES PROCESSES\n", stderr), 2;
  using namespace triad;
  auto const values = std::strtoll(argv[1], nullptr, 10);
  int const processes = std::atoi(argv[2]);
  std::vector<std::vector<long long>> sent(static_cast<std::size_t>(processes));
  test::in_threads(processes, [&](test::one_of_threads& me) {
    reference::backend ex;
    std::vector<float> gradient(static_cast<std::size_t>(values)), loss(1),
        scratch(static_cast<std::size_t>(all_reduce_scratch(values, processes)) + 1);
    auto const view = [](std::vector<float>& row) { return make_vec(row.data(), static_cast<index_t>(row.size())); };
    all_reduce(ex, me, view(gradient), view(scratch));
    all_reduce(ex, me, view(loss), view(scratch));
    sent[static_cast<std::size_t>(me.rank())] = {me.rank(), me.messages,
                                                 me.values * static_cast<long long>(sizeof(float))};
  });
  for (auto const& row : sent) std::printf("%lld %lld %lld\n", row[0], row[1], row[2]);
}
