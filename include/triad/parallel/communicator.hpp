// Processes that train one model together, and sums over these processes.  The bits of a sum do not depend on the
// number of processes.
// SPDX-License-Identifier: Apache-2.0
//
// The ranks are 0 .. size - 1, and size is a power of two.  Sums are computed along one fixed tree:
//
//   ((x_0 + x_1) + (x_2 + x_3)) + ((x_4 + x_5) + (x_6 + x_7)) + ...
//
// So 2 processes that each sum half of 8 terms along the tree get the same bits as 8 processes with one term each.
// MPI_Allreduce and ncclAllReduce do not guarantee an order of terms.  Therefore a sum uses only exchanges between two
// processes:
//
//   long rows    d = 1, 2, 4, ...: rank r and its partner, rank r xor d, divide their current range into halves.  Each
//                process keeps one half, and adds the partner's values to this half.  Then the halves are sent back, in
//                the opposite order.  A process sends 2 (1 - 1/size) rows.
//   short rows   d = 1, 2, 4, ...: both partners send their whole row.  This takes half as many messages.
//
// Both methods add the terms of an element in the order of d, so both give the bits of the tree.
#pragma once

#include <concepts>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "triad/core/backend.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/contracts.hpp"
#include "triad/core/math.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/elementwise.hpp"

namespace triad {

/// Thrown if the connection between processes is lost, or if two processes disagree about the length of a message.
struct communication_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A connection between processes.  exchange(ex, partner, mine, theirs) sends `mine` to the partner, and overwrites
/// `theirs` with the partner's row.  Both rows are in the backend's memory and may have any length.  The rows must not
/// overlap.  Exchanges run in order with other work of the backend.  The partner must call exchange() with the same two
/// lengths in the opposite order.  Throws communication_error if the exchange fails.  barrier() returns when all
/// processes have called barrier().
template <class C, class Ex, class T>
concept communicator = requires(C& c, Ex& ex, vec<T const> mine, vec<T> theirs) {
  { c.rank() } -> std::convertible_to<int>;
  { c.size() } -> std::convertible_to<int>;
  c.exchange(ex, 0, mine, theirs);
  c.barrier();
};

/// The base class of communicators that send bytes in host memory.  `Self` must have exchange_bytes(partner, mine,
/// bytes, theirs, bytes).  Rows on a device are copied through host memory.  This memory grows to the size of the
/// longest row.
template <class Self>
class host_communicator {
 public:
  template <class Ex, class T>
  void exchange(Ex& ex, int partner, vec<T const> mine, vec<T> theirs) {
    auto const sent = static_cast<std::size_t>(mine.extent(0)) * sizeof(T),
               wanted = static_cast<std::size_t>(theirs.extent(0)) * sizeof(T);
    if constexpr (std::same_as<typename Ex::memory, host_memory>) {
      self().exchange_bytes(partner, mine.data_handle(), sent, theirs.data_handle(), wanted);
    } else {
      auto const where = memory_of(ex);
      if (mine_.size() < sent) mine_.resize(sent);
      if (theirs_.size() < wanted) theirs_.resize(wanted);
      where.to_host(mine_.data(), mine.data_handle(), sent);
      self().exchange_bytes(partner, mine_.data(), sent, theirs_.data(), wanted);
      where.from_host(theirs.data_handle(), theirs_.data(), wanted);
    }
  }

