// Tests traces of a tree machine. For any fillers and any interpreter, a trace must have what a pass has chosen and
// written.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/tree_trace.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/models/machine_use.hpp"
#include "tests/role_matrices.hpp"
#include "tests/tree/logical_form.hpp"

namespace models_tree_trace_tests {

using namespace triad;
using test::contains, test::machine_use, test::some_maps, test::some_trees, test::WithinAbs;

constexpr index_t depth = 4, batch = 3, steps = 5, symbols = 6;
transformer_layer_options const layer{6, 2, 8, 0, norm_position::before, activation::gelu};

/// Makes a pass, and the traces of the pass.
template <class Ex, class Model>
struct traced_pass {
  std::vector<tree_trace> traces;
  std::vector<index_t> answers;  // (batch N)

  traced_pass(Ex& ex, Model const& model, some_trees<float>& trees) {
    machine_use<Model> use(model);
    auto const in = trees.all().first;
    test::spoiled_memory const memory([&](arena& a) {
      (void)model.plan_output(a, in.sizes);
      return model.plan_saved(a, in.sizes, keep::nothing);
    });
    auto place = memory.place();
    auto const scores = model.plan_output(place, in.sizes);
    auto const s = model.plan_saved(place, in.sizes, keep::nothing);
    test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
      model.forward(backend, c, use.parameters.values(), in, s, scores);
    });
    answers.resize(static_cast<std::size_t>(scores.extent(0)));
    decode_rows(ex, as_matrix(read_only(scores)), decode_threshold, make_vec(answers.data(), scores.extent(0)));
    traces = traces_of(ex, model, use.parameters.values(), trees.where, in, s);
    auto const plain = traces_of(model, memory_of(ex), in, s);
    for (std::size_t b = 0; b < plain.size(); ++b)
      for (std::size_t k = 0; k < plain[b].size(); ++k) {
        CHECK(plain[b][k].operations == traces[b][k].operations);
        CHECK(plain[b][k].arguments == traces[b][k].arguments);
        CHECK(plain[b][k].tree.empty());
      }
  }
};

/// Checks that each node of the tree has the label with the largest score at its position, and that this score is not
/// below the bound.
void check_symbols(traced_step const& step, tree_positions<> const& where) {
  std::vector<written_symbol> best(static_cast<std::size_t>(where.count()), {0, 0, 0});
  index_t last = 0;
  for (auto const& s : step.symbols) {
    CHECK(s.score >= least_written);
    CHECK(s.position >= last);
    last = s.position;
    auto& at = best[static_cast<std::size_t>(s.position)];
    if (s.score > at.score) at = s;
  }
  each_role(step.tree, role_paths(2), [&](index_t label, role_code role) {
    auto const& at = best[static_cast<std::size_t>(role_paths(2).position(role))];
    if (at.score > 0) CHECK(at.label == label);
  });
}

TEMPLATE_TEST_CASE("a trace has distributions, and its last tree is the machine's answer", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  some_trees<float> unit(2, depth, batch, steps, symbols), general(2, depth, batch, steps, symbols, 4);
  some_maps<float> const maps(unit.where, false, unit.where.count() + 1);
  auto const check = [&](auto const& model, some_trees<float>& trees) {
    traced_pass const found(ex, model, trees);
    REQUIRE(found.traces.size() == static_cast<std::size_t>(batch));
    auto const count = static_cast<std::size_t>(trees.where.count());
    std::size_t written = 0;
    for (std::size_t b = 0; b < found.traces.size(); ++b) {
      auto const& trace = found.traces[b];
      REQUIRE(trace.size() == static_cast<std::size_t>(steps));
      for (std::size_t k = 0; k < trace.size(); ++k) {
        auto const& o = trace[k].operations;
        CHECK_THAT(o[0] + o[1] + o[2], WithinAbs(1, 1e-5));
        REQUIRE(trace[k].arguments.size() == k + 1);
        for (std::size_t a = 0; a < 4; ++a) {
          double sum = 0;
          for (auto const& weights : trace[k].arguments) sum += weights[a];
          CHECK_THAT(sum, WithinAbs(1, 1e-5));
        }
        CHECK(trace[k].root > 0);
        CHECK(trace[k].root < symbols);
        check_symbols(trace[k], trees.where);
        written += trace[k].symbols.size();
      }
      CHECK(trace.back().tree ==
            tree_of_labels(trees.where, make_vec(found.answers.data() + b * count, trees.where.count())));
    }
    CHECK(written > 0);
  };
  check(tree_machine<float>(tree_interpreter<float>(unit.where), unit.where.count(), unit.sizes(layer, 2)), unit);
  check(tree_machine<float>(tree_interpreter<float>(general.where), general.where.count(), general.sizes(layer, 2)),
        general);
  check(
      tree_machine<float, matrix_interpreter<float>>(maps.interpreter(false), unit.where.count(), unit.sizes(layer, 1)),
      unit);
}

