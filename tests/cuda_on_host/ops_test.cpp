// Tests operations on rows and on flat memory. Compares the CUDA backend with the reference.
// Tests cuda/device/rows.cuh and cuda/device/primitives.cuh.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "session.hpp"
#include "triad/cuda/adam.cuh"
#include "triad/cuda/cross_entropy.cuh"
#include "triad/cuda/dropout.cuh"
#include "triad/cuda/elementwise.cuh"
#include "triad/cuda/gather.cuh"
#include "triad/cuda/layer_norm.cuh"
#include "triad/cuda/reduce.cuh"
#include "triad/cuda/softmax.cuh"

namespace cuda_on_host_ops_tests {

using namespace triad;
using namespace triad::test;

// Sizes near the numbers of elements that a kernel processes at the same time: none, one, a warp, a block of rows, the
// columns that a lane stores, and more than these.
struct size {
  index_t rows, columns;
};
constexpr size sizes[] = {{0, 3}, {1, 1}, {3, 1}, {9, 7}, {5, 32}, {70, 33}, {17, 256}, {9, 300}};

template <class T>
std::vector<T> values(size s, std::uint64_t stream, double range = 1) {
  return random_values<T>(s.rows * s.columns, stream, range);
}

/// Values of very different magnitudes, so that sums in different orders have different bits.
template <class T>
std::vector<T> uneven(index_t count, std::uint64_t stream) {
  auto v = random_values<T>(count, stream);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] *= std::exp2(static_cast<T>(i % 23));
  return v;
}
TEMPLATE_TEST_CASE("elementwise functions on a device are those of the host", "", float, double) {
  // A kernel moves 16 bytes in one instruction only if its views are aligned. In these cases, all views are aligned, no
  // view is aligned, or all views except one are aligned.
  struct beginnings {
    index_t a, b, y;
  };
  for (index_t n : {0, 1, 3, 255, 1023, 1024, 1025, 3002})
    for (auto const from : {beginnings{0, 0, 0}, {1, 1, 1}, {0, 4, 1}, {4, 3, 8}, {2, 0, 0}}) {
      CAPTURE(n, from.a, from.b, from.y);
      expect_reference<TestType>([=](auto& s, auto zero) {
        using T = decltype(zero);
        auto const part = [&](vec<T> v, index_t first) { return make_vec(v.data_handle() + first, n); };
        auto const all_a = s.put(random_values<T>(n + 9, 1)), all_b = s.put(random_values<T>(n + 9, 2)),
                   all_y = s.put(random_values<T>(n + 9, 3)), all_z = s.put(random_values<T>(n + 9, 4));
        auto const a = part(all_a, from.a), b = part(all_b, from.b), y = part(all_y, from.y), z = part(all_z, from.y);
        transform(s.ex, relu(), a, y);
        transform(s.ex, relu_grad(), y, b, y);
        transform(s.ex, plus(), a, b, b);
        transform(s.ex, scale_by<double>{3}, a, a);
        fill(s.ex, T(2), z);
        for (auto const& v : {all_a, all_b, all_y, all_z}) s.collect(v);  // also checks that nothing else is written
      });
    }
}

TEMPLATE_TEST_CASE("zeros are written by the runtime, and -0 stays what it is", "", float, double) {
  session<triad::cuda::backend> s(device());
  auto const all = s.put(std::vector<TestType>(9, TestType(NAN)));
  fill(s.ex, TestType(0), make_vec(all.data_handle() + 1, 3));
  fill(s.ex, TestType(-0.0), make_vec(all.data_handle() + 5, 3));
  fill(s.ex, TestType(0), make_vec(all.data_handle() + 8, 0));
  auto const v = s.get(all.data_handle(), 9);
  for (std::size_t i : {0, 4, 8}) CHECK(std::isnan(v[i]));
  for (std::size_t i : {1, 2, 3}) CHECK((v[i] == 0 && !std::signbit(v[i])));
  for (std::size_t i : {5, 6, 7}) CHECK((v[i] == 0 && std::signbit(v[i])));
}

