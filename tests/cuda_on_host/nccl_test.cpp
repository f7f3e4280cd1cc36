// Tests several processes with a GPU each. In these tests, each process is a thread with a stream. Sums and training
// must have the same bits as in one process. Calls that do not match must be reported.
// Tests parallel/nccl.cuh.
// SPDX-License-Identifier: Apache-2.0
#include "triad/parallel/nccl.cuh"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cuda_on_host/nccl.hpp"
#include "tests/cuda_on_host/runtime.hpp"
#include "tests/cuda_on_host/settings.hpp"
#include "tests/threads_as_processes.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/cuda.cuh"
#include "triad/models/edge_transformer.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"

namespace cuda_on_host_nccl_tests {

using namespace triad;
using cuda_on_host::counted;
using cuda_on_host::counted_nccl;
using cuda_on_host::leaks;
using cuda_on_host::wait_for_others;
using cuda_on_host::with_settings;
using test::contains;
using test::in_threads;
using test::one_of_threads;

/// A row in device memory, which is freed at the end of the scope.
template <class T>
struct row_there {
  buffer<triad::cuda::device_memory> held;
  vec<T> values;

  row_there(triad::cuda::backend const& ex, std::vector<T> const& here)
      : held(here.size() * sizeof(T), memory_of(ex)),
        values(make_vec(static_cast<T*>(held.data()), static_cast<index_t>(here.size()))) {
    held.memory().from_host(held.data(), here.data(), here.size() * sizeof(T));
  }
  std::vector<T> back() const {
    std::vector<T> here(static_cast<std::size_t>(values.extent(0)));
    held.memory().to_host(here.data(), values.data_handle(), here.size() * sizeof(T));
    return here;
  }
};

template <class T>
std::vector<T> row_of(int number, index_t n) {
  random_stream random(11, static_cast<std::uint64_t>(number));
  std::vector<T> row(static_cast<std::size_t>(n));
  // The magnitudes of the values differ so much that a sum in another order has other bits.
  for (auto& x : row) x = static_cast<T>(random.uniform(-1, 1) * (random.below(2) != 0 ? 1e6 : 1e-3));
  return row;
}
template <class T>
std::vector<T> tree_sum(int first, int last, index_t n) {
  if (last - first == 1) return row_of<T>(first, n);
  auto a = tree_sum<T>(first, (first + last) / 2, n);
  auto const b = tree_sum<T>((first + last) / 2, last, n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] + b[i];
  return a;
}

TEMPLATE_TEST_CASE("a sum over GPUs is that of the tree, bit by bit, and the host does not wait for it", "", float,
                   double) {
  auto const held_before = leaks();  // held by other tests
  using T = TestType;
  for (std::uint64_t const seed : {1u, 2u}) {
    with_settings const order({.seed = seed});  // if several streams can continue, the seed decides which does
    for (int const size : {2, 4})
      for (index_t const n : {0, 5, 4096, 4097}) {
        CAPTURE(seed, size, n);
        std::vector<std::vector<T>> found(static_cast<std::size_t>(size));
        std::uint64_t waits = 0;
        auto const before = counted_nccl();
        in_threads(size, [&](one_of_threads& host) {
          triad::cuda::backend ex;
          nccl me(ex, nccl_id::of_all(host), host.rank(), host.size());
          row_there<T> const row(ex, row_of<T>(me.rank(), n)),
              scratch(ex, std::vector<T>(static_cast<std::size_t>(all_reduce_scratch(n, size))));
          host.barrier();
          if (me.rank() == 0) waits = counted().waits;
          host.barrier();
          all_reduce(ex, me, row.values, scratch.values);
          host.barrier();
          if (me.rank() == 0) waits = counted().waits - waits;
          host.barrier();
          found[static_cast<std::size_t>(me.rank())] = row.back();
        });
        CHECK(waits == 0);
        for (auto const& row : found) CHECK(row == tree_sum<T>(0, size, n));
        auto const steps = static_cast<std::uint64_t>(size) * (size == 2 ? 1 : 2) * (n > 4096 ? 2 : 1);
        CHECK(counted_nccl().groups - before.groups == (n == 0 ? 0 : steps));
        CHECK(counted_nccl().sends - before.sends == (n == 0 ? 0 : steps));
      }
  }
  CHECK(leaks() == held_before);
}

TEST_CASE("rows of process 0 come to all GPUs, where an exchange is of nothing for something") {
  for (int const size : {1, 2, 4})
    for (index_t const n : {0, 1, 700}) {
      CAPTURE(size, n);
      std::vector<std::vector<index_t>> found(static_cast<std::size_t>(size));
      in_threads(size, [&](one_of_threads& host) {
        triad::cuda::backend ex;
        nccl me(ex, nccl_id::of_all(host), host.rank(), host.size());
        std::vector<index_t> here(static_cast<std::size_t>(n));
        for (std::size_t i = 0; i < here.size(); ++i) here[i] = static_cast<index_t>(i) + 1000 * me.rank();
        row_there<index_t> const row(ex, here);
        broadcast(ex, me, row.values);
        me.barrier();
        found[static_cast<std::size_t>(me.rank())] = row.back();
      });
      for (auto const& row : found) CHECK(row == found[0]);
      if (n > 1) CHECK(found[0][1] == 1);
    }
}

TEST_CASE("processes of GPUs find each other by a file") {
  auto const path = (std::filesystem::temp_directory_path() / ("triad-nccl-" + std::to_string(::getpid()))).string();
  for (int again = 0; again < 2; ++again) {
    std::vector<float> sums(4);
    in_threads(4, [&](one_of_threads& host) {
      triad::cuda::backend ex;
      nccl me(ex, nccl_id::by_file(path, host.rank(), host.size(), std::chrono::seconds(20)), host.rank(), host.size());
      row_there<float> const row(ex, {static_cast<float>(1 << me.rank())}), scratch(ex, {0});
      all_reduce(ex, me, row.values, scratch.values);
      sums[static_cast<std::size_t>(me.rank())] = row.back()[0];
    });
    CHECK(sums == std::vector<float>(4, 15));
    CHECK(!std::filesystem::exists(path));
  }
}

// ---- training -------------------------------------------------------------------------------------------------------

constexpr index_t labels = 7, targets = 5;
using model = edge_transformer<float>;

edge_transformer_options sizes() {
  edge_transformer_options z;
  z.labels = labels;
  z.targets = targets;
  z.layers = 2;
  z.layer = {8, 2, 12, 0.2, triangle_form::full, false};
  return z;
}
trainer_options settings() {
  trainer_options o;
  o.max_norm = 1;
  o.key = 5;
  o.capacity = {4, 100, 20, 700, 6};
  o.shares = 4;
  return o;
}

struct outcome {
  std::vector<float> values, losses;
  std::uint64_t replayed = 0;
};

/// Makes updates with 6 graphs, 2 graphs, 7 graphs, and 6 graphs again. In the second update, there are fewer graphs
/// than shares. The repetition of 6 graphs is replayed.
template <class Processes>
outcome learn(triad::cuda::backend& ex, Processes& me) {
  trainer<model, triad::cuda::backend, Processes> learner(ex, model(sizes()), settings(), me);
  initialize(learner.parameters(), 3);
  graph_loader<triad::cuda::backend> loader(settings().capacity, memory_of(ex));
  outcome found;
  std::uint64_t number = 0;
  for (std::size_t const examples : {6u, 2u, 7u, 6u}) {
    learner.update_in_shares(
        examples,
        [&](std::size_t first, std::size_t last) {
          loader.clear();
          for (auto i = first; i < last; ++i) {
            random_stream random(7, number * 100 + i);
            auto const n = static_cast<index_t>(2 + i % 3);
            auto* const label = loader.add(n, 0, n - 1, static_cast<index_t>(random.below(targets)));
            for (index_t e = 0; e < n * n; ++e) label[e] = random.below(labels);
          }
          return loader.upload();
        },
        0.01);
    found.losses.push_back(learner.loss());
    found.losses.push_back(learner.norm());
    ++number;
  }
  found.values = host_copy(memory_of(ex), learner.parameters().flat_values());
  found.replayed = ex.recordings().replayed();
  return found;
}

TEST_CASE("one, two and four GPUs learn the same, bit by bit") {
  auto const held_before = leaks();  // held by other tests
  outcome right;
  {
    triad::cuda::backend ex;
    alone one;
    right = learn(ex, one);
  }
  for (std::uint64_t const seed : {1u, 5u}) {
    with_settings const order({.shuffled = seed != 1, .seed = seed});
    for (int const size : {1, 2, 4}) {
      CAPTURE(seed, size);
      std::vector<outcome> found(static_cast<std::size_t>(size));
      auto const before = counted_nccl();
      in_threads(size, [&](one_of_threads& host) {
        triad::cuda::backend ex;
        nccl me(ex, nccl_id::of_all(host), host.rank(), host.size());
        found[static_cast<std::size_t>(me.rank())] = learn(ex, me);
      });
      for (auto const& o : found) {
        CHECK(o.values == right.values);
        CHECK(o.losses == right.losses);
        CHECK(o.replayed > 0);
      }
      CHECK((counted_nccl().sends > before.sends) == (size > 1));
    }
  }
  CHECK(leaks() == held_before);
}

// ---- calls that do not match ----------------------------------------------------------------------------------------

/// Returns the error message of each process that runs `work`.
template <class Work>
std::vector<std::string> said_by(int size, Work const& work) {
  std::vector<std::string> message(static_cast<std::size_t>(size));
  in_threads(size, [&](one_of_threads& host) {
    triad::cuda::backend ex;
    nccl me(ex, nccl_id::of_all(host), host.rank(), host.size());
    row_there<float> const mine(ex, {1, 2, 3, 4}), theirs(ex, {0, 0, 0, 0});
    try {
      work(ex, me, mine.values, theirs.values);
    } catch (communication_error const& e) {
      message[static_cast<std::size_t>(me.rank())] = e.what();
    }
    host.barrier();  // no process leaves before all have their result
  });
  return message;
}

TEST_CASE("processes that do not agree with whom they exchange are reported, and do not hang") {
  auto const message = said_by(4, [](auto& ex, auto& me, auto mine, auto theirs) {
    me.exchange(ex, (me.rank() + 1) % 4, vec<float const>(mine), theirs);
  });
  for (std::size_t r = 0; r < 4; ++r) {
    CHECK_THAT(message[r], contains("NCCL, while exchanging 16 bytes for 16 bytes with process "));
    CHECK_THAT(message[r],
               contains("no process answers, and a GPU would wait for ever: process 0 sends 4 values of float32 "
                        "to process 1; process 1 sends"));
  }
}

TEST_CASE("processes that do not agree how much or what they exchange are reported") {
  auto const lengths = said_by(2, [](auto& ex, auto& me, auto mine, auto theirs) {
    auto const n = me.rank() == 0 ? 4 : 3;
    me.exchange(ex, 1 - me.rank(), vec<float const>(detail::part_of(mine, 0, n)), theirs);
  });
  for (auto const& text : lengths)
    CHECK_THAT(text, contains("process 1 sends 3 values of float32 to process 0, and process 0 receives 4 values"));
  auto const types = said_by(2, [](auto& ex, auto& me, auto mine, auto theirs) {
    if (me.rank() == 0)
      me.exchange(ex, 1, vec<float const>(mine), theirs);
    else
      me.exchange(0, reinterpret_cast<double const*>(mine.data_handle()), 2,
                  reinterpret_cast<double*>(theirs.data_handle()), 2);
  });
  for (auto const& text : types)
    CHECK_THAT(text, contains("process 0 sends 4 values of float32 to process 1, and process 1 receives 2 values of "
                              "float64 from process 0"));
}

TEST_CASE("a process that has left is not waited for") {
  std::vector<std::string> message(2);
  in_threads(2, [&](one_of_threads& host) {
    triad::cuda::backend ex;
    nccl me(ex, nccl_id::of_all(host), host.rank(), host.size());
    if (me.rank() == 1) return;
    try {
      me.barrier();
    } catch (communication_error const& e) {
      message[0] = e.what();
    }
  });
  CHECK_THAT(message[0], contains("process 0 sends 1 values of uint8 to process 1, which has left"));
}

TEST_CASE("one of the processes that fails ends the wait of the others") {
  auto const held_before = leaks();  // held by other tests
  std::vector<std::string> message(2);
  in_threads(2, [&](one_of_threads& host) {
    triad::cuda::backend ex;
    try {
      nccl me(ex, nccl_id::of_all(host), host.rank(), host.size());
      if (me.rank() == 1) throw std::runtime_error("out of paper");
      me.barrier();
    } catch (std::runtime_error const& e) {
      message[static_cast<std::size_t>(host.rank())] = e.what();
    }
  });
  CHECK(message[1] == "out of paper");
  CHECK_THAT(message[0], contains("which has left"));
  CHECK(leaks() == held_before);
}

TEST_CASE("rows are in the memory and the stream of the communicator's backend") {
  std::vector<std::string> message(2);
  in_threads(2, [&](one_of_threads& host) {
    triad::cuda::backend ex, other;
    nccl me(ex, nccl_id::of_all(host), host.rank(), host.size());
    auto& text = message[static_cast<std::size_t>(me.rank())];
    row_there<float> const row(other, {1, 2});
    try {
      me.exchange(other, 1 - me.rank(), vec<float const>(row.values), row.values);
    } catch (contract_violation const& e) {
      text = e.what();
    }
    std::vector<float> here(2);
    try {
      me.exchange(1 - me.rank(), here.data(), 2, row.values.data_handle(), 2);
    } catch (communication_error const& e) {
      text += e.what();
    }
  });
  for (auto const& text : message) {
    CHECK_THAT(text, contains("expected the backend that it was made with"));
    CHECK_THAT(text, contains("sending 8 bytes to process "));
    CHECK_THAT(text, contains("do not lie in device memory"));
  }
}

TEST_CASE("what cannot begin says why") {
  triad::cuda::backend ex;
  CHECK_THROWS_WITH(nccl(ex, nccl_id::make(), 0, 3), contains("a power of two"));
  CHECK_THROWS_WITH(nccl(ex, nccl_id::make(), 2, 2), contains("rank is 2, expected 0 to 1"));
  CHECK_THROWS_WITH(nccl(ex, nccl_id{}, 0, 2), contains("joining 2 processes as process 0, on GPU 0") &&
                                                   contains("an id that no process here has made"));
  auto const before = wait_for_others(std::chrono::milliseconds(50));
  CHECK_THROWS_WITH(nccl(ex, nccl_id::make(), 1, 2), contains("not all processes have come"));
  wait_for_others(before);
  CHECK_THROWS_WITH(nccl_id::by_file("/no/such/folder/id", 1, 2, std::chrono::milliseconds(1)),
                    contains("cannot be written"));
}

TEST_CASE(
    "planted faults of a communicator are found: calls outside of a group, of another stream, of memory that meets") {
  auto const held_before = leaks();  // held by other tests
  auto const id = nccl_id::make();
  std::vector<std::string> alone_sent(2), streams(2), meeting(2);
  in_threads(2, [&](one_of_threads& host) {
    triad::cuda::backend ex, other;
    ncclComm_t by = nullptr;
    auto const r = static_cast<std::size_t>(host.rank());
    int const partner = 1 - host.rank();
    row_there<float> const mine(ex, {1, 2}), theirs(ex, {0, 0});
    auto* const from = mine.values.data_handle();
    auto* const to = theirs.values.data_handle();
    auto const told = [](ncclResult_t answer) { return answer == ncclSuccess ? "" : ncclGetLastError(nullptr); };
    if (ncclCommInitRank(&by, 2, id.value, host.rank()) != ncclSuccess) throw std::runtime_error("no communicator");
    alone_sent[r] = told(ncclSend(from, 2, ncclFloat32, partner, by, ex.stream()));
    auto const in_group = [&](auto const& calls) {
      (void)ncclGroupStart();
      calls();
      return ncclGroupEnd();
    };
    (void)in_group([&] {
      (void)ncclSend(from, 2, ncclFloat32, partner, by, ex.stream());
      streams[r] = told(ncclRecv(to, 2, ncclFloat32, partner, by, other.stream()));
      (void)ncclRecv(to, 2, ncclFloat32, partner, by, ex.stream());
    });
    (void)in_group([&] {
      (void)ncclSend(from, 2, ncclFloat32, partner, by, ex.stream());
      meeting[r] = told(ncclRecv(from + 1, 1, ncclFloat32, partner, by, ex.stream()));
      (void)ncclRecv(to, 2, ncclFloat32, partner, by, ex.stream());
    });
    (void)cudaStreamSynchronize(ex.stream());
    host.barrier();
    (void)ncclCommDestroy(by);
  });
  for (std::size_t r = 0; r < 2; ++r) {
    CHECK_THAT(alone_sent[r], contains("ncclSend outside of ncclGroupStart and ncclGroupEnd"));
    CHECK_THAT(streams[r], contains("ncclRecv in another stream"));
    CHECK_THAT(meeting[r], contains("what is received lies where something else of the group does"));
  }
  CHECK(ncclGroupEnd() == ncclInvalidUsage);
  CHECK(leaks() == held_before);
}

}  // namespace cuda_on_host_nccl_tests
