// Tests sums over processes. For any number of processes and any length of a row, a sum has the bits of one fixed tree
// of additions.
// SPDX-License-Identifier: Apache-2.0
#include "triad/parallel/communicator.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/threads_as_processes.hpp"
#include "triad/core/random.hpp"
#include "triad/reference/reference.hpp"

namespace parallel_communicator_tests {

using namespace triad;
using test::in_threads;
using test::one_of_threads;

template <class T>
std::vector<T> row_of(int number, index_t n) {
  random_stream random(11, static_cast<std::uint64_t>(number));
  std::vector<T> row(static_cast<std::size_t>(n));
  // The magnitudes of the values differ so much that a sum in another order has other bits.
  for (auto& x : row) x = static_cast<T>(random.uniform(-1, 1) * (random.below(2) != 0 ? 1e6 : 1e-3));
  return row;
}

/// Adds rows `first` to `last` - 1 in the order of the tree.
template <class T>
std::vector<T> tree_sum(int first, int last, index_t n) {
  if (last - first == 1) return row_of<T>(first, n);
  int const middle = first + (last - first) / 2;
  auto a = tree_sum<T>(first, middle, n);
  auto const b = tree_sum<T>(middle, last, n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] + b[i];
  return a;
}

template <class T>
vec<T> view(std::vector<T>& v) {
  return make_vec(v.data(), static_cast<index_t>(v.size()));
}

TEMPLATE_TEST_CASE("a sum over processes is that of the tree, bit by bit, on each of them", "", float, double) {
  using T = TestType;
  for (int const size : {1, 2, 4, 8})
    for (index_t const n : {0, 1, 5, 4096, 4097, 10003}) {
      CAPTURE(size, n);
      auto const right = tree_sum<T>(0, size, n);
      std::vector<std::vector<T>> found(static_cast<std::size_t>(size));
      std::vector<std::pair<long long, long long>> sent(found.size());
      in_threads(size, [&](one_of_threads& me) {
        reference::backend ex;
        auto row = row_of<T>(me.rank(), n);
        std::vector<T> scratch(static_cast<std::size_t>(all_reduce_scratch(n, size)));
        all_reduce(ex, me, view(row), view(scratch));
        found[static_cast<std::size_t>(me.rank())] = row;
        sent[static_cast<std::size_t>(me.rank())] = {me.messages, me.values};
      });
      for (auto const& row : found) CHECK(row == right);
      // Each process sends a long row twice, except for its own part, and sends a short row log2(processes) times.
      index_t steps = 0;
      while (1 << steps < size) ++steps;
      for (auto const& [messages, values] : sent) {
        CHECK(messages == (n > 4096 ? 2 * steps : steps));
        CHECK(values <= (n > 4096 ? 2 * (n - n / size) + 2 * steps : n * steps));
      }
    }
}

TEST_CASE("another order of the same rows has other bits") {
  // Shows that the test above can fail.
  index_t const n = 64;
  auto const right = tree_sum<float>(0, 4, n);
  auto in_order = row_of<float>(0, n);
  for (int r = 1; r < 4; ++r) {
    auto const next = row_of<float>(r, n);
    for (std::size_t i = 0; i < next.size(); ++i) in_order[i] += next[i];
  }
  CHECK(in_order != right);
}

TEST_CASE("everybody gets what process 0 has") {
  for (int const size : {1, 2, 4, 8}) {
    std::vector<std::vector<float>> found(static_cast<std::size_t>(size));
    in_threads(size, [&](one_of_threads& me) {
      reference::backend ex;
      auto row = row_of<float>(me.rank(), 37);
      broadcast(ex, me, view(row));
      me.barrier();
      found[static_cast<std::size_t>(me.rank())] = row;
    });
    for (auto const& row : found) CHECK(row == row_of<float>(0, 37));
  }
}

TEST_CASE("sums are refused where they cannot be made") {
  struct three {
    static int rank() { return 0; }
    static int size() { return 3; }
    static void exchange(reference::backend&, int, vec<float const>, vec<float>) {}
    static void barrier() {}
  } processes;
  reference::backend ex;
  std::vector<float> row(10), scratch(10);
  CHECK_THROWS_WITH(all_reduce(ex, processes, view(row), view(scratch)), test::contains("a power of two"));
  CHECK_THROWS_WITH(broadcast(ex, processes, view(row)), test::contains("broadcast: processes are "));
  test::switchboard board(2);
  one_of_threads me{board, 0};
  scratch.resize(9);
  CHECK_THROWS_WITH(all_reduce(ex, me, view(row), view(scratch)), test::contains("all_reduce_scratch()"));
  alone nobody;
  CHECK_THROWS_WITH(nobody.exchange(ex, 1, vec<float const>(view(row)), view(row)),
                    test::contains("exchange() of one process"));
  static_assert(communicator<alone, reference::backend, float>);
  static_assert(communicator<one_of_threads, reference::backend, float>);
  static_assert(!communicator<int, reference::backend, float>);
}

}  // namespace parallel_communicator_tests