TEMPLATE_TEST_CASE("sums on a device, in two passes, are those of the host", "", float, double) {
  for (index_t n : {0, 1, 31, 4096, 4097, 9000})
    for (bool spoiled : {false, true}) {
      if (spoiled && n == 0) continue;
      CAPTURE(n, spoiled);
      expect_reference<TestType>([=](auto& s, auto zero) {
        using T = decltype(zero);
        auto x = random_values<T>(n, 1);
        if (spoiled) x[static_cast<std::size_t>(n / 2)] = T(NAN);
        auto const v = s.put(x), total = s.template spoiled<T>(1), length = s.template spoiled<T>(1);
        s.with_scratch([&](auto& ex, call const& c) {
          sum(ex, *c.scratch, v, total);
          norm(ex, *c.scratch, v, length);
        });
        s.collect(total);
        s.collect(length);
      });
    }
  // One kernel computes the sum of one chunk, and two kernels compute the sum of several chunks. Zeros after the first
  // chunk must not change a bit of the sum.
  session<triad::cuda::backend> s(device());
  auto values_and_zeros = uneven<TestType>(4096, 1);
  values_and_zeros.resize(4100);
  auto const all = s.put(values_and_zeros), one = make_vec(all.data_handle(), 4096);
  for (auto const& x : {one, all})
    s.with_scratch([&](auto& ex, call const& c) {
      auto const total = s.template spoiled<TestType>(1), length = s.template spoiled<TestType>(1);
      sum(ex, *c.scratch, x, total);
      norm(ex, *c.scratch, x, length);
      if constexpr (executes<std::decay_t<decltype(ex)>>) {
        s.collect(total);
        s.collect(length);
      }
    });
  REQUIRE(s.results.size() == 4);
  CHECK((s.results[0] == s.results[2] && s.results[1] == s.results[3]));
  for (auto const z : sizes)
    for (auto how : all_ways) {
      CAPTURE(z.rows, z.columns, static_cast<int>(how));
      expect_reference<TestType>([=](auto& here, auto zero) {
        using T = decltype(zero);
        auto const x = here.put(values<T>(z, 1), z.rows, z.columns, how);
        auto const total = here.put(random_values<T>(z.columns, 2));
        here.with_scratch([&](auto& ex, call const& c) { column_sums_add(ex, *c.scratch, x, total); });
        here.collect(total);
      });
    }
}

TEMPLATE_TEST_CASE("softmax on a device is that of the host, NaN and masked scores too", "", float, double) {
  for (auto const z : sizes)
    for (auto how : all_ways) {
      CAPTURE(z.rows, z.columns, static_cast<int>(how));
      expect_reference<TestType>([=](auto& s, auto zero) {
        using T = decltype(zero);
        auto scores = values<T>(z, 1, 5);
        if (z.rows > 8) scores[0] = scores[static_cast<std::size_t>(3 * z.columns - 1)] = T(NAN);
        if (z.rows > 8) std::fill_n(scores.begin() + 4 * z.columns, z.columns, T(-1e9));
        if (z.rows > 8) std::fill_n(scores.begin() + 5 * z.columns, z.columns, -std::numeric_limits<T>::infinity());
        auto const x = s.put(scores, z.rows, z.columns, how), y = s.template spoiled<T>(z.rows, z.columns, how);
        auto const dy = s.put(values<T>(z, 2), z.rows, z.columns, how);
        softmax(s.ex, x, y);
        softmax(s.ex, x, x);  // in place
        softmax_grad(s.ex, y, dy, dy);
        for (auto const& m : {x, y, dy}) s.collect(m);
      });
    }
}

