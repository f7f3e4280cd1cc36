// Tests attention: its properties and its gradient. Compares every backend with the reference.
// Tests cuda/device/attention_tile.cuh, on a device and on the stand-in for one.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/attention.hpp"

#include <cmath>
#include <limits>
#include <ostream>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/distance.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/attention.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/train/gradient_check.hpp"

namespace ops_attention_tests {

using namespace triad;
using test::distance;

struct shape {
  std::vector<index_t> queries, keys;  // numbers of queries and of keys in each sequence
  index_t width, heads;
  double rate = 0;  // dropout rate
  bool causal = false;
  bool masked = false;   // masks some keys
  index_t room = 0;      // unused rows after each sequence
  bool aligned = false;  // rows are aligned to 16 bytes if the width allows this
};

std::ostream& operator<<(std::ostream& out, shape const& s) {
  out << "queries";
  for (auto n : s.queries) out << ' ' << n;
  out << ", keys";
  for (auto n : s.keys) out << ' ' << n;
  return out << ", k = " << s.width << ", h = " << s.heads << ", dropout " << s.rate << (s.causal ? ", causal" : "")
             << (s.masked ? ", masked" : "") << (s.room ? ", with room" : "") << (s.aligned ? ", aligned" : "");
}

// Sequences that are each followed by unused rows.
struct list {
  std::vector<index_t> size, begin;
  sequence_batch batch;

  list(std::vector<index_t> const& sizes, index_t room) : size(sizes) {
    for (auto n : size) {
      begin.push_back(batch.rows);
      batch.rows += n + room;
      batch.longest = std::max(batch.longest, n);
      ++batch.count;
    }
    batch.size = make_vec<index_t const>(size.data(), batch.count);
    batch.begin = make_vec<index_t const>(begin.data(), batch.count);
  }
};

// One problem in memory. Each query is a row. Keys and values are side by side in one row. The columns between them
// must not be written.
template <class T>
struct problem {
  static constexpr T gap = T(12345);
  list queries, keys;
  index_t d, query_stride, key_stride;
  attention_options options;
  std::vector<std::uint8_t> masked;
  std::vector<T> q, kv, dc, dq, dkv, c, lse;
  std::uint64_t step = 4;

  explicit problem(shape const& s)
      : queries(s.queries, s.room),
        keys(s.keys, s.room),
        d(s.width * s.heads),
        query_stride(d + (s.aligned ? 4 : 3)),
        key_stride(2 * d + (s.aligned ? 4 : 1)),
        q(test::random_values<T>(queries.batch.rows * query_stride, 1, 1.5)),
        kv(test::random_values<T>(keys.batch.rows * key_stride, 2, 1.5)),
        dc(test::random_values<T>(queries.batch.rows * d, 3)),
        dq(q.size(), gap),
        dkv(kv.size(), gap),
        c(static_cast<std::size_t>(queries.batch.rows * d), gap),
        lse(static_cast<std::size_t>(queries.batch.rows * s.heads), gap) {
    options.heads = s.heads;
    options.causal = s.causal;
    options.dropout = {s.rate, 99, 3, &step};
    if (s.masked)
      for (index_t j = 0; j < keys.batch.rows; ++j) masked.push_back(j % 3 == 1);
    options.masked = make_vec<std::uint8_t const>(masked.data(), static_cast<index_t>(masked.size()));
  }
  problem(problem const&) = delete;

  attention_sequences sequences() const { return {queries.batch, keys.batch}; }
  template <class S>
  attention_operands<S> split(S* query_data, S* key_data) const {
    index_t const rows = keys.batch.rows;
    return {make_matrix(query_data, queries.batch.rows, d, query_stride), make_matrix(key_data, rows, d, key_stride),
            make_matrix(key_data + d, rows, d, key_stride)};
  }