TEMPLATE_TEST_CASE("fillers that are the unit vectors, said to be or not, give one trace", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  some_trees<float> unit(2, depth, batch, steps, symbols), general(2, depth, batch, steps, symbols, symbols);
  std::fill(general.table.begin(), general.table.end(), 0.0f);
  for (index_t v = 1; v < symbols; ++v) general.table[static_cast<std::size_t>(v * symbols + v)] = 1;
  auto const model = [&](some_trees<float> const& trees) {
    return tree_machine<float>(tree_interpreter<float>(trees.where), trees.where.count(), trees.sizes(layer, 2));
  };
  traced_pass const one(ex, model(unit), unit), other(ex, model(general), general);
  for (std::size_t b = 0; b < one.traces.size(); ++b)
    for (std::size_t k = 0; k < one.traces[b].size(); ++k) {
      auto const &x = one.traces[b][k], &y = other.traces[b][k];
      CHECK(x.root == y.root);
      CHECK_THAT(y.root_score, WithinAbs(x.root_score, 1e-5));
      CHECK(x.tree == y.tree);
      for (std::size_t j = 0; j < 3; ++j) CHECK_THAT(y.operations[j], WithinAbs(x.operations[j], 1e-5));
    }
}

/// Gives the interpreter the choices of a program, each with weight 1, and reads a program from the trace. The trees
/// that the interpreter writes as vectors must equal the trees that the program writes as symbols. Returns the text of
/// the last tree for each source.
template <class Ex>
std::vector<std::string> check_written(Ex& ex, test::words& w, std::vector<numbered_tree> const& sources,
                                       tree_program const& p, bool empty_tree) {
  tree_positions<> const where(2, depth);
  auto const v = w.labels.size(), program_steps = static_cast<index_t>(p.size()),
             count = static_cast<index_t>(sources.size());
  tree_loader<reference::backend, float> loader({where, program_steps, v, count, empty_tree});
  for (auto const& source : sources) {
    test::tree_nodes nodes;
    each_role(source, role_paths(2),
              [&](index_t label, role_code role) { nodes.push_back({role_paths(2).position(role), label}); });
    loader.add(nodes, nodes);
  }
  auto const in = loader.upload().first;
  tree_machine<float> const model(tree_interpreter<float>(where), where.count(),
                                  {program_steps, v, true, {layer, 1, 2, v}, tree_root::scores, empty_tree});
  machine_use<tree_machine<float>> use(model);
  test::spoiled_memory const memory([&](arena& a) { return model.plan_saved(a, in.sizes, keep::nothing); });
  auto place = memory.place();
  auto const s = model.plan_saved(place, in.sizes, keep::nothing);
  tree_pass<float> const pass{in.support, s.memory, s.weights};
  test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
    model.interpreter.bind(backend, {}, in.fillers, in.symbols, *c.scratch, pass);
    for (index_t k = 0; k < program_steps; ++k) {
      auto const& step = p[static_cast<std::size_t>(k)];
      auto const operation = static_cast<index_t>(step.what);
      if constexpr (executes<std::remove_reference_t<decltype(backend)>>)
        for (index_t b = 0; b < count; ++b) {
          for (index_t j = 0; j < 3; ++j) s.operation(k)(b, j) = j == operation ? 1.0f : 0.0f;
          for (index_t f = 0; f < v; ++f) s.root(k)(b, f) = f == step.root && operation == 2 ? 1.0f : 0.0f;
          for (index_t l = 0; l < s.arguments.extent(2); ++l)
            for (index_t a = 0; a < 4; ++a) {
              auto const tree = step.tree(static_cast<tree_argument>(a));
              bool const taken = l == (tree == no_tree ? k + 1 : tree);
              s.arguments(k, b, l, a) = taken ? 1.0f : 0.0f;
              s.weights(k, b, l, a) = taken && std::min(a, index_t{2}) == operation ? 1.0f : 0.0f;
            }
        }
      model.interpreter.forward(backend, c, {}, pass, k, as_matrix(read_only(s.root(k))));
    }
  });
  auto const found = traces_of(ex, model, use.parameters.values(), where, in, s);
  REQUIRE(found.size() == sources.size());
  std::vector<std::string> last;
  for (std::size_t b = 0; b < found.size(); ++b) {
    auto const read = likeliest(found[b]);
    CHECK(read.back() == p.back());
    CHECK(to_text(read, w.labels) == to_text(p, w.labels));
    CHECK(found[b][0].empty.has_value() == empty_tree);
    auto const trees = execute(read, sources[b], depth);
    CHECK(certainty(found[b], read, trees) == 1);
    for (std::size_t k = 0; k < p.size(); ++k) {
      CHECK(found[b][k].tree == trees[k + 1]);
      CHECK(found[b][k].symbols.size() == static_cast<std::size_t>(trees[k + 1].size()));  // not a mixture of trees
      for (auto const& written : found[b][k].symbols) CHECK(written.score == 1);
    }
    last.push_back(w.text(found[b].back().tree));
  }
  return last;
}