TEMPLATE_TEST_CASE("layer norm and its gradient on a device are those of the host", "", float, double) {
  for (auto const z : sizes)
    for (auto how : all_ways)
      for (int add : {0, 1, 2}) {  // no addend, another tensor, or the gradient itself as the addend
        CAPTURE(z.rows, z.columns, static_cast<int>(how), add);
        double const within = z.columns == 1
                                  ? 1e-2
                                  // A row with one element has variance 0, so layer norm multiplies its rounding error
                                  // by 1 / sqrt(epsilon).
                                  : 100 * tolerance<TestType>;
        expect_reference<TestType>(
            [=](auto& s, auto zero) {
              using T = decltype(zero);
              auto const x = s.put(values<T>(z, 1, 3), z.rows, z.columns, how),
                         y = s.template spoiled<T>(z.rows, z.columns, how);
              auto const dy = s.put(values<T>(z, 2), z.rows, z.columns, how),
                         extra = s.put(values<T>(z, 3), z.rows, z.columns, how);
              auto const gain = s.put(random_values<T>(z.columns, 4)), bias = s.put(random_values<T>(z.columns, 5));
              auto const dgain = s.put(random_values<T>(z.columns, 6)), dbias = s.put(random_values<T>(z.columns, 7));
              auto const mean = s.template spoiled<T>(z.rows), rstd = s.template spoiled<T>(z.rows);
              layer_norm(s.ex, x, gain, bias, 1e-5, y, mean, rstd);
              for (auto const& v : {mean, rstd}) s.collect(v);
              auto const dx = add == 0 ? dy : add == 1 ? y : extra;
              if (add == 1) s.collect(y);
              auto const dropped = s.template spoiled<T>(z.rows, z.columns, how);
              s.with_scratch([&](auto& ex, call const& c) {
                auto const added = add == 0 ? make_matrix<T const>(nullptr, 0, 0, 0) : matrix<T const>(extra);
                if (add == 1)
                  layer_norm_grad(ex, *c.scratch, x, gain, mean, rstd, dy, added, dx, dgain, dbias,
                                  {0.3, 5, 7, nullptr}, dropped);
                else
                  layer_norm_grad(ex, *c.scratch, x, gain, mean, rstd, dy, added, dx, dgain, dbias);
              });
              s.collect(dx);
              if (add == 1) s.collect(dropped);
              for (auto const& v : {dgain, dbias}) s.collect(v);
            },
            within);
      }
}

TEMPLATE_TEST_CASE("the gradient of layer norm before dropout on a device is dropout of the gradient", "", float,
                   double) {
  for (auto const z : sizes)
    for (double const rate : {0.3, 1.0})
      for (bool const in_place : {false, true}) {
        CAPTURE(z.rows, z.columns, rate, in_place);
        session<triad::cuda::backend> s(device());
        auto const step = s.put(std::vector<std::uint64_t>{4});
        dropout_mask const mask{rate, 5, 7, step.data_handle()};
        auto const x = s.put(values<TestType>(z, 1), z.rows, z.columns),
                   dy = s.put(values<TestType>(z, 4), z.rows, z.columns),
                   dx = in_place ? dy : s.template spoiled<TestType>(z.rows, z.columns),
                   dropped = s.template spoiled<TestType>(z.rows, z.columns),
                   expected = s.template spoiled<TestType>(z.rows, z.columns);
        auto const of_row = s.put(random_values<TestType>(z.rows, 2)),
                   gain = s.put(random_values<TestType>(z.columns, 3)),
                   dgain = s.put(random_values<TestType>(z.columns, 5)),
                   dbias = s.put(random_values<TestType>(z.columns, 6));
        s.with_scratch([&](auto& ex, call const& c) {
          layer_norm_grad(ex, *c.scratch, x, gain, of_row, of_row, dy, no_matrix<TestType const>(), dx, dgain, dbias,
                          mask, dropped);
          dropout_grad(ex, mask, dx, expected);
        });
        for (auto const& m : {dropped, expected}) s.collect(m);
        auto const half = s.results.begin() + static_cast<std::ptrdiff_t>(s.results.size() / 2);
        CHECK(std::vector<double>(s.results.begin(), half) == std::vector<double>(half, s.results.end()));
      }
}