  template <class Ex>
  void forward(Ex& ex) {
    test::with_scratch(ex, {}, [&](auto& backend, call const& use) {
      attention(backend, *use.scratch, options, sequences(), split<T const>(q.data(), kv.data()),
                make_vec(lse.data(), static_cast<index_t>(lse.size())),
                make_matrix(c.data(), queries.batch.rows, d, d));
    });
  }
  template <class Ex>
  void backward(Ex& ex) {
    test::with_scratch(ex, {}, [&](auto& backend, call const& use) {
      index_t const rows = queries.batch.rows;
      attention_grad(backend, *use.scratch, options, sequences(), split<T const>(q.data(), kv.data()),
                     make_vec<T const>(lse.data(), static_cast<index_t>(lse.size())),
                     make_matrix<T const>(c.data(), rows, d, d), make_matrix<T const>(dc.data(), rows, d, d),
                     split(dq.data(), dkv.data()));
    });
  }
  template <class Ex>
  void run(Ex&& ex) {
    forward(ex);
    backward(ex);
  }
  T at(index_t row, index_t f) const { return c[static_cast<std::size_t>(row * d + f)]; }
};

// The tolerance allows for rounding in sums of some dozen products. In float, it allows for rounded operands; in
// double, only for sums in another order than in the reference.
template <class T>
constexpr double tolerance = std::is_same_v<T, float> ? 2e-5 : 1e-13;

template <class T, class Ex>
void expect_reference(Ex&& ex, shape const& s) {
  INFO(s);
  problem<double> exact(s);
  problem<T> found(s);
  exact.run(reference::backend());
  found.run(ex);
  CHECK(distance(found.c, exact.c) < tolerance<T>);
  CHECK(distance(found.lse, exact.lse) < tolerance<T>);
  CHECK(distance(found.dq, exact.dq) < tolerance<T>);
  CHECK(distance(found.dkv, exact.dkv) < tolerance<T>);
  for (std::size_t i = 0; i < exact.dq.size(); ++i) CHECK((exact.dq[i] == exact.gap) == (found.dq[i] == found.gap));
  for (std::size_t i = 0; i < exact.dkv.size(); ++i) CHECK((exact.dkv[i] == exact.gap) == (found.dkv[i] == found.gap));
}

std::vector<shape> shapes(bool few) {
  std::vector<shape> all;
  for (double rate : {0.0, 0.3})
    for (bool causal : {false, true})
      for (bool masked : {false, true}) {
        all.push_back({{5, 1, 0, 3}, {5, 1, 0, 3}, 4, 2, rate, causal, masked});  // self-attention
        // One sequence has more keys than queries, another has fewer keys, and another has no keys.
        all.push_back({{3, 0, 7, 2}, {6, 4, 2, 0}, 5, 3, rate, causal, masked, 2});
      }
  all.push_back({{33, 2}, {40, 65}, 16, 1, 0.1, false, true});
  all.push_back({{37}, {37}, 33, 2, 0.1, true});
  all.push_back({{4}, {9}, 7, 1, 1.0});
  all.push_back({{}, {}, 4, 2});
  for (index_t k : {4, 36, 64}) all.push_back({{18, 3}, {35, 2}, k, 2, 0.2, k == 36, true, 1, true});
  for (index_t k : {130, 132}) all.push_back({{18, 2}, {2, 34}, k, 2, 0.2, k == 132, true, 0, k == 132});  // wide heads
  if (few) return all;
  for (index_t k : {1, 2, 3, 8, 15, 17, 32, 64, 70})
    all.push_back({{20, 1, 9}, {18, 3, 9}, k, 2, 0.2, k % 2 == 1, k % 3 == 0});
  all.push_back({{100}, {100}, 16, 2, 0.1, true});
  return all;
}

TEMPLATE_TEST_CASE("attention is the reference's on every backend", "", TRIAD_TEST_TYPES) {
  for (auto const& s : shapes(test::is_device<typename TestType::backend>))
    expect_reference<typename TestType::scalar>(typename TestType::backend(), s);
}

TEMPLATE_TEST_CASE("attention on the cpu has the same bits whatever the threads", "", float, double) {
  for (shape const& s :
       {shape{{20, 7, 1, 33}, {20, 9, 1, 5}, 16, 4, 0.1, true, true}, shape{{6, 40}, {6, 40}, 5, 3, 0.3}}) {
    problem<TestType> one(s), three(s);
    one.run(cpu::backend(1));
    three.run(cpu::backend(3));
    CHECK(one.c == three.c);
    CHECK(one.lse == three.lse);
    CHECK(one.dq == three.dq);
    CHECK(one.dkv == three.dkv);
  }
}

TEMPLATE_TEST_CASE("attention has the gradient of its value", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (double rate : {0.0, 0.3})
    for (bool causal : {false, true})
      for (bool self : {false, true}) {
        problem<double> p({{3, 1, 5},
                           self ? std::vector<index_t>{3, 1, 5} : std::vector<index_t>{4, 0, 3},
                           3,
                           2,
                           rate,
                           causal,
                           !self});
        CAPTURE(rate, causal, self);
        bool const slow = test::is_device<TestType>;  // the stand-in for a GPU is slow
        auto const report = gradient_check(
            {{"q", p.q}, {"kv", p.kv}},
            [&](variables const& at) {
              p.q = at[0].values;
              p.kv = at[1].values;
              p.forward(ex);
              double sum = 0;
              for (std::size_t i = 0; i < p.c.size(); ++i) sum += p.c[i] * p.dc[i];
              return sum;
            },
            [&](variables const& at, variables& d) {
              p.q = at[0].values;
              p.kv = at[1].values;
              p.dq.assign(p.q.size(), 0);
              p.dkv.assign(p.kv.size(), 0);
              p.run(ex);
              d[0].values = p.dq;
              d[1].values = p.dkv;
            },
            {.directions = slow ? 2 : 6, .elements = slow ? 10 : 40});
        CHECK_GRADIENT(report);
      }
}

TEMPLATE_TEST_CASE("the weights of a query sum to one, so that equal values come out as they are", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  problem<double> p({{5, 2}, {4, 40}, 3, 2, 0, false, true});
  for (index_t j = 0; j < p.keys.batch.rows; ++j)
    for (index_t f = 0; f < p.d; ++f)
      p.kv[static_cast<std::size_t>(j * p.key_stride + p.d + f)] = static_cast<double>(f);
  p.forward(ex);
  for (index_t i = 0; i < p.queries.batch.rows; ++i)
    for (index_t f = 0; f < p.d; ++f) CHECK_THAT(p.at(i, f), test::WithinAbs(static_cast<double>(f), 1e-13));
}

TEMPLATE_TEST_CASE("a query that sees no key comes out as zero", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  problem<double> p({{3, 2}, {1, 0}, 3, 1, 0, true});  // only the last query can attend to the only key
  p.run(ex);
  for (index_t i : {0, 1, 3, 4})
    for (index_t f = 0; f < p.d; ++f) {
      CHECK(p.at(i, f) == 0);
      CHECK(p.dq[static_cast<std::size_t>(i * p.query_stride + f)] == 0);
    }
  CHECK(p.lse[0] == -std::numeric_limits<double>::infinity());
  CHECK(p.at(2, 0) == p.kv[3]);  // the first column of the key's value
}

TEMPLATE_TEST_CASE("one query after another over a growing list of keys gives what causal attention gives at once", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  problem<double> whole({{4, 35}, {4, 35}, 3, 2, 0, true});
  whole.forward(ex);
  for (index_t length : {1, 3, 4, 33}) {
    problem<double> step({{1, 1}, {std::min<index_t>(length, 4), length}, 3, 2, 0, true});
    for (std::size_t s = 0; s < 2; ++s) {
      index_t const n = step.keys.size[s];
      for (index_t j = 0; j < n; ++j)
        for (index_t f = 0; f < whole.key_stride; ++f)
          step.kv[static_cast<std::size_t>((step.keys.begin[s] + j) * step.key_stride + f)] =
              whole.kv[static_cast<std::size_t>((whole.keys.begin[s] + j) * whole.key_stride + f)];
      for (index_t f = 0; f < whole.query_stride; ++f)
        step.q[static_cast<std::size_t>(static_cast<index_t>(s) * step.query_stride + f)] =
            whole.q[static_cast<std::size_t>((whole.queries.begin[s] + n - 1) * whole.query_stride + f)];
    }
    step.forward(ex);
    for (std::size_t s = 0; s < 2; ++s)
      for (index_t f = 0; f < whole.d; ++f)
        CHECK_THAT(step.at(static_cast<index_t>(s), f),
                   test::WithinAbs(whole.at(whole.queries.begin[s] + step.keys.size[s] - 1, f), 1e-13));
  }
}

TEMPLATE_TEST_CASE("what a masked key holds changes nothing, and no gradient reaches it", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  shape const s{{6}, {7}, 3, 2, 0, false, true};
  problem<double> one(s), other(s);
  for (index_t j : {1, 4})
    for (index_t f = 0; f < 2 * one.d; ++f) other.kv[static_cast<std::size_t>(j * one.key_stride + f)] += 7;
  one.run(ex);
  other.run(ex);
  CHECK(one.c == other.c);
  CHECK(one.dq == other.dq);
  for (index_t j : {1, 4})
    for (index_t f = 0; f < 2 * one.d; ++f) CHECK(other.dkv[static_cast<std::size_t>(j * one.key_stride + f)] == 0);
}

TEMPLATE_TEST_CASE("attention over columns that do not lie side by side is the same", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  shape const s{{4, 3}, {4, 3}, 3, 2, 0.2};
  problem<double> near(s);
  near.forward(ex);
  index_t const rows = near.queries.batch.rows, d = near.d;
  auto const spread = [&](matrix<double const> m) {  // every second column is used
    std::vector<double> wide(static_cast<std::size_t>(2 * rows * d), std::numeric_limits<double>::quiet_NaN());
    for (index_t r = 0; r < rows; ++r)
      for (index_t f = 0; f < d; ++f) wide[static_cast<std::size_t>(2 * (r * d + f))] = m(r, f);
    return wide;
  };
  auto const x = near.split<double const>(near.q.data(), near.kv.data());
  auto const query = spread(x.query), key = spread(x.key), value = spread(x.value);
  auto const view = [&](std::vector<double> const& v) {
    return make_matrix<double const>(v.data(), rows, d, 2 * d, 2);
  };
  std::vector<double> c(static_cast<std::size_t>(rows * d)), lse(near.lse.size());
  test::with_scratch(ex, {}, [&](auto& backend, call const& use) {
    attention(backend, *use.scratch, near.options, near.sequences(),
              attention_operands<double const>{view(query), view(key), view(value)},
              make_vec(lse.data(), static_cast<index_t>(lse.size())), make_matrix(c.data(), rows, d, d));
  });
  CHECK(distance(c, near.c) < 1e-14);
  CHECK(distance(lse, near.lse) < 1e-14);
}

TEST_CASE("attention refuses shapes that do not fit, with a sentence") {
  reference::backend ex;
  problem<double> p({{3}, {3}, 3, 2});
  p.options.heads = 4;
  CHECK_THROWS_WITH(p.forward(ex), test::contains("expected 1 or more heads that divide the width"));
  p.options.heads = 2;
  std::uint8_t const byte = 0;
  p.options.masked = make_vec(&byte, 1);
  CHECK_THROWS_WITH(p.forward(ex), test::contains("masked is (1), expected (3)"));
  p.options.masked = make_vec<std::uint8_t const>(nullptr, 0);
  p.keys.batch.count = 0;
  CHECK_THROWS_WITH(p.forward(ex), test::contains("0 sequences of keys, expected 1"));
}

TEST_CASE("the cpu refuses sequences that are longer than was said when memory was measured") {
  cpu::backend ex(1);
  problem<double> p({{3}, {3}, 3, 2});
  p.keys.batch.longest = 2;
  CHECK_THROWS_WITH(p.forward(ex), test::contains("the batch's `longest`"));
}

}  // namespace ops_attention_tests