TEMPLATE_TEST_CASE("the program of choices without doubt writes the machine's trees", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  test::words w;
  std::vector<numbered_tree> const sources{w.number("( S ( NP ann ) ( VP ( V saw ) ( NP bob ) ) )"),
                                           w.number("( S ( NP bob ) ( VP ( V heard ) ( NP cat ) ) )")};
  CHECK(check_written(ex, w, sources, test::to_logical_form(w), false)[1] ==
        "( LF ( V heard ) ( ARGS ( NP bob ) ( NP cat ) ) )");
}

TEMPLATE_TEST_CASE("so does one whose arguments are the empty tree, which is in memory with the other trees", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  test::words w;
  std::vector<numbered_tree> const sources{w.number("( S ( NP ann ) ( VP ( V saw ) ( NP bob ) ) )")};
  auto const by = w.labels.insert("by"), pp = w.labels.insert("PP");
  tree_program const p{{tree_operation::cons, no_tree, no_tree, by},  // T1 by
                       {tree_operation::car, 0, 0, 0},                // T2 ( NP ann )
                       {tree_operation::cdr, no_tree, 0, 0},          // T3 <empty>, not needed
                       {tree_operation::cons, 1, 2, pp},              // T4 ( PP by ( NP ann ) )
                       {tree_operation::cons, no_tree, 4, by}};       // T5, which has only a right child
  CHECK(check_written(ex, w, sources, p, true)[0] == "( by ( PP by ( NP ann ) ) )");
}

TEST_CASE("trees that branch in three, and positions of another machine, are refused") {
  reference::backend ex;
  some_trees<float> three(3, 3, 1, 2, symbols), two(2, depth, 1, 2, symbols);
  using model = tree_machine<float>;
  CHECK_THROWS_WITH(
      (traced_pass(ex, model(tree_interpreter<float>(three.where), three.where.count(), three.sizes(layer, 1)), three)),
      contains("trees of branching 3, expected 2"));
  model const m(tree_interpreter<float>(two.where), two.where.count(), two.sizes(layer, 1));
  machine_use<model> use(m);
  auto const in = two.all().first;
  test::spoiled_memory const memory([&](arena& a) { return m.plan_saved(a, in.sizes, keep::nothing); });
  auto place = memory.place();
  auto const s = m.plan_saved(place, in.sizes, keep::nothing);
  CHECK_THROWS_WITH(traces_of(ex, m, use.parameters.values(), tree_positions<>(2, depth + 1), in, s),
                    contains("positions, expected"));
}

}  // namespace models_tree_trace_tests
