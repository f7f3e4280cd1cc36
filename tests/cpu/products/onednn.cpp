// Tests products by oneDNN: against sums in double, and whether rows depend on other rows, on threads and on the form
// of the factors.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/products/onednn.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "tests/catch.hpp"
#include "triad/cpu/kernels/processor.hpp"
#include "triad/cpu/matmul.hpp"
#include "triad/cpu/products/rounding.hpp"

namespace cpu_onednn_tests {

using namespace triad;
using enum cpu::arithmetic;

std::vector<cpu::arithmetic> computed() {
  std::vector<cpu::arithmetic> all{float32};
  if (cpu::onednn_engine::instance().computes(bf16)) all.push_back(bf16);
  return all;
}

struct problem {
  index_t m, n, k;
  std::vector<float> a, b;

  problem(index_t rows, index_t columns, index_t inner) : m(rows), n(columns), k(inner) {
    std::mt19937 generator(1);
    std::normal_distribution<float> value;
    for (auto* x : {&a, &b}) x->resize(static_cast<std::size_t>(k * (x == &a ? m : n)));
    for (auto& x : a) x = value(generator);
    for (auto& x : b) x = value(generator);
  }
  matrix<float const> left(bool by_rows) const {
    return by_rows ? make_matrix(a.data(), m, k, k) : make_matrix(a.data(), m, k, 1, m);
  }
  matrix<float const> right(bool by_rows) const {
    return by_rows ? make_matrix(b.data(), k, n, n) : make_matrix(b.data(), k, n, 1, k);
  }
};

std::vector<float> product(cpu::arithmetic factors, int threads, matrix<float const> a, matrix<float const> b) {
  cpu::backend ex(threads, &cpu::onednn_engine::instance(), factors);
  std::vector<float> c(static_cast<std::size_t>(a.extent(0) * b.extent(1)));
  matmul(ex, a, b, make_matrix(c.data(), a.extent(0), b.extent(1), b.extent(1)));
  return c;
}

TEST_CASE("oneDNN says what it is") {
  auto const& engine = cpu::onednn_engine::instance();
  CHECK(engine.name().substr(0, 7) == "oneDNN ");
  CHECK_FALSE(engine.kernels().empty());
  CHECK(engine.computes(float32));
  if (cpu::processor_vectors() < cpu::vector_set::avx512) CHECK_FALSE(engine.computes(bf16));
}

TEST_CASE("oneDNN computes the product of the factors, which are rounded for bf16") {
  REQUIRE(cpu::onednn_engine::computes_alone());
  for (auto const factors : computed())
    for (auto const& [m, n, k] :
         {std::array<index_t, 3>{1, 33, 40}, {3, 200, 64}, {50, 40, 800}, {130, 70, 1000}, {20, 64, 3000}, {7, 1, 5}})
      for (bool const a_by_rows : {true, false})
        for (bool const b_by_rows : {true, false}) {
          problem const p(m, n, k);
          auto const x = p.left(a_by_rows), y = p.right(b_by_rows);
          auto const c = product(factors, 2, x, y);
          bool const rounds = factors == bf16 && n >= 32 && k >= 32;
          auto const factor = [&](float v) { return static_cast<double>(rounds ? from_bfloat16(to_bfloat16(v)) : v); };
          double worst = 0;
          for (index_t r = 0; r < m; ++r)
            for (index_t i = 0; i < n; ++i) {
              double sum = 0, size = 0;
              for (index_t l = 0; l < k; ++l) {
                double const term = factor(x(r, l)) * factor(y(l, i));
                sum += term, size += std::abs(term);
              }
              double const e = std::abs(static_cast<double>(c[static_cast<std::size_t>(r * n + i)]) - sum) / size;
              worst = e <= worst ? worst : e;
            }
          CAPTURE(m, n, k, a_by_rows, b_by_rows, rounds);
          CHECK(worst < 2e-6);
        }
}

TEST_CASE("a row of oneDNN's products has the same bits for any number of rows and threads") {
  if (!cpu::onednn_engine::instance().rows_are_independent()) return;
  for (auto const factors : computed())
    for (auto const& [n, k] :
         {std::array<index_t, 2>{16, 64}, {33, 200}, {64, 800}, {200, 200}, {400, 1000}, {512, 2048}, {800, 300}})
      for (bool const b_by_rows : {true, false}) {
        problem const p(500, n, k);
        auto const all = product(factors, 1, p.left(true), p.right(b_by_rows));
        for (index_t const m : {1, 2, 5, 15, 16, 17, 31, 47, 48, 63, 64, 100, 250, 384, 499}) {
          auto const part = product(factors, 2, row_block(p.left(true), 0, m), p.right(b_by_rows));
          CAPTURE(m, n, k, b_by_rows, factors == bf16);
          CHECK(std::memcmp(part.data(), all.data(), part.size() * sizeof(float)) == 0);
        }
        // The last rows begin at another place of a block.
        auto const last = product(factors, 1, row_block(p.left(true), 463, 37), p.right(b_by_rows));
        CHECK(std::memcmp(last.data(), all.data() + 463 * n, last.size() * sizeof(float)) == 0);
      }
}

TEST_CASE("a row that oneDNN adds to has the same bits for any number of rows") {
  if (!cpu::onednn_engine::instance().rows_are_independent()) return;
  for (auto const factors : computed()) {
    problem const p(64, 188, 1600);
    cpu::backend ex(1, &cpu::onednn_engine::instance(), factors);
    std::vector<float> all(p.a.begin(), p.a.begin() + 64 * 188), part = all;
    matmul_add(ex, p.left(true), p.right(true), make_matrix(all.data(), 64, 188, 188));
    matmul_add(ex, row_block(p.left(true), 0, 21), p.right(true), make_matrix(part.data(), 21, 188, 188));
    CHECK(std::memcmp(part.data(), all.data(), std::size_t{21} * 188 * sizeof(float)) == 0);
  }
}

TEST_CASE("threads of the caller may compute products at the same time") {
  problem const p(300, 200, 200);
  for (auto const factors : computed()) {
    auto const expected = product(factors, 1, p.left(true), p.right(false));
    std::vector<std::vector<float>> found(4);
    std::vector<std::thread> threads;
    for (auto& result : found)
      threads.emplace_back([&result, &p, factors] {
        for (int i = 0; i < 20; ++i) result = product(factors, 1, p.left(true), p.right(false));
      });
    for (auto& thread : threads) thread.join();
    for (auto const& result : found)
      CHECK(std::memcmp(result.data(), expected.data(), expected.size() * sizeof(float)) == 0);
  }
}

}  // namespace cpu_onednn_tests
