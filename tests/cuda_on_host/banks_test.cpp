// Tests bank conflicts in shared memory. Counts, from the addresses that the tiled kernels use, how many threads access
// one bank at the same time. Compares these counts with the tables in the kernels' headers, line by line.
// Tests cuda/device/attention_tile.cuh, cuda/triangle/forward.cuh, cuda/triangle/forward_tile.cuh,
// cuda/triangle/backward.cuh, cuda/triangle/tile.cuh, cuda/triangle/small.cuh and cuda/triangle/small_backward.cuh.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "triad/cuda/attention.cuh"
#include "triad/cuda/triangle/backward.cuh"
#include "triad/cuda/triangle/forward.cuh"
#include "triad/cuda/triangle/small_backward.cuh"

namespace cuda_on_host_banks_tests {

using namespace triad;
using namespace triad::cuda;
using namespace triad::cuda::triangles;

/// Returns the largest number of different words that threads access in one bank at the same time. The hardware serves
/// 32 threads with 4 bytes each at the same time, or 16 threads with 8 bytes each, or 8 threads with 16 bytes each.
/// at(thread of the warp) must return an offset in shared memory, or -1 if the thread does not access memory.
template <class F>
int ways(int bytes, F const& at) {
  int const together = 128 / bytes;
  std::size_t most = 0;
  for (int first = 0; first < warp; first += together) {
    std::map<std::ptrdiff_t, std::set<std::ptrdiff_t>> words;  // the words of each bank
    for (int t = first; t < first + together; ++t)
      if (std::ptrdiff_t const from = at(t); from >= 0)
        for (std::ptrdiff_t word = from / 4; word < (from + bytes) / 4; ++word) words[word % 32].insert(word);
    for (auto const& bank : words) most = std::max(most, bank.second.size());
  }
  return static_cast<int>(most);
}

/// Returns the largest number that ways() returns for any warp of a block. Each thread moves `elements` elements in
/// pieces of at most 16 bytes, and the piece with the largest number counts. element(thread) must return the address of
/// the thread's first element in `s`, or null if the thread moves nothing.
template <class T, class S, class F>
int worst(S const& s, int threads, int elements, F const& element) {
  int const all = elements * static_cast<int>(sizeof(T)), bytes = std::min(16, all);
  int most = 0;
  for (int w = 0; w < threads; w += warp)
    for (int piece = 0; piece < all; piece += bytes)
      most = std::max(
          most, ways(bytes, [&](int lane) -> std::ptrdiff_t {
            T const* const at = element(w + lane);
            return at == nullptr ? -1 : reinterpret_cast<char const*>(at) - reinterpret_cast<char const*>(&s) + piece;
          }));
  return most;
}

/// A column of a table. It has, for each access of one kernel, the largest number of words in a bank.
using column = std::vector<std::pair<std::string, int>>;

/// Returns lines such as "// name 1 2 -". There is a line for each name, in the order of the first column that has the
/// name.
std::vector<std::string> lines_of(std::vector<column> const& columns) {
  std::vector<std::string> names, lines;
  for (auto const& c : columns)
    for (auto const& [name, ways] : c)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  for (auto const& name : names) {
    std::string line = "//   " + name + std::string(52 - name.size(), ' ');
    for (auto const& c : columns) {
      auto const found = std::find_if(c.begin(), c.end(), [&](auto const& row) { return row.first == name; });
      auto const text = found == c.end() ? "-" : std::to_string(found->second);
      line += std::string(5 - text.size(), ' ') + text;
    }
    lines.push_back(line);
  }
  return lines;
}

/// Checks that the header contains this table, line by line.
void check_table(std::string const& header, std::vector<column> const& columns) {
  std::ifstream file("include/triad/cuda/" + header);
  std::stringstream text;
  text << file.rdbuf();
  std::string table;
  for (auto const& line : lines_of(columns)) table += line + "\n";
  INFO("include/triad/cuda/" << header << " should have\n" << table);
  bool const there = text.str().find(table) != std::string::npos;
  CHECK(there);
}

constexpr auto float32 = product_path::exact;

// ---- forward --------------------------------------------------------------------------------------------------------

template <class T, int Width, bool OwnKey = false, bool RightValue = true, product_path Path = float32,
          arithmetic Factors = arithmetic::float32>
column forward_column() {
  using kernel = forward_kernel<T, Width, OwnKey, RightValue, Path, Factors>;
  using place = typename kernel::place;
  auto const room = std::make_unique<typename kernel::shared>();
  auto const& s = *room;
  constexpr int threads = kernel::threads;
  auto const quads = [&](auto const& f) { return worst<T>(s, threads, 4, f); };
  auto const ones = [&](auto const& f) { return worst<T>(s, threads, 1, f); };
  column c;
  c.push_back({"copies of 16 bytes", quads([&](int t) { return &s.left[0][t / (Width / 4)][t % (Width / 4) * 4]; })});
  c.push_back({"copies of 8 bytes", worst<T>(s, threads, sizeof(T) == 4 ? 2 : 1,
                                             [&](int t) { return &s.left[0][t / (Width / 4)][t % (Width / 4) * 4]; })});
  if constexpr (Path != float32) {
    constexpr int terms = terms_of_lane<Width>;
    constexpr bool pairs = Factors != arithmetic::tf32;
    constexpr int words = pairs ? terms / 2 : terms;
    auto const of_lane = [](int t) {  // where its first term is
      int const first = t % 4 * terms;
      return pairs ? first / 8 * 8 + first % 8 / 2 : first;
    };
    auto const read = [&](auto const& f) { return worst<T>(s, threads, words, f); };
    c.push_back(
        {"scores: q(i, l), a product of tiles", read([&](int t) { return &s.query[0][t % 32 / 4][of_lane(t)]; })});
    c.push_back(
        {"scores: k(l, j), a product of tiles", read([&](int t) { return &s.key[0][t % 32 / 4][of_lane(t)]; })});
    c.push_back(
        {"scores: stored by a product of tiles", ones([&](int t) { return &s.p[0][t % 32 / 4][2 * (t % 4)]; })});
  } else if constexpr (OwnKey) {
    using scores = typename kernel::own_score_place;
    c.push_back({"scores: q(i, l)", quads([&](int t) { return &s.query[scores(t).l][scores(t).i][0]; })});
    c.push_back({"scores: k(i, j)", quads([&](int t) { return &s.own_key[scores(t).i][scores(t).j][0]; })});
    c.push_back({"scores: stored", ones([&](int t) { return &s.p[scores(t).l][scores(t).i][scores(t).j]; })});
  } else {
    using scores = typename kernel::score_place;
    c.push_back({"scores: q(i, l)", quads([&](int t) { return &s.query[scores(t).l][scores(t).i][0]; })});
    c.push_back({"scores: k(l, j)", quads([&](int t) { return &s.key[scores(t).l][scores(t).j][0]; })});
    c.push_back({"scores: stored", ones([&](int t) { return &s.p[scores(t).l][scores(t).i][scores(t).j]; })});
  }
  c.push_back({"softmax: scores of one l", ones([&](int t) {
                 return t < kernel::tile_i * kernel::tile_j ? &s.p[0][t / kernel::tile_j][t % kernel::tile_j] : nullptr;
               })});
  auto const values = [&](auto const& f) { return worst<T>(s, threads, kernel::halves ? 2 : 4, f); };
  auto const channel = [](int t) {  // in f16, groups of eight channels are packed into the first half of their memory
    int const first = place(t).channel(0);
    return kernel::halves ? first / 8 * 8 + first % 8 / 2 : first;
  };
  c.push_back({"values: v1(i, l)", values([&](int t) { return &s.left[0][place(t).row(0)][channel(t)]; })});
  if constexpr (RightValue)
    c.push_back({"values: v2(l, j)", values([&](int t) { return &s.right[0][place(t).column(0)][channel(t)]; })});
  c.push_back({"values: p(i, l, j)", quads([&](int t) { return &s.p[0][place(t).row(0)][place(t).column(0)]; })});
  return c;
}

template <int Width, arithmetic Factors>
column rounded_column() {
  return forward_column<float, Width, false, true, product_path::tensor_cores, Factors>();
}

// ---- backward -------------------------------------------------------------------------------------------------------

template <class T, int Width, bool OwnKey = false, bool RightValue = true>
column backward_column() {
  using kernel = backward_kernel<T, Width, OwnKey, RightValue>;
  using place = typename kernel::place;
  using weights = typename kernel::weight_place;
  auto const room = std::make_unique<typename kernel::shared>();
  auto const& s = *room;
  constexpr int threads = kernel::threads, stride = kernel::stride, weight_stride = kernel::weight_stride;
  auto const quads = [&](auto const& f) { return worst<T>(s, threads, 4, f); };
  auto const ones = [&](auto const& f) { return worst<T>(s, threads, 1, f); };
  auto const of_rows = [&](auto const& f) { return worst<T>(s, threads / 2, 4, f); };
  column c;
  c.push_back({"weights: do(i, j)", quads([&](int t) { return &s.d_o[weights(t).i][weights(t).j * stride]; })});
  c.push_back({"weights: q(i, l)", quads([&](int t) { return &s.query[weights(t).l][weights(t).i * stride]; })});
  c.push_back({"weights: v1(i, l)", quads([&](int t) { return &s.left[weights(t).l][weights(t).i * stride]; })});
  if constexpr (OwnKey)
    c.push_back({"weights: k(i, j)", quads([&](int t) { return &s.own_key[weights(t).i][weights(t).j * stride]; })});
  else
    c.push_back({"weights: k(l, j)", quads([&](int t) { return &s.key[weights(t).l][weights(t).j * stride]; })});
  if constexpr (RightValue)
    c.push_back({"weights: v2(l, j)", quads([&](int t) { return &s.right[weights(t).l][weights(t).j * stride]; })});
  c.push_back({"weights: w and ds, stored",
               ones([&](int t) { return &s.w[weights(t).l][weights(t).i * weight_stride + weights(t).j]; })});
  c.push_back({"weights: m, 1/z and delta (i, j)", ones([&](int t) { return &s.delta[weights(t).i][weights(t).j]; })});
  c.push_back({"rows: do(i, j)", of_rows([&](int t) { return &s.d_o[place(t).first][place(t).c]; })});
  c.push_back(
      {"rows: w and ds (i, l, j)", of_rows([&](int t) { return &s.w[place(t).l][place(t).first * weight_stride]; })});
  if constexpr (RightValue)
    c.push_back({"rows: v2(l, j) and k(l, j)", of_rows([&](int t) { return &s.right[place(t).l][place(t).c]; })});
  c.push_back({"columns: do(i, j)", of_rows([&](int t) { return &s.d_o[0][place(t).first * stride + place(t).c]; })});
  c.push_back({"columns: w and ds (i, l, j)", of_rows([&](int t) { return &s.w[place(t).l][place(t).first]; })});
  c.push_back({"columns: v1(i, l) and q(i, l)", of_rows([&](int t) { return &s.left[place(t).l][place(t).c]; })});
  return c;
}

/// The backward pass has one more kernel if each node has its own key.
column own_key_column() {
  using kernel = own_key_kernel<float, 64, true>;
  using place = kernel::place;
  auto const room = std::make_unique<kernel::shared>();
  auto const& s = *room;
  return {
      {"own keys: q(i, l)", worst<float>(s, kernel::threads, 4,
                                         [&](int t) { return &s.query[0][place(t).i * kernel::stride + place(t).c]; })},
      {"own keys: ds (i, l, j)", worst<float>(s, kernel::threads, 1, [&](int t) {
         return &s.ds[0][place(t).i * kernel::weight_stride + place(t).j];
       })}};
}

// ---- graphs of a few nodes ------------------------------------------------------------------------------------------

/// The shared memory of one team of threads, for a graph of n nodes.
template <class Kernel, class T>
struct team_memory {
  using layout = typename Kernel::layout;
  int n, width;
  layout at;
  std::unique_ptr<typename Kernel::shared> room = std::make_unique<typename Kernel::shared>();
  T const* x = room->memory[0];