TEMPLATE_TEST_CASE("the gradient of layer norm on a device has the same bits in one launch and in two", "", float,
                   double) {
  // The last block of one kernel adds up to 16 chunks of 32 rows.  A second kernel adds the 17 chunks of rows 513 to
  // 544, whose gradient is 0 and must not change a bit.  Every time again, no block may come too early or be forgotten.
  for (index_t const rows : {1, 33, 512})
    for (index_t const columns : {1, 64, 256})
      for (std::uint64_t const seed : {0, 1, 2}) {
        CAPTURE(rows, columns, seed);
#if defined(TRIAD_CUDA_DOUBLE)
        cuda_on_host::with_settings const order({.shuffled = seed > 0, .seed = seed});
#endif
        session<triad::cuda::backend> s(device());
        auto gradient = uneven<TestType>(rows * columns, 1);
        gradient.resize(static_cast<std::size_t>(544 * columns));
        auto const x = s.put(uneven<TestType>(544 * columns, 2), 544, columns), dy = s.put(gradient, 544, columns),
                   dx = s.template spoiled<TestType>(544, columns);
        auto const mean = s.put(random_values<TestType>(544, 3)), rstd = s.put(uneven<TestType>(544, 4)),
                   gain = s.put(random_values<TestType>(columns, 5));
        for (index_t const of : {rows, index_t{544}}) {
          auto const first = [&](auto m) { return row_block(m, 0, of); };
          auto const dgain = s.put(random_values<TestType>(columns, 6)),
                     dbias = s.put(random_values<TestType>(columns, 7));
          s.with_scratch([&](auto& ex, call const& c) {
            layer_norm_grad(ex, *c.scratch, first(x), gain, make_vec(mean.data_handle(), of),
                            make_vec(rstd.data_handle(), of), first(dy), no_matrix<TestType const>(), first(dx), dgain,
                            dbias);
          });
          s.collect(dgain);
          s.collect(dbias);
        }
        auto const half = s.results.begin() + 2 * columns;
        CHECK(std::vector<double>(s.results.begin(), half) == std::vector<double>(half, s.results.end()));
      }
}

TEMPLATE_TEST_CASE("dropout on a device keeps the elements that the host keeps", "", float, double) {
  for (auto const z : {size{0, 3}, {1, 1}, {3, 63}, {9, 65}, {2, 130}, {1, 1000}})
    for (auto how : all_ways)
      for (double rate : {0.0, 0.3, 1.0}) {
        CAPTURE(z.rows, z.columns, static_cast<int>(how), rate);
        expect_reference<TestType>([=](auto& s, auto zero) {
          using T = decltype(zero);
          auto const step = s.put(std::vector<std::uint64_t>{4});
          auto const x = s.put(values<T>(z, 1), z.rows, z.columns, how),
                     y = s.template spoiled<T>(z.rows, z.columns, how);
          dropout(s.ex, {rate, 5, 7, step.data_handle()}, x, y);
          dropout(s.ex, {rate, 5, std::uint64_t{7} << 40, nullptr}, x, x);
          s.collect(x);
          s.collect(y);
        });
      }
}

TEMPLATE_TEST_CASE("rows are gathered and added on a device as on the host", "", float, double) {
  struct shape {
    index_t table, indices, columns;
  };
  for (auto const z : {shape{3, 0, 2}, {5, 70, 33}, {3, 2500, 2}, {300, 7, 40}, {90, 89, 1}, {1, 1, 1}, {4, 4, 300}})
    for (auto how : all_ways) {
      CAPTURE(z.table, z.indices, z.columns, static_cast<int>(how));
      expect_reference<TestType>([=](auto& s, auto zero) {
        using T = decltype(zero);
        random_stream random(3, 9);
        std::vector<index_t> rows(static_cast<std::size_t>(z.indices));
        for (auto& r : rows) r = random.below(static_cast<std::uint32_t>(std::min<index_t>(z.table, 20)));
        vec<index_t const> const index = s.put(rows);
        auto const table = s.put(random_values<T>(z.table * z.columns, 1), z.table, z.columns, how),
                   y = s.template spoiled<T>(z.indices, z.columns, how);
        gather_rows(s.ex, table, index, y);
        scatter_add_rows(s.ex, y, index, table);
        s.collect(y);
        s.collect(table);
      });
    }
  session<triad::cuda::backend> s(device());
  vec<index_t const> const wild = s.put(std::vector<index_t>{1, 2, -1, 0});
  auto const table = s.put(std::vector<TestType>{1, 2}, 2, 1), y = s.put(std::vector<TestType>(4), 4, 1);
  gather_rows(device(), table, wild, y);
  scatter_add_rows(device(), y, wild, table);
  s.collect(y);
  s.collect(table);
  CHECK(distance({2, NAN, NAN, 1, 2, 4}, s.results) == 0);
}

