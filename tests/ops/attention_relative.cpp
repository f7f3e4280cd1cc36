// Tests attention with relative positions: its definition, its properties and its gradient. Compares every backend with
// the reference.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/distance.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/ops/attention.hpp"
#include "triad/train/gradient_check.hpp"

namespace ops_attention_relative_tests {

using namespace triad;
using test::distance;

struct shape {
  std::vector<index_t> queries, keys;  // numbers of queries and of keys in each sequence
  index_t width, heads, reach;
  double rate = 0;  // dropout rate
  bool causal = false;
  bool masked = false;  // masks some keys
  bool dense = false;   // rows of queries and results are contiguous, so that one product computes all heads
};

std::ostream& operator<<(std::ostream& out, shape const& s) {
  out << "queries";
  for (auto n : s.queries) out << ' ' << n;
  out << ", keys";
  for (auto n : s.keys) out << ' ' << n;
  return out << ", k = " << s.width << ", h = " << s.heads << ", reach " << s.reach << ", dropout " << s.rate
             << (s.causal ? ", causal" : "") << (s.masked ? ", masked" : "") << (s.dense ? ", dense" : "");
}

struct list {
  std::vector<index_t> size, begin;
  sequence_batch batch;

  explicit list(std::vector<index_t> const& sizes) : size(sizes) {
    for (auto n : size) {
      begin.push_back(batch.rows);
      batch.rows += n;
      batch.longest = std::max(batch.longest, n);
      ++batch.count;
    }
    batch.size = make_vec<index_t const>(size.data(), batch.count);
    batch.begin = make_vec<index_t const>(begin.data(), batch.count);
  }
};

// One problem in memory, with columns that must not be written. Results start as NaN. Gradients of tables start as
// `before`.
template <class T>
struct problem {
  static constexpr T gap = T(12345), before = T(0.25);
  list queries, keys;
  index_t d, offsets, query_stride, key_stride, wide;
  attention_options options;
  std::vector<std::uint8_t> masked;
  std::vector<T> q, kv, ab, dc, dq, dkv, dab, c, lse, bias, offset_weights;
  std::uint64_t step = 4;

  explicit problem(shape const& s)
      : queries(s.queries),
        keys(s.keys),
        d(s.width * s.heads),
        offsets(relative_offsets(s.reach)),
        query_stride(s.dense ? d : d + 3),
        key_stride(2 * d + 1),
        wide(s.heads * offsets),
        q(test::random_values<T>(queries.batch.rows * query_stride, 1, 1.5)),
        kv(test::random_values<T>(keys.batch.rows * key_stride, 2, 1.5)),
        ab(test::random_values<T>(2 * offsets * s.width, 5)),
        dc(test::random_values<T>(queries.batch.rows * d, 3)),
        dq(q.size(), gap),
        dkv(kv.size(), gap),
        dab(ab.size(), before),
        c(static_cast<std::size_t>(queries.batch.rows * d), gap),
        lse(static_cast<std::size_t>(queries.batch.rows * s.heads), gap),
        bias(static_cast<std::size_t>(queries.batch.rows * wide), std::numeric_limits<T>::quiet_NaN()),
        offset_weights(bias) {
    options.heads = s.heads;
    options.causal = s.causal;
    options.dropout = {s.rate, 99, 3, &step};
    options.reach = s.reach;
    if (s.masked)
      for (index_t j = 0; j < keys.batch.rows; ++j) masked.push_back(j % 3 == 1);
    options.masked = make_vec<std::uint8_t const>(masked.data(), static_cast<index_t>(masked.size()));
  }
  problem(problem const&) = delete;

  index_t width() const { return d / options.heads; }
  attention_sequences sequences() const { return {queries.batch, keys.batch}; }
  template <class S>
  attention_operands<S> split(S* query_data, S* key_data) const {
    index_t const rows = keys.batch.rows;
    return {make_matrix(query_data, queries.batch.rows, d, query_stride), make_matrix(key_data, rows, d, key_stride),
            make_matrix(key_data + d, rows, d, key_stride)};
  }
  template <class S>
  relative_tables<S> tables(S* data) const {
    return {make_matrix(data, offsets, width(), width()),
            make_matrix(data + offsets * width(), offsets, width(), width())};
  }
  relative_memory<T> memory() {
    index_t const rows = queries.batch.rows;
    return {make_matrix(bias.data(), rows, wide, wide), make_matrix(offset_weights.data(), rows, wide, wide)};
  }
  static vec<T> flat(std::vector<T>& v) { return make_vec(v.data(), static_cast<index_t>(v.size())); }