 private:
  Self& self() { return static_cast<Self&>(*this); }
  std::vector<std::byte> mine_, theirs_;
};

/// The communicator of a single process.
struct alone {
  static constexpr int rank() { return 0; }
  static constexpr int size() { return 1; }
  template <class Ex, class T>
  static void exchange(Ex&, int, vec<T const>, vec<T>) {
    TRIAD_EXPECTS(false, "alone: exchange() of one process, expected more processes");
  }
  static void barrier() {}
};

namespace detail {
/// Returns the elements of `all` with indices in [first, last).
template <class T>
vec<T> part_of(vec<T> all, index_t first, index_t last) {
  return make_vec(all.data_handle() + first, last - first);
}

/// Rows up to this length are sent whole.  For such rows, a second message would take longer than the additional
/// values.
inline constexpr index_t short_row = 4096;

constexpr bool is_power_of_two(index_t n) { return n > 0 && (n & (n - 1)) == 0; }
inline void expect_power_of_two(char const* what, index_t n) {
  TRIAD_EXPECTS(is_power_of_two(n), std::string(what) + " are " + std::to_string(n) + ", expected a power of two");
}
}  // namespace detail

/// Returns the number of elements of scratch memory that all_reduce needs.  The memory must be the backend's memory.
constexpr index_t all_reduce_scratch(index_t values, int processes) {
  if (processes < 2) return 0;
  return values <= detail::short_row ? values : (values + 1) / 2;
}

/// Replaces `values` by their sum over all processes.  The sum has the same bits in each process.  `scratch` must have
/// at least all_reduce_scratch() elements, which are overwritten.  All processes must call this function, with rows of
/// the same length.
template <backend Ex, class C, class T>
  requires communicator<C, Ex, T>
void all_reduce(Ex& ex, C& processes, vec<T> values, vec<T> scratch) {
  auto const n = values.extent(0);
  int const size = processes.size(), rank = processes.rank();
  detail::expect_power_of_two("all_reduce: processes", size);
  TRIAD_EXPECTS(scratch.extent(0) >= all_reduce_scratch(n, size),
                "all_reduce: scratch has " + std::to_string(scratch.extent(0)) + " values, expected " +
                    std::to_string(all_reduce_scratch(n, size)) + " or more, all_reduce_scratch()");
  auto const add = [&](vec<T> to, vec<T> theirs) {
    if constexpr (executes<Ex>) transform(ex, plus{}, to, theirs, to);
  };
  if (n <= detail::short_row) {
    for (int d = 1; d < size; d *= 2) {
      auto const theirs = detail::part_of(scratch, 0, n);
      processes.exchange(ex, rank ^ d, vec<T const>(values), theirs);
      add(values, theirs);
    }
    return;
  }
  // The range of this process after the steps before d.  Each step halves the range.  A process keeps the lower half if
  // the bit of its rank for this step is 0.
  struct range {
    index_t first, last;
    range half(bool lower) const {
      auto const middle = first + (last - first) / 2;
      return lower ? range{first, middle} : range{middle, last};
    }
  };
  auto const before = [&](int d) {
    range r{0, n};
    for (int step = 1; step < d; step *= 2) r = r.half((rank & step) == 0);
    return r;
  };
  auto const of = [&](range r) { return detail::part_of(values, r.first, r.last); };
  for (int d = 1; d < size; d *= 2) {
    bool const lower = (rank & d) == 0;
    auto const mine = before(d).half(lower), other = before(d).half(!lower);
    auto const theirs = detail::part_of(scratch, 0, mine.last - mine.first);
    processes.exchange(ex, rank ^ d, vec<T const>(of(other)), theirs);
    add(of(mine), theirs);
  }
  for (int d = size / 2; d > 0; d /= 2) {
    bool const lower = (rank & d) == 0;
    processes.exchange(ex, rank ^ d, vec<T const>(of(before(d).half(lower))), of(before(d).half(!lower)));
  }
}

/// Copies the values of process 0 to every process.  All processes must call this function, with rows of the same
/// length.
template <backend Ex, class C, class T>
  requires communicator<C, Ex, T>
void broadcast(Ex& ex, C& processes, vec<T> values) {
  int const rank = processes.rank();
  detail::expect_power_of_two("broadcast: processes", processes.size());
  auto const none = detail::part_of(values, 0, 0);
  for (int d = 1; d < processes.size(); d *= 2) {  // ranks below d already have the values
    if (rank < d)
      processes.exchange(ex, rank + d, vec<T const>(values), none);
    else if (rank < 2 * d)
      processes.exchange(ex, rank - d, vec<T const>(none), values);
  }
}

}  // namespace triad