struct scattering {
  index_t table, indices, columns;
};

/// Returns random indices. If `wild`, some of them are outside the table.
std::vector<index_t> indices_of(scattering z, bool wild) {
  random_stream random(5, 11);
  std::vector<index_t> index(static_cast<std::size_t>(z.indices));
  for (auto& i : index) {
    i = random.below(static_cast<std::uint32_t>(z.table));
    if (wild && random.below(8) == 0) i = i % 2 == 0 ? -1 - i : z.table + i;
  }
  return index;
}
template <class T>
workspace memory_for_sort(session<triad::cuda::backend>& s, index_t rows, matrix<T> table) {
  std::size_t const bytes = triad::cuda::detail::scatter_by_sort_bytes(s.ex, rows, table);
  auto const memory = s.put(std::vector<unsigned char>(bytes, 0xff));
  return {reinterpret_cast<std::byte*>(memory.data_handle()), bytes};
}

TEMPLATE_TEST_CASE("rows that are sorted first are added in the same order: the same bits", "", float, double) {
  for (auto const z : {scattering{3, 2500, 2},
                       {5, 70, 33},
                       {300, 7, 40},
                       {90, 89, 1},
                       {1, 1, 1},
                       {4, 4, 300},
                       {70, 1, 5},
                       {600, 500, 3},
                       {500, 600, 3}})
    for (auto how : all_ways)
      for (bool wild : {false, true}) {
        if (z.indices > 300 && (how != lying::padded || wild == (z.indices > 2000))) continue;
        CAPTURE(z.table, z.indices, z.columns, static_cast<int>(how), wild);
        auto const sum = [&](bool sorted) {
          session<triad::cuda::backend> s(device());
          vec<index_t const> const index = s.put(indices_of(z, wild));
          auto const table = s.put(uneven<TestType>(z.table * z.columns, 1), z.table, z.columns, how);
          matrix<TestType const> const dy =
              s.put(uneven<TestType>(z.indices * z.columns, 2), z.indices, z.columns, how);
          if (sorted)
            triad::cuda::detail::scatter_by_sort(s.ex, dy, index, table, memory_for_sort(s, z.indices, table));
          else
            triad::cuda::detail::scatter_by_scan(s.ex, dy, index, table);
          s.collect(table);
          return s.results;
        };
        auto const scanned = sum(false);
        CHECK(distance(scanned, sum(true)) == 0);
#if defined(TRIAD_CUDA_DOUBLE)
        cuda_on_host::with_settings const other({.shuffled = true, .seed = scanned.size()});
        CHECK(distance(scanned, sum(true)) == 0);
#endif
      }
}

