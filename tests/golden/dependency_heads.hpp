// Golden files of kind dep_heads: scores of parents and logits of relations. They are computed from the states of
// edges, or from products of the states of two tokens.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "family.hpp"
#include "triad/layers/heads/biaffine_heads.hpp"
#include "triad/layers/heads/edge_heads.hpp"

namespace triad::golden {

struct dep_heads {
  static constexpr std::string_view kind = "dep_heads";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    index_t const d = file.size("d"), relations = file.size("relations");
    auto const heads = file.config.at("heads").get<std::string>();
    if (heads == "edge") return check_heads<T>(ex, file, r, edge_heads<T>(d, {relations}));
    if (heads == "biaffine") return check_heads<T>(ex, file, r, biaffine_heads<T>(d, {relations, file.size("inner")}));
    throw data_error("heads is " + heads + "; edge and biaffine are known");
  }

 private:
  template <class T, backend Ex, class Heads>
  static void check_heads(Ex& ex, golden_file const& file, report& r, Heads const& heads) {
    workbench<Ex> bench(ex);
    index_t const graphs = file.size("B"), n = file.size("n"), d = heads.width();
    renaming const names{{{"ends", ""}}};
    auto params = load_parameters(bench, heads, file, names);

    token_sequences<T> in{};
    in.graphs = bench.complete_graphs(graphs, n);
    in.self = bench.self_edges(graphs, n);
    token_pairs const pairs{bench.make_vec(file.integers("in/edge")), bench.make_vec(file.integers("in/child")),
                            bench.make_vec(file.integers("in/parent"))};

    auto const values = file.values("in/x");
    auto const x = bench.template make_from<tensor<T const, dyn, dyn>>(values, std::ssize(values) / d, d);
    auto const dx = bench.template make<typename Heads::states>(x.extent(0), d);
    auto const arc = bench.template make<vec<T>>(in.graphs.dims.rows);
    auto const relation = bench.template make<tensor<T, dyn, dyn>>(pairs.count(), heads.relations);
    auto const darc = bench.template make_from<vec<T const>>(file.values("cotangent/arc"), in.graphs.dims.rows);
    auto const drelation = bench.template make_from<tensor<T const, dyn, dyn>>(file.values("cotangent/relation"),
                                                                               pairs.count(), heads.relations);
    auto const saved = bench.place([&](arena& a) { return heads.plan_saved(a, in.graphs.dims); });
    bench.run([&](auto& backend, call const& c) {
      heads.forward(backend, c, params.values(), in, x, saved, arc);
      heads.relate(backend, c, params.values(), x, saved, pairs, relation);
      heads.backward(backend, c, params.values(), in, x, saved, pairs, darc, drelation, dx, params.gradients());
    });
    r.output("arc", bench.read(arc));
    r.output("relation", bench.read(relation));
    r.output("loss", std::vector<double>{inner_product(bench.read(arc), file.values("cotangent/arc")) +
                                         inner_product(bench.read(relation), file.values("cotangent/relation"))});
    r.gradient("in/x", bench.read(dx));
    compare_gradients(bench, params, r, names);
  }
};

}  // namespace triad::golden
