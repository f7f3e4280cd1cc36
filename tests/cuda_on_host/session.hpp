// Runs the same work on the reference and on the CUDA backend, copies values to and from the memory of both, and
// compares the results.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <list>
#include <type_traits>
#include <vector>

#include "tests/catch.hpp"
#include "tests/ragged.hpp"
#include "triad/cuda/backend.cuh"
#include "triad/cuda/device/block.cuh"
#include "triad/reference/reference.hpp"

namespace triad::test {

/// How a matrix is laid out in memory.
enum class lying { rows, padded, columns, every_second };
#if defined(__SANITIZE_THREAD__)
inline constexpr lying all_ways[] = {lying::padded};  // TSan is slow, and races do not depend on the layout
#else
inline constexpr lying all_ways[] = {lying::rows, lying::padded, lying::columns, lying::every_second};
#endif

/// A backend with its own memory.  `results` collects the results of the work.
template <class Ex>
class session {
 public:
  static constexpr double gap = 777;  // is stored between the rows of a matrix, and must not change

  explicit session(Ex& e) : ex(e) {}
  Ex& ex;
  std::vector<double> results;

  template <class T>
  vec<T> put(std::vector<T> const& values) {
    memory_.emplace_back(values.size() * sizeof(T), memory_of(ex));
    auto& b = memory_.back();
    b.memory().from_host(b.data(), values.data(), b.bytes());
    return make_vec(static_cast<T*>(b.data()), static_cast<index_t>(values.size()));
  }
  graph_batch put(ragged const& graphs) {
    return {graphs.dims, put(graphs.size), put(graphs.node_begin), put(graphs.edge_begin), put(graphs.triangle_begin)};
  }
  template <class T>
  matrix<T> put(std::vector<T> const& values, index_t rows, index_t columns, lying how = lying::rows) {
    index_t const dense = std::max<index_t>(columns, 1);
    index_t const down = how == lying::rows      ? dense
                         : how == lying::padded  ? dense + 3
                         : how == lying::columns ? 1
                                                 : 2 * dense + 1;
    index_t const right = how == lying::columns ? std::max<index_t>(rows, 1) + 1 : how == lying::every_second ? 2 : 1;
    std::vector<T> all(static_cast<std::size_t>(rows * down + columns * right + 1), T(gap));
    auto const m = make_matrix(all.data(), rows, columns, down, right);
    for (index_t i = 0; i < rows; ++i)
      for (index_t j = 0; j < columns; ++j) m(i, j) = values[static_cast<std::size_t>(i * columns + j)];
    return make_matrix(put(all).data_handle(), rows, columns, down, right);
  }
  /// Makes a vector of `count` NaNs, for results that will be overwritten.
  template <class T>
  vec<T> spoiled(index_t count) {
    return put(std::vector<T>(static_cast<std::size_t>(count), T(NAN)));
  }
  template <class T>
  matrix<T> spoiled(index_t rows, index_t columns, lying how = lying::rows) {
    return put(std::vector<T>(static_cast<std::size_t>(rows * columns), T(NAN)), rows, columns, how);
  }

  template <class T>
  std::vector<T> get(T const* from, index_t count) const {
    std::vector<T> values(static_cast<std::size_t>(count));
    memory_of(ex).to_host(values.data(), from, values.size() * sizeof(T));
    return values;
  }
  /// Appends the values of a view to the results, and checks that gaps are unchanged.
  template <class T>
  void collect(vec<T> v) {
    for (auto e : get(v.data_handle(), v.extent(0))) results.push_back(static_cast<double>(e));
  }
  template <class T>
  void collect(matrix<T> m) {
    index_t const rows = m.extent(0), columns = m.extent(1), down = m.stride(0), right = m.stride(1);
    auto all = get(m.data_handle(), rows * down + columns * right + 1);
    auto const host = make_matrix(all.data(), rows, columns, down, right);
    for (index_t i = 0; i < rows; ++i)
      for (index_t j = 0; j < columns; ++j) {
        results.push_back(static_cast<double>(host(i, j)));
        host(i, j) = T(gap);
      }
    CHECK(std::count(all.begin(), all.end(), T(gap)) == static_cast<std::ptrdiff_t>(all.size()));
  }

  /// Runs work(backend, call) with the scratch memory that the work plans. The memory is filled with NaN.
  template <class Work>
  void with_scratch(Work&& work) {
    call c;
    std::vector<unsigned char> const noise(planned_scratch(ex, c, work), 0xff);
    memory_.emplace_back(noise.size(), memory_of(ex));
    auto& b = memory_.back();
    b.memory().from_host(b.data(), noise.data(), noise.size());
    auto scratch = b.place();
    c.scratch = &scratch;
    work(ex, static_cast<call const&>(c));
  }

 private:
  std::list<buffer<typename Ex::memory>> memory_;
};

/// One device for all tests.
inline triad::cuda::backend& device() {
  static triad::cuda::backend ex;
  return ex;
}

/// Returns the largest difference, divided by the largest exact value, or by 1 if that is larger. Both lists must have
/// NaN at the same indices.
inline double distance(std::vector<double> const& exact, std::vector<double> const& found) {
  if (exact.size() != found.size()) return INFINITY;
  double worst = 0, largest = 1;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (std::isnan(exact[i]) != std::isnan(found[i])) return INFINITY;
    if (std::isnan(exact[i]) || exact[i] == found[i]) continue;
    worst = std::max(worst, std::abs(exact[i] - found[i]));
    largest = std::max(largest, std::abs(exact[i]));
  }
  return worst / largest;
}

/// The tolerance allows for rounding in type T in sums of a few thousand terms of size one, which are added in another
/// order.
template <class T>
constexpr double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-12;

/// Checks that body(session, T()) on the device in T gives the results of the reference in double, and the same bits in
/// every run. On the stand-in for a GPU, threads, warps and blocks also run in other orders.
template <class T, class Body>
void expect_reference(Body&& body, double within = tolerance<T>) {
  reference::backend plain;
  session<reference::backend> exact(plain);
  body(exact, double());
  session<triad::cuda::backend> once(device()), again(device());
  body(once, T());
  {
#if defined(TRIAD_CUDA_DOUBLE)
    cuda_on_host::with_settings const other({.shuffled = true, .seed = exact.results.size()});
#endif
    body(again, T());
  }
  CHECK(distance(exact.results, once.results) <= within);
  CHECK(distance(once.results, again.results) == 0);
}

}  // namespace triad::test
