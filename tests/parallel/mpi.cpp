// Tests processes that mpirun has started. Each process runs this program, and all processes must pass. Without mpirun,
// one process is tested.
// SPDX-License-Identifier: Apache-2.0
#include "triad/parallel/mpi.hpp"

#include <cstdint>
#include <vector>

#define CATCH_CONFIG_RUNNER
#include "tests/catch.hpp"
#if TRIAD_TEST_CATCH2 >= 3
#include <catch2/catch_session.hpp>
#endif
#include "triad/core/random.hpp"
#include "triad/reference/reference.hpp"

namespace parallel_mpi_tests {

using namespace triad;

std::vector<double> row_of(int number, index_t n) {
  random_stream random(11, static_cast<std::uint64_t>(number));
  std::vector<double> row(static_cast<std::size_t>(n));
  for (auto& x : row) x = random.uniform(-1, 1) * (random.below(2) != 0 ? 1e12 : 1e-6);
  return row;
}
std::vector<double> tree_sum(int first, int last, index_t n) {
  if (last - first == 1) return row_of(first, n);
  int const middle = first + (last - first) / 2;
  auto a = tree_sum(first, middle, n);
  auto const b = tree_sum(middle, last, n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}
vec<double> view(std::vector<double>& v) { return make_vec(v.data(), static_cast<index_t>(v.size())); }

TEST_CASE("processes know each other, and sum along the tree") {
  mpi processes;
  reference::backend ex;
  CHECK(processes.rank() >= 0);
  CHECK(processes.rank() < processes.size());
  for (index_t const n : {0, 1, 4096, 100001}) {
    auto row = row_of(processes.rank(), n);
    std::vector<double> scratch(static_cast<std::size_t>(all_reduce_scratch(n, processes.size())));
    all_reduce(ex, processes, view(row), view(scratch));
    CHECK(row == tree_sum(0, processes.size(), n));
    row = row_of(processes.rank(), n);
    broadcast(ex, processes, view(row));
    CHECK(row == row_of(0, n));
  }
  processes.barrier();
}

TEST_CASE("groups of processes do not hear each other") {
  mpi one, other;
  reference::backend ex;
  if (one.size() < 2) return;
  // A message that is sent in one group must not be received in the other group.
  int const partner = one.rank() ^ 1;
  std::vector<double> a{1}, b{2}, from_a{0}, from_b{0};
  other.exchange(ex, partner, vec<double const>(view(b)), view(from_b));
  one.exchange(ex, partner, vec<double const>(view(a)), view(from_a));
  CHECK(from_a == a);
  CHECK(from_b == b);
}

TEST_CASE("a row that is shorter than was expected is an exception") {
  mpi processes;
  if (processes.size() < 2) return;
  reference::backend ex;
  std::vector<double> four(4), eight(8);
  bool const first = processes.rank() % 2 == 0;  // sends eight values and expects eight
  auto const exchange = [&] {
    processes.exchange(ex, processes.rank() ^ 1, vec<double const>(view(first ? eight : four)), view(eight));
  };
  if (first)
    CHECK_THROWS_WITH(exchange(), test::contains("has sent 32 bytes where 64 were expected"));
  else
    CHECK_NOTHROW(exchange());
}

TEST_CASE("what MPI says against is an exception") {
  mpi processes;
  reference::backend ex;
  std::vector<double> four(4);
  CHECK_THROWS_WITH(processes.exchange(ex, processes.size(), vec<double const>(view(four)), view(four)),
                    test::contains("mpi: receiving: "));
}

}  // namespace parallel_mpi_tests

int main(int argc, char** argv) {
  triad::mpi_session const session(&argc, &argv);
  return Catch::Session().run(argc, argv);
}
