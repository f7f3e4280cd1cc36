// Tests attention among the nodes of graphs, relation-aware attention and attention to neighbours. Compares the CUDA
// backend with the reference, in device memory. Tests that need no device memory are in ops/ and run on every backend.
// Tests cuda/relation_attention.cuh and cuda/graph_attention.cuh.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cuda/graph_attention.cuh"

#include <cmath>
#include <vector>

#include "session.hpp"
#include "triad/cuda/relation_attention.cuh"

namespace cuda_on_host_graph_attention_tests {
namespace {

using namespace triad;
using namespace triad::test;

struct shape {
  std::vector<index_t> nodes;  // number of nodes in each graph
  index_t width, heads;
};
std::vector<shape> const shapes{{{1, 2, 0, 3, 4, 5}, 16, 4}, {{9, 7}, 40, 2}, {{3, 35}, 5, 1},
                                {{4, 1, 3}, 1, 2},           {{2}, 70, 1},    {{}, 4, 2}};

TEMPLATE_TEST_CASE("relation-aware attention on a device is that of the host", "", float, double) {
  for (auto const& z : shapes)
    for (double rate : {0.0, 0.3, 1.0})
      for (bool padded : {false, true}) {
        if (rate == 1 && z.width != 16) continue;
        auto const how = padded ? lying::every_second : lying::rows;
        CAPTURE(z.nodes.size(), z.width, z.heads, rate, padded);
        expect_reference<TestType>([&](auto& s, auto zero) {
          using T = decltype(zero);
          ragged const host(z.nodes);
          auto const g = s.put(host);
          index_t const n = host.dims.nodes, rows = host.dims.rows, d = z.width * z.heads;
          std::uint64_t stream = 0;
          auto const of_node = [&] { return s.put(random_values<T>(n * d, ++stream, 1.5), n, d, how); };
          auto const of_edge = [&] { return s.put(random_values<T>(rows * d, ++stream, 1.5), rows, d, how); };
          relation_operands<T const> const x{of_node(), of_node(), of_node(), of_edge(), of_edge()};
          relation_operands<T> const dx{of_node(), of_node(), of_node(), of_edge(), of_edge()};
          auto const c = s.template spoiled<T>(n, d, how), dc = of_node();
          auto const weights = s.template spoiled<T>(z.heads * rows);
          relation_attention_options settings{
              z.heads, {}, {rate, 99, 3, s.put(std::vector<std::uint64_t>{4}).data_handle()}};
          std::vector<std::uint8_t> masked;
          for (auto nodes : z.nodes)
            for (index_t e = 0; e < nodes * nodes; ++e)
              masked.push_back(nodes >= 3 && (e / nodes == nodes - 1 || e % nodes == nodes - 1));
          if (padded) settings.mask.masked = s.put(masked);
          relation_attention(s.ex, settings, x, g, weights, c);
          for (auto how_much : {edge_gradients::overwritten, edge_gradients::added})
            relation_attention_grad(s.ex, settings, x, g, vec<T const>(weights), matrix<T const>(c),
                                    matrix<T const>(dc), dx, how_much);
          s.collect(weights);
          matrix<T> const found[] = {c, dx.query, dx.key,
                                     // nvcc cannot parse a list of members in a `for` statement.
                                     dx.value, dx.edge_key, dx.edge_value};
          for (auto const& m : found) s.collect(m);
        });
      }
}

TEMPLATE_TEST_CASE("graph attention on a device is that of the host", "", float, double) {
  for (auto const& z : shapes)
    for (double rate : {0.0, 0.3, 1.0})
      for (auto how : {lying::rows, lying::every_second}) {
        if (rate == 1 && z.width != 16) continue;
        CAPTURE(z.nodes.size(), z.width, z.heads, rate, static_cast<int>(how));
        expect_reference<TestType>([&](auto& s, auto zero) {
          using T = decltype(zero);
          ragged const host(z.nodes);
          auto const g = s.put(host);
          index_t const n = host.dims.nodes, rows = host.dims.rows, d = z.width * z.heads;
          std::uint64_t stream = 0;
          auto const drawn = [&](index_t count, index_t columns) {
            return s.put(random_values<T>(count * columns, ++stream, 1.5), count, columns, how);
          };
          auto const operands = [&] {
            auto const query = drawn(n, z.heads), key = drawn(n, z.heads), edge = drawn(rows, z.heads),
                       value = drawn(n, d), edge_value = drawn(rows, d);
            return graph_attention_operands<T>{query, key, edge, value, edge_value};
          };
          auto const dx = operands(), in = operands();
          graph_attention_operands<T const> const x{in.query_score, in.key_score, in.edge_score, in.value,
                                                    in.edge_value};
          random_stream random(3, 1);
          std::vector<index_t> labels;
          for (index_t r = 0; r < rows; ++r) labels.push_back(random.below(4) == 0);
          vec<index_t const> const label = s.put(labels);
          auto const c = s.template spoiled<T>(n, d, how), dc = drawn(n, d);
          auto const weights = s.template spoiled<T>(z.heads * rows);
          graph_attention_options const options{
              z.heads, 0.2, {rate, 99, 3, s.put(std::vector<std::uint64_t>{4}).data_handle()}};
          graph_attention(s.ex, options, x, g, label, weights, c);
          for (auto how_much : {edge_gradients::overwritten, edge_gradients::added})
            graph_attention_grad(s.ex, options, x, g, label, vec<T const>(weights), matrix<T const>(c),
                                 matrix<T const>(dc), dx, how_much);
          s.collect(weights);
          matrix<T> const found[] = {c,        dx.query_score, dx.key_score, dx.edge_score,
                                     dx.value, dx.edge_value};  // nvcc cannot parse a list of members in a `for`
          for (auto const& m : found) s.collect(m);
        });
      }
}

TEST_CASE("a NaN among scores or values shows in the result of graph attention") {
  session<triad::cuda::backend> s(device());
  auto const g = s.put(ragged({3}));
  vec<index_t const> const label = s.put(std::vector<index_t>{0, 1, 0, 0, 0, 0, 0, 0, 0});  // one edge, from 0 to 1
  auto const score = [&](double first) { return s.put(std::vector<double>{first, 1, 2}, 3, 1); };
  auto const edge = s.put(random_values<double>(9, 1), 9, 1), edge_value = s.put(random_values<double>(18, 2), 9, 2);
  for (bool in_score : {false, true}) {
    auto const c = s.put(std::vector<double>(6), 3, 2);
    auto const value = s.put(std::vector<double>{in_score ? 1 : NAN, 1, 2, 3, 4, 5}, 3, 2);
    graph_attention_operands<double const> const x{score(in_score ? NAN : 1), score(1), edge, value, edge_value};
    graph_attention(device(), {}, x, g, label, s.put(std::vector<double>(9)), c);
    s.results.clear();
    s.collect(c);
    CHECK(std::isnan(s.results[0]));
    CHECK(std::isnan(s.results[2]) != in_score);
    CHECK_FALSE(std::isnan(s.results[4]));  // the third node has no neighbour
  }
}

TEST_CASE("a NaN among scores or values shows in the result of relation-aware attention") {
  session<triad::cuda::backend> s(device());
  auto const g = s.put(ragged({3}));
  auto const node = [&](double first) { return s.put(std::vector<double>{first, 1, 2, 3, 4, 5}, 3, 2); };
  auto const edge = s.put(random_values<double>(18, 1), 9, 2);
  for (bool in_query : {false, true}) {
    auto const c = s.put(std::vector<double>(6), 3, 2);
    relation_operands<double const> const x{node(in_query ? NAN : 1), node(1), node(in_query ? 1 : NAN), edge, edge};
    relation_attention(device(), {}, x, g, s.put(std::vector<double>(9)), c);
    s.results.clear();
    s.collect(c);
    CHECK(std::isnan(s.results[0]));
    CHECK(std::isnan(s.results[2]) != in_query);
  }
}

}  // namespace
}  // namespace cuda_on_host_graph_attention_tests