#if !defined(__SANITIZE_THREAD__)  // TSan is slow, and has checked the same kernels above
TEMPLATE_TEST_CASE("many rows are sorted in the scratch memory that was planned for most of them", "", float, double) {
  constexpr scattering large{3000, 2950, 1}, small{3000, 2900, 1}, labels{20, 30000, 200};
  static_assert(triad::cuda::sorts_rows(large.indices, large.table, large.columns));
  static_assert(triad::cuda::sorts_rows(small.indices, small.table, small.columns));
  static_assert(!triad::cuda::sorts_rows(labels.indices, labels.table, labels.columns));
  expect_reference<TestType>([=](auto& s, auto zero) {
    using T = decltype(zero);
    auto const table = s.put(random_values<T>(large.table, 1), large.table, large.columns);
    auto const dy = s.put(random_values<T>(large.indices, 2), large.indices, large.columns);
    vec<index_t const> const index = s.put(indices_of(large, false));
    s.with_scratch([&](auto& ex, call const& c) {
      scatter_add_rows(ex, c.scratch, dy, index, table);
      if constexpr (std::is_same_v<std::decay_t<decltype(ex)>, triad::cuda::backend>)
        CHECK(c.scratch->peak() > 4 * sizeof(std::uint32_t) * static_cast<std::size_t>(large.indices));
      scatter_add_rows(ex, c.scratch, make_matrix(dy.data_handle(), small.indices, 1, 1),
                       make_vec(index.data_handle(), small.indices), table);
    });
    s.collect(table);
  });
  session<triad::cuda::backend> s(device());
  auto const table = s.template spoiled<TestType>(large.table, 1), dy = s.template spoiled<TestType>(large.indices, 1);
  vec<index_t const> const index = s.put(indices_of(large, false));
  CHECK_THROWS_WITH(scatter_add_rows(s.ex, nullptr, dy, index, table), contains("call: no scratch memory"));
}
#endif

// Runs the code that follows the sort with a wrong order of rows. The comparison above must find a difference.
TEST_CASE("rows that were sorted wrongly have a wrong owner, or another order, and are found") {
  enum class planted { nothing, owner, order, late, lost };
  for (auto const z : {scattering{50, 400, 3}, {500, 400, 3}})
    for (auto fault : {planted::nothing, planted::owner, planted::order, planted::late, planted::lost}) {
      CAPTURE(z.table, static_cast<int>(fault));
      session<triad::cuda::backend> s(device()), exact(device());
      auto const at = indices_of(z, false);
      std::vector<std::uint32_t> row(at.size()), key;
      std::iota(row.begin(), row.end(), 0u);
      std::stable_sort(row.begin(), row.end(), [&](auto a, auto b) { return at[a] < at[b]; });
      for (auto r : row) key.push_back(static_cast<std::uint32_t>(at[r]));
      std::size_t k = 100;  // the first of three or more equal keys
      while (key[k] != key[k + 2] || key[k - 1] == key[k]) ++k;
      if (fault == planted::owner) key[k] = key[k - 1];            // the run before it gets its first row
      if (fault == planted::order) std::swap(row[k], row[k + 2]);  // an order that an unstable sort may give
      if (fault == planted::late) std::rotate(&row[k], &row[k + 1], &row[k + 3]);  // rows are at the wrong keys
      if (fault == planted::lost) key.back() = key.front();                        // a run in two pieces has two owners
      auto const dy = uneven<float>(z.indices * z.columns, 2), table = uneven<float>(z.table * z.columns, 1);
      auto const run = [&](auto& in, auto&& add) {
        matrix<float const> const from = in.put(dy, z.indices, z.columns);
        auto const to = in.put(table, z.table, z.columns);
        add(from, to);
        in.collect(to);
      };
      run(exact, [&](auto from, auto to) {
        vec<index_t const> const index = exact.put(at);
        triad::cuda::detail::scatter_by_scan(exact.ex, from, index, to);
      });
      run(s, [&](auto from, auto to) {
        triad::cuda::keyed_rows const sorted{s.put(key).data_handle(), s.put(row).data_handle()};
        triad::cuda::detail::scatter_sorted(s.ex, sorted, from, to);
      });
      CHECK((distance(exact.results, s.results) == 0) == (fault == planted::nothing));
    }
}