  template <class Ex>
  void forward(Ex& ex) {
    test::with_scratch(ex, {}, [&](auto& backend, call const& use) {
      attention(backend, *use.scratch, options, sequences(), split<T const>(q.data(), kv.data()),
                tables<T const>(ab.data()), memory(), flat(lse), make_matrix(c.data(), queries.batch.rows, d, d));
    });
  }
  template <class Ex>
  void backward(Ex& ex) {
    test::with_scratch(ex, {}, [&](auto& backend, call const& use) {
      index_t const rows = queries.batch.rows;
      attention_grad(backend, *use.scratch, options, sequences(), split<T const>(q.data(), kv.data()),
                     tables<T const>(ab.data()), memory(), vec<T const>(flat(lse)),
                     make_matrix<T const>(c.data(), rows, d, d), make_matrix<T const>(dc.data(), rows, d, d),
                     split(dq.data(), dkv.data()), tables(dab.data()));
    });
  }
  template <class Ex>
  void run(Ex&& ex) {
    forward(ex);
    backward(ex);
  }
};

// Computes the formula of Shaw et al. 2018, which adds a vector for each pair of a query and a key.
std::vector<double> written_out(problem<double> const& p) {
  auto const x = p.split<double const>(p.q.data(), p.kv.data());
  auto const tables = p.tables<double const>(p.ab.data());
  auto const& t = p.options;
  index_t const k = p.width(), reach = t.reach;
  std::vector<double> c(p.c.size());
  for (std::size_t s = 0; s < p.queries.size.size(); ++s)
    for (index_t h = 0; h < t.heads; ++h)
      for (index_t i = 0; i < p.queries.size[s]; ++i) {
        index_t const row = p.queries.begin[s] + i, place = i + p.keys.size[s] - p.queries.size[s];
        std::vector<double> weight, sum(static_cast<std::size_t>(k));
        double total = 0;
        for (index_t j = 0; j < p.keys.size[s]; ++j) {
          index_t const from = p.keys.begin[s] + j, r = std::clamp(j - place, -reach, reach) + reach;
          bool const masked = (t.causal && j > place) || (t.masked.extent(0) != 0 && t.masked(from) != 0);
          double score = 0;
          for (index_t f = 0; f < k; ++f)
            score += x.query(row, h * k + f) * (x.key(from, h * k + f) + tables.key(r, f));
          double const e = masked ? 0 : std::exp(score / std::sqrt(static_cast<double>(k)));
          total += e;
          bool const kept = !t.dropout.active() ||
                            t.dropout.keeps(static_cast<std::uint64_t>(attention_weight(p.sequences(), h, row, j)));
          for (index_t f = 0; f < k; ++f)
            sum[static_cast<std::size_t>(f)] += (kept ? e * (t.dropout.active() ? t.dropout.scale() : 1) : 0) *
                                                (x.value(from, h * k + f) + tables.value(r, f));
        }
        for (index_t f = 0; f < k; ++f)
          c[static_cast<std::size_t>(row * p.d + h * k + f)] = total > 0 ? sum[static_cast<std::size_t>(f)] / total : 0;
      }
  return c;
}

// The tolerance allows for rounding in sums of some dozen products. In float, it allows for rounded operands; in
// double, only for sums in another order than in the reference.
template <class T>
constexpr double tolerance = std::is_same_v<T, float> ? 3e-5 : 2e-13;

std::vector<shape> shapes(bool few) {
  std::vector<shape> all;
  for (bool causal : {false, true})
    for (bool masked : {false, true}) {
      double const rate = causal != masked ? 0.3 : 0;
      all.push_back({{5, 1, 0, 3}, {5, 1, 0, 3}, 4, 2, 2, rate, causal, masked});  // self-attention
      // One sequence has more keys than queries, another has fewer keys, and another has no keys.
      all.push_back({{3, 0, 7, 2}, {6, 4, 2, 0}, 5, 3, 1, rate, causal, masked, !causal});
      // The reach is longer than all sequences.
      all.push_back({{6, 2}, {6, 2}, 3, 2, 9, 0.3 - rate, causal, masked, causal});
    }
  all.push_back({{37}, {37}, 33, 2, 5, 0.1, true});
  all.push_back({{33, 2}, {40, 65}, 16, 1, 20, 0.1, false, true});  // more offsets than lanes of a warp
  all.push_back({{1, 1}, {70, 3}, 8, 2, 16});                       // one query with many earlier keys
  all.push_back({{18}, {34}, 130, 1, 3, 0.1, true});                // a head wider than 128
  all.push_back({{}, {}, 4, 2, 3});
  if (few) return all;
  for (index_t reach : {1, 7, 8, 15, 16, 64, 99, 100, 101})
    all.push_back({{100, 3}, {100, 3}, 16, 2, reach, 0.1, reach % 2 == 1, reach % 3 == 0, reach < 16});
  return all;
}

TEMPLATE_TEST_CASE("attention with relative positions is what Shaw et al. write, on every backend", "",
                   TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  for (auto const& s : shapes(test::is_device<typename TestType::backend>)) {
    INFO(s);
    problem<double> exact(s);
    problem<T> found(s);
    exact.run(reference::backend());
    found.run(typename TestType::backend());
    CHECK(distance(found.c, written_out(exact)) < tolerance<T>);
    CHECK(distance(found.lse, exact.lse) < tolerance<T>);
    CHECK(distance(found.offset_weights, exact.offset_weights) < tolerance<T>);
    CHECK(distance(found.dq, exact.dq) < tolerance<T>);
    CHECK(distance(found.dkv, exact.dkv) < tolerance<T>);
    CHECK(distance(found.dab, exact.dab) < tolerance<T>);
    for (std::size_t i = 0; i < exact.dq.size(); ++i) CHECK((exact.dq[i] == exact.gap) == (found.dq[i] == found.gap));
    for (std::size_t i = 0; i < exact.dkv.size(); ++i)
      CHECK((exact.dkv[i] == exact.gap) == (found.dkv[i] == found.gap));
  }
}

TEMPLATE_TEST_CASE("attention with relative positions has the gradient of its value", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (double rate : {0.0, 0.3})
    for (bool causal : {false, true})
      for (index_t reach : {1, 2, 6}) {
        bool const self = reach != 2;
        problem<double> p({{3, 1, 0, 5},
                           self ? std::vector<index_t>{3, 1, 0, 5} : std::vector<index_t>{4, 0, 2, 3},
                           3,
                           2,
                           reach,
                           rate,
                           causal,
                           !self,
                           causal});
        CAPTURE(rate, causal, reach);
        bool const slow = test::is_device<TestType>;  // the stand-in for a GPU is slow
        auto const place = [&](variables const& at) {
          p.q = at[0].values;
          p.kv = at[1].values;
          p.ab = at[2].values;
        };
        auto const report = gradient_check(
            {{"q", p.q}, {"kv", p.kv}, {"tables", p.ab}},
            [&](variables const& at) {
              place(at);
              p.forward(ex);
              double sum = 0;
              for (std::size_t i = 0; i < p.c.size(); ++i) sum += p.c[i] * p.dc[i];
              return sum;
            },
            [&](variables const& at, variables& d) {
              place(at);
              p.dq.assign(p.q.size(), 0);
              p.dkv.assign(p.kv.size(), 0);
              p.dab.assign(p.ab.size(), 0);
              p.run(ex);
              d[0].values = p.dq;
              d[1].values = p.dkv;
              d[2].values = p.dab;
            },
            {.directions = slow ? 2 : 6, .elements = slow ? 8 : 40});
        CHECK_GRADIENT(report);
      }
}

TEMPLATE_TEST_CASE("attention with relative positions on the cpu has the same bits whatever the threads", "", float,
                   double) {
  for (shape const& s :
       {shape{{20, 7, 1, 33}, {20, 9, 1, 5}, 16, 4, 16, 0.1, true, true}, shape{{6, 40}, {6, 40}, 5, 3, 3, 0.3}}) {
    problem<TestType> one(s), three(s);
    one.run(cpu::backend(1));
    three.run(cpu::backend(3));
    CHECK(one.c == three.c);
    CHECK(one.offset_weights == three.offset_weights);
    CHECK(one.dq == three.dq);
    CHECK(one.dkv == three.dkv);
    CHECK(one.dab == three.dab);
  }
}

TEMPLATE_TEST_CASE("tables of zeros leave attention as it is without relative positions", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  shape const s{{5, 1, 0, 40}, {5, 1, 0, 40}, 3, 2, 4, 0.2, true, true};
  problem<double> with(s), without(s);
  std::fill(with.ab.begin(), with.ab.end(), 0.0);
  with.run(ex);
  without.options.reach = 0;
  auto const x = without.split<double const>(without.q.data(), without.kv.data());
  index_t const rows = without.queries.batch.rows, d = without.d;
  test::with_scratch(ex, {}, [&](auto& backend, call const& use) {
    auto const lse = problem<double>::flat(without.lse);
    auto const c = make_matrix(without.c.data(), rows, d, d);
    attention(backend, *use.scratch, without.options, without.sequences(), x, lse, c);
    attention_grad(backend, *use.scratch, without.options, without.sequences(), x, vec<double const>(lse),
                   matrix<double const>(c), make_matrix<double const>(without.dc.data(), rows, d, d),
                   without.split(without.dq.data(), without.dkv.data()));
  });
  CHECK(with.c == without.c);
  CHECK(with.lse == without.lse);
  CHECK(with.dq == without.dq);
  CHECK(with.dkv == without.dkv);
  CHECK(with.dab != std::vector<double>(with.dab.size(), with.before));  // the tables do have a gradient
}

TEMPLATE_TEST_CASE(
    "offset_weights of a query's offsets sum to one, and a longer reach with the same vectors says the same", "",
    TRIAD_TEST_BACKENDS) {
  TestType ex;
  index_t const reach = 3, more = 5, k = 4;
  problem<double> near({{9, 2, 40}, {9, 2, 40}, k, 2, reach}), far({{9, 2, 40}, {9, 2, 40}, k, 2, more});
  for (index_t table = 0; table < 2; ++table)
    for (index_t r = 0; r < far.offsets; ++r)
      for (index_t f = 0; f < k; ++f)
        far.ab[static_cast<std::size_t>((table * far.offsets + r) * k + f)] = near.ab[static_cast<std::size_t>(
            (table * near.offsets + std::clamp(r - more, -reach, reach) + reach) * k + f)];
  near.forward(ex);
  far.forward(ex);
  CHECK(distance(far.c, near.c) < 1e-14);
  for (std::size_t row = 0; row < near.offset_weights.size() / static_cast<std::size_t>(near.offsets); ++row) {
    double sum = 0;
    for (index_t r = 0; r < near.offsets; ++r)
      sum += near.offset_weights[row * static_cast<std::size_t>(near.offsets) + static_cast<std::size_t>(r)];
    CHECK_THAT(sum, test::WithinAbs(1, 1e-14));
  }
}

TEMPLATE_TEST_CASE(
    "with relative positions too, one query after another over a growing list gives what causal attention gives at "
    "once",
    "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  problem<double> whole({{35}, {35}, 3, 2, 4, 0, true});
  whole.forward(ex);
  for (index_t n : {1, 3, 5, 33, 35}) {
    problem<double> step({{1}, {n}, 3, 2, 4});
    std::copy_n(whole.kv.begin(), step.kv.size(), step.kv.begin());
    std::copy_n(whole.q.begin() + (n - 1) * whole.query_stride, step.q.size(), step.q.begin());
    step.forward(ex);
    for (index_t f = 0; f < whole.d; ++f)
      CHECK_THAT(step.c[static_cast<std::size_t>(f)],
                 test::WithinAbs(whole.c[static_cast<std::size_t>((n - 1) * whole.d + f)], 1e-13));
  }
}

TEST_CASE("attention refuses relative positions that do not fit, with a sentence") {
  reference::backend ex;
  problem<double> p({{3}, {3}, 3, 2, 2});
  p.options.reach = 0;
  CHECK_THROWS_WITH(p.forward(ex), test::contains("reach is 0, expected 1 or more"));
  p.options.heads = 4;
  CHECK_THROWS_WITH(p.forward(ex), test::contains("expected 1 or more heads that divide the width"));
  p.options.heads = 2;
  p.options.reach = 3;
  CHECK_THROWS_WITH(p.forward(ex), test::contains("key of relative_tables is (5, 3), expected (7, 3)"));
  p.options.reach = 2;
  p.wide += 1;
  CHECK_THROWS_WITH(p.forward(ex), test::contains("bias is (3, 11), expected (3, 10)"));
  p.options.reach = 2;
  std::vector<double> c(p.c.size());
  arena none;
  CHECK_THROWS_WITH(attention(ex, none, p.options, p.sequences(), p.split<double const>(p.q.data(), p.kv.data()),
                              problem<double>::flat(p.lse), make_matrix(c.data(), 3, p.d, p.d)),
                    test::contains("reach is 2, expected 0 without tables"));
}

}  // namespace ops_attention_relative_tests
