// Plants faults in the backend's own kernels, loaders and views. A comparison must find each fault. This shows that the
// tests of kernels can fail.
// SPDX-License-Identifier: Apache-2.0
//
// plant.cmake writes copies of headers, which this file includes. It also lists the faults.
enum class planted { nothing, owner, owners, order, answer, shrink, forget, low, first, column, line };
inline planted fault = planted::nothing;  // kernels read it: they run on the host
#define PLANTED(name, wrong, targets) (fault == planted::name ? wrong : targets)

#include <thrust/device_vector.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <vector>

#include "session.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/cuda/attention.cuh"
#include "triad/cuda/cross_entropy.cuh"
#include "triad/cuda/device/thrust_views.cuh"
#include "triad/cuda/elementwise.cuh"
#include "triad/cuda/gather.cuh"
#include "triad/cuda/matmul.cuh"
#include "triad/cuda/triangle/small.cuh"
#include "triad/ops/triangle.hpp"

namespace cuda_on_host_planted_in_kernels_tests {

using namespace triad;
using namespace triad::test;

/// Checks that error() is at most `within` without a fault, and is larger with each of these faults.
template <class Error>
void expect_found(std::initializer_list<planted> faults, double within, Error const& error) {
  CHECK(error() <= within);
  for (auto const f : faults) {
    CAPTURE(static_cast<int>(f));
    fault = f;
    double const found = error();
    fault = planted::nothing;
    CHECK_FALSE(found <= within);
  }
  CHECK(error() <= within);
}

/// Returns the distance between the results of work(session, T()) on the device in float and those of the reference in
/// double.
template <class Work>
double error_of(triad::cuda::backend& ex, Work const& work) {
  reference::backend plain;
  session<reference::backend> exact(plain);
  session<triad::cuda::backend> s(ex);
  work(exact, double());
  work(s, float());
  return distance(exact.results, s.results);
}

TEST_CASE("a wrong owner after the sort, two owners of a row, and another order of a sum are found") {
  for (index_t const table : {500, 50}) {  // with 500 rows of the table, a wrong owner is noticed
    index_t const rows = 400, columns = 3;
    std::vector<index_t> at(static_cast<std::size_t>(rows));
    random_stream random(5, 11);
    for (auto& i : at) i = random.below(static_cast<std::uint32_t>(table) / 4);
    auto const error = [&] {
      auto const sum = [&](bool sorted) {
        session<triad::cuda::backend> s(device());
        vec<index_t const> const index = s.put(at);
        auto const to = s.put(random_values<float>(table * columns, 1), table, columns);
        matrix<float const> const dy = s.put(random_values<float>(rows * columns, 2), rows, columns);
        if (sorted) {
          auto const bytes = triad::cuda::detail::scatter_by_sort_bytes(s.ex, rows, to);
          auto const memory = s.put(std::vector<unsigned char>(bytes, 0xff));
          triad::cuda::detail::scatter_by_sort(s.ex, dy, index, to,
                                               {reinterpret_cast<std::byte*>(memory.data_handle()), bytes});
        } else {
          triad::cuda::detail::scatter_by_scan(s.ex, dy, index, to);
        }
        s.collect(to);
        return s.results;
      };
      return distance(sum(false), sum(true));  // without a fault, both have the same bits
    };
    if (table > rows)
      expect_found({planted::owner, planted::owners, planted::order}, 0, error);
    else
      expect_found({planted::order}, 0, error);
  }
}

TEST_CASE("a graph of padding that is asked about is found") {
  graph_loader<triad::cuda::backend> loader({9, 250, 60, 4000, 7}, memory_of(device()));
  expect_found({planted::answer}, 1e-6, [&] {
    loader.clear();
    for (index_t const n : {3, 7, 1, 4}) loader.add(n, 0, n - 1, n % 3);
    auto const loss = [&](bool padded) {
      session<triad::cuda::backend> s(device());
      auto const [in, targets] = padded ? loader.upload_padded() : loader.upload();
      auto const graphs = in.graphs.dims.graphs;
      CHECK((graphs > 4) == padded);
      auto const logits = s.put(random_values<float>(graphs * 3, 1), graphs, 3);
      auto const sum = s.spoiled<float>(1);
      cross_entropy(s.ex, logits, targets, sum, s.spoiled<float>(graphs, 3));
      s.collect(sum);
      return s.results;
    };
    return distance(loss(false), loss(true));
  });
}

TEST_CASE("sums of attention that registers lose or do not shrink are found") {
  index_t const queries = 20, keys = 100, width = 40;  // four tiles of keys
  expect_found({planted::shrink, planted::forget}, tolerance<float>, [&] {
    return error_of(device(), [&](auto& s, auto zero) {
      using T = decltype(zero);
      attention_options o;
      auto const put = [&](index_t rows, std::uint64_t stream, double range) {
        return s.put(random_values<T>(rows * width, stream, range), rows, width);
      };
      auto const of = [&](index_t rows) {
        return sequence_batch{1, rows, rows, s.put(std::vector<index_t>{rows}), s.put(std::vector<index_t>{0})};
      };
      attention_sequences const both{of(queries), of(keys)};
      attention_operands<T const> const x{put(queries, 1, 3), put(keys, 2, 3), put(keys, 3, 1)};
      attention_operands<T> const dx{put(queries, 5, 1), put(keys, 6, 1), put(keys, 7, 1)};
      auto const c = put(queries, 8, 1), dc = put(queries, 4, 1);
      auto const lse = s.template spoiled<T>(queries);
      s.with_scratch([&](auto& ex, call const& use) {
        attention(ex, *use.scratch, o, both, x, lse, c);
        attention_grad(ex, *use.scratch, o, both, x, vec<T const>(lse), matrix<T const>(c), matrix<T const>(dc), dx);
      });
      s.collect(c);
      for (auto const& m : {dx.query, dx.key, dx.value}) s.collect(m);
    });
  });
}

TEST_CASE("a factor in tf32x3 without its low part is found") {
  triad::cuda::backend split(0, triad::cuda::arithmetic::tf32x3);
  expect_found({planted::low}, 1e-6, [&] {
    return error_of(split, [](auto& s, auto zero) {
      using T = decltype(zero);
      auto const c = s.template spoiled<T>(400, 402);
      matmul(s.ex, s.put(random_values<T>(400 * 30, 1), 400, 30), s.put(random_values<T>(30 * 402, 2), 30, 402), c);
      s.collect(c);
    });
  });
}

TEST_CASE("a view of a vector of Thrust's that does not begin where the vector does is found") {
  std::vector<float> const values{1, 2, 3, 4, 5, 6, 7};
  thrust::device_vector<float> const x(values.begin(), values.end());
  expect_found({planted::first}, 0, [&] {
    session<triad::cuda::backend> s(device());
    auto const y = s.spoiled<float>(6);
    transform(s.ex, plus(), make_vec(triad::cuda::view_of(x, 7, 1).data_handle(), 6), s.put(std::vector<float>(6)), y);
    s.collect(y);
    return distance({1, 2, 3, 4, 5, 6}, s.results);
  });
}

TEST_CASE("in small graphs a column that is taken for another, and a line that dropout takes for shorter, are found") {
  for (index_t const n : {7, 8, 9, 15, 16}) {
    CAPTURE(n);
    auto const error = [&] {
      return error_of(device(), [&](auto& s, auto zero) {
        using T = decltype(zero);
        index_t const heads = 2, width = 10, d = heads * width;
        ragged const all({n, n});
        graph_batch const g{all.dims, s.put(all.size), s.put(all.node_begin), s.put(all.edge_begin),
                            s.put(all.triangle_begin)};
        triangle_options t;
        t.heads = heads;
        t.dropout = {0.3, 99, 3, s.put(std::vector<std::uint64_t>{7}).data_handle()};
        auto const rows = all.dims.rows;
        auto const part = [&](std::uint64_t stream) -> matrix<T const> {
          return s.put(random_values<T>(rows * d, stream, 1.5), rows, d);
        };
        triangle_projections<T const> const x{part(1), part(2), part(3), part(4)};
        triangle_statistics<T> const statistics{s.template spoiled<T>(rows, heads), s.template spoiled<T>(rows, heads)};
        auto const o = s.template spoiled<T>(rows, d);
        if constexpr (sizeof(T) == 4) {
          using kernel = triad::cuda::triangles::small_forward<T, 16, false, true>;
          auto const p = triad::cuda::triangles::make_problem(t, x, g);
          launch(s.ex, kernel(), 2 * heads, p, 2 * heads, statistics.maximum, statistics.inverse_sum,
                 triad::cuda::triangles::make_columns(o, p.width));
        } else {
          s.with_scratch([&](auto& ex, call const& c) { triangle(ex, *c.scratch, t, x, g, statistics, o); });
        }
        s.collect(o);
      });
    };
    expect_found({planted::column}, tolerance<float>, error);
    if (n % 2 == 0) expect_found({planted::line}, tolerance<float>, error);  // if n is odd, the lines have no gap
  }
}

}  // namespace cuda_on_host_planted_in_kernels_tests