  team_memory(int nodes, int w) : n(nodes), width(w), at(nodes, w) {}
  int quads() const { return at.here(0, width); }
  int groups() const { return (n + Kernel::thread_ij - 1) / Kernel::thread_ij; }
  /// Returns the largest number of the tasks 0 .. count - 1.
  template <class F>
  int ways(int count, int elements, F const& element) const {
    return worst<T>(*room, count, elements, [&](int t) -> T const* { return t < count ? element(t) : nullptr; });
  }
};

template <class T, int N>
column small_forward_column(int n, int width) {
  using kernel = small_forward<T, N, false, true>;
  using task = typename kernel::team::task;
  team_memory<kernel, T> const m(n, width);
  auto const& at = m.at;
  auto const place = [&](int t) { return typename kernel::place(t, m.quads(), m.groups()); };
  int const tasks = 2 * n * n, outputs = m.groups() * m.groups() * m.quads();
  return {{"scores: q(i, l)", m.ways(tasks, 4, [&](int t) { return m.x + at.row(task(t, n).i, task(t, n).l); })},
          {"scores: k(l, j)", m.ways(tasks, 4,
                                     [&](int t) {
                                       task const my(t, n);
                                       return my.first < my.last ? m.x + at.matrix(1) + at.row(my.l, my.first)
                                                                 : nullptr;
                                     })},
          {"scores: stored", m.ways(tasks, 1,
                                    [&](int t) {
                                      task const my(t, n);
                                      return my.first < my.last ? m.x + at.cube(0) + at.triangle(my.l, my.i, my.first)
                                                                : nullptr;
                                    })},
          {"softmax: scores of one l",
           m.ways(n * n, 1, [&](int t) { return m.x + at.cube(0) + at.triangle(0, t / n, t % n); })},
          {"outputs: v1(i, l)", m.ways(outputs, 4, [&](int t) { return m.x + at.row(place(t).i, 0) + place(t).c; })},
          {"outputs: v2(l, j)",
           m.ways(outputs, 4, [&](int t) { return m.x + at.matrix(1) + at.row(0, place(t).j) + place(t).c; })},
          {"outputs: p(i, l, j)",
           m.ways(outputs, 1, [&](int t) { return m.x + at.cube(0) + at.triangle(0, place(t).i, place(t).j); })}};
}

template <class T, int N>
column small_backward_column(int n, int width) {
  using kernel = small_backward<T, N, false, true>;
  using task = typename kernel::team::task;
  team_memory<kernel, T> const m(n, width);
  auto const& at = m.at;
  auto const place = [&](int t) { return typename kernel::place(t, m.quads(), m.groups(), n); };
  int const tasks = 2 * n * n, sums = n * m.groups() * m.quads();
  auto const of_task = [&](auto const& row) {
    return m.ways(tasks, 4, [&](int t) {
      task const my(t, n);
      return my.first < my.last ? m.x + row(my) : nullptr;
    });
  };
  return {{"scores: q(i, l) and v1(i, l)", of_task([&](task const& my) { return at.row(my.i, my.l); })},
          {"scores: k(l, j) and v2(l, j)", of_task([&](task const& my) { return at.row(my.l, my.first); })},
          {"scores: do(i, j)", of_task([&](task const& my) { return at.row(my.i, my.first); })},
          {"softmax: q . k and dp of one l",
           m.ways(n * n, 1, [&](int t) { return m.x + at.cube(0) + at.triangle(0, t / n, t % n); })},
          {"rows: do(i, j)", m.ways(sums, 4, [&](int t) { return m.x + at.row(place(t).first, 0) + place(t).c; })},
          {"rows: k(l, j) and v2(l, j)",
           m.ways(sums, 4, [&](int t) { return m.x + at.row(place(t).one, 0) + place(t).c; })},
          {"rows: w and ds (i, l, j)",
           m.ways(sums, 1, [&](int t) { return m.x + at.cube(0) + at.triangle(place(t).one, place(t).first, 0); })},
          {"columns: do(i, j)", m.ways(sums, 4, [&](int t) { return m.x + at.row(0, place(t).first) + place(t).c; })},
          {"columns: q(i, l) and v1(i, l)",
           m.ways(sums, 4, [&](int t) { return m.x + at.row(0, place(t).one) + place(t).c; })},
          {"columns: w and ds (i, l, j)",
           m.ways(sums, 1, [&](int t) { return m.x + at.cube(0) + at.triangle(place(t).one, 0, place(t).first); })}};
}

// ---- attention ------------------------------------------------------------------------------------------------------

template <class T>
column attention_column() {
  using shared = typename triad::cuda::detail::attention_forward<T, false>::shared;
  constexpr int threads = triad::cuda::detail::attention_warps * warp, rows = triad::cuda::detail::attention_warp_rows;
  auto const room = std::make_unique<shared>();
  auto const& s = *room;
  auto const ones = [&](auto const& f) { return worst<T>(s, threads, 1, f); };
  auto const quads = [&](auto const& f) { return worst<T>(s, threads, 4, f); };
  return {{"copies of 16 bytes", quads([&](int t) { return &s.other[t / 8][t % 8 * 4]; })},
          {"copies of single elements", ones([&](int t) { return &s.other[t / warp][t % warp]; })},
          {"scores: the kept row", quads([&](int t) { return &s.query[t / warp * rows][0]; })},
          {"scores: the passing rows", quads([&](int t) { return &s.other[t % warp][0]; })},
          {"scores: stored", ones([&](int t) { return &s.weight[t / warp * rows][t % warp]; })},
          {"values: the weight", quads([&](int t) { return &s.weight[t / warp * rows][0]; })},
          {"values: the passing row", ones([&](int t) { return &s.other[0][t % warp]; })}};
}

TEST_CASE("ways of a bank are counted as a device serves threads: 32 at 4 bytes, 16 at 8, 8 at 16") {
  CHECK(ways(4, [](int t) { return 4 * t; }) == 1);
  CHECK(ways(4, [](int) { return 4; }) == 1);  // all threads read the same word
  CHECK(ways(4, [](int t) { return 8 * t; }) == 2);
  CHECK(ways(4, [](int t) { return 128 * t; }) == 32);
  CHECK(ways(8, [](int t) { return 8 * t; }) == 1);
  CHECK(ways(8, [](int t) { return 16 * t; }) == 2);
  CHECK(ways(16, [](int t) { return 16 * t; }) == 1);
  CHECK(ways(16, [](int t) { return 32 * t; }) == 2);
  CHECK(ways(16, [](int t) { return t == 3 ? 128 : t == 0 ? 0 : -1; }) == 2);
}

TEST_CASE("what the tables of the tiled triangle kernels say of banks is so") {
  check_table("triangle/forward.cuh",
              {forward_column<float, 16>(), forward_column<float, 32>(), forward_column<float, 64>(),
               forward_column<float, 128>(), forward_column<double, 16>(), forward_column<double, 32>(),
               forward_column<double, 64>(), forward_column<float, 64, false, false>(),
               forward_column<float, 64, true, true>(), rounded_column<64, arithmetic::tf32>(),
               rounded_column<16, arithmetic::f16>(), rounded_column<64, arithmetic::f16>()});
  check_table("triangle/backward.cuh",
              {backward_column<float, 16>(), backward_column<float, 32>(), backward_column<float, 64>(),
               backward_column<float, 128>(), backward_column<double, 16>(), backward_column<double, 32>(),
               backward_column<double, 64>(), backward_column<float, 64, false, false>(),
               backward_column<float, 64, true, true>()});
  check_table("triangle/backward.cuh", {own_key_column()});
}

TEST_CASE("what the tables of the other tiled kernels say of banks is so") {
  check_table("triangle/small.cuh", {small_forward_column<float, 6>(3, 50), small_forward_column<float, 6>(5, 50),
                                     small_forward_column<float, 6>(6, 50), small_forward_column<float, 16>(7, 50),
                                     small_forward_column<float, 16>(8, 50), small_forward_column<float, 16>(12, 50),
                                     small_forward_column<float, 16>(16, 50)});
  check_table("triangle/small_backward.cuh",
              {small_backward_column<float, 6>(3, 50), small_backward_column<float, 6>(5, 50),
               small_backward_column<float, 6>(6, 50), small_backward_column<float, 16>(7, 50),
               small_backward_column<float, 16>(8, 50), small_backward_column<float, 16>(12, 50),
               small_backward_column<float, 16>(16, 50)});
  check_table("device/attention_tile.cuh", {attention_column<float>(), attention_column<double>()});
}

}  // namespace cuda_on_host_banks_tests