TEMPLATE_TEST_CASE("cross entropy and argmax on a device are those of the host", "", float, double) {
  enum targets { some, none, all };
  for (auto const z : {size{0, 3}, {1, 1}, {9, 7}, {70, 33}, {3, 300}, {1100, 2}})
    for (auto which : {some, none, all})
      for (auto how : all_ways) {
        if (z.rows > 1024 && (which != some || how != lying::padded)) continue;
        CAPTURE(z.rows, z.columns, static_cast<int>(which), static_cast<int>(how));
        expect_reference<TestType>([=](auto& s, auto zero) {
          using T = decltype(zero);
          std::vector<index_t> target(static_cast<std::size_t>(z.rows));
          for (std::size_t r = 0; r < target.size(); ++r)
            target[r] = which == none || (which == some && r % 3 == 1) ? -1 : static_cast<index_t>(r * 5) % z.columns;
          auto scores = values<T>(z, 1, 5);
          if (which == some && z.rows == 70) scores[40] = T(NAN);  // in row 1, which is not in the loss
          if (which == all && z.rows == 9) scores[30] = T(NAN);
          auto const x = s.put(scores, z.rows, z.columns, how), dx = s.template spoiled<T>(z.rows, z.columns, how);
          vec<index_t const> const t = s.put(target);
          auto const loss = s.template spoiled<T>(1);
          cross_entropy(s.ex, x, t, loss, dx, {which == all && z.columns > 1 ? 0.1 : 0.0});
          s.collect(loss);
          s.collect(dx);
        });
      }
  for (auto const z : sizes) {
    CAPTURE(z.rows, z.columns);
    expect_reference<TestType>([=](auto& s, auto zero) {
      using T = decltype(zero);
      auto scores = values<T>(z, 2);
      for (auto& v : scores) v = std::round(v * T(4));  // many ties
      if (z.rows > 8) scores[0] = scores[static_cast<std::size_t>(3 * z.columns - 1)] = T(NAN);
      if (z.rows > 8) std::fill_n(scores.begin() + 5 * z.columns, z.columns, -std::numeric_limits<T>::infinity());
      auto const best = s.put(std::vector<index_t>(static_cast<std::size_t>(z.rows), -1));
      argmax_rows(s.ex, s.put(scores, z.rows, z.columns), best);
      s.collect(best);
    });
  }
  session<triad::cuda::backend> s(device());
  vec<index_t const> const wild = s.put(std::vector<index_t>{2});
  auto const loss = s.put(std::vector<TestType>(1));
  cross_entropy(device(), s.put(std::vector<TestType>{1, 2}, 1, 2), wild, loss, s.put(std::vector<TestType>(2), 1, 2));
  s.collect(loss);
  CHECK(std::isnan(s.results[0]));
}

TEMPLATE_TEST_CASE("Adam and clipping on a device are those of the host", "", float, double) {
  struct stretch {
    index_t first, count;  // the first parameter, which may be unaligned, and the number of parameters
  };
  for (auto const z : {stretch{0, 0}, {0, 1}, {0, 2500}, {1, 2499}})
    for (bool decoupled : {false, true}) {
      CAPTURE(z.first, z.count, decoupled);
      expect_reference<TestType>([=](auto& s, auto zero) {
        using T = decltype(zero);
        index_t const n = z.first + z.count;
        auto squares = random_values<T>(n, 4);
        for (auto& e : squares) e = std::abs(e);
        auto const all_p = s.put(random_values<T>(n, 1)), all_g = s.put(random_values<T>(n, 2)),
                   all_m = s.put(random_values<T>(n, 3)), all_v = s.put(squares);
        auto const part = [&](vec<T> v) { return make_vec(v.data_handle() + z.first, z.count); };
        auto const p = part(all_p), g = part(all_g), m = part(all_m), v = part(all_v);
        vec<double const> const rate = s.put(std::vector<double>{0.01});
        auto const step = s.put(std::vector<std::uint64_t>{4});
        adam(s.ex, {0.9, 0.98, 1e-8, 0.1, decoupled}, rate, step.data_handle(), p, g, m, v);
        for (double length : {0.5, 2.0, static_cast<double>(NAN)}) {
          auto const norm_of = s.put(std::vector<T>{T(length)});
          clip(s.ex, 1, norm_of, g);
          s.collect(all_g);
        }
        for (auto const& r : {all_p, all_m, all_v}) s.collect(r);
      });
    }
}

}  // namespace cuda_on_host_ops_tests
