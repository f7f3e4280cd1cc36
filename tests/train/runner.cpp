// Tests inference without a trainer, for models and for single layers. For every size up to the largest, the bits must
// equal those of a trainer.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/runner.hpp"

#include <algorithm>
#include <vector>

#include "tests/allocation_count.hpp"
#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/ragged.hpp"
#include "tests/train/small_graphs.hpp"
#include "triad/layers/chain.hpp"
#include "triad/layers/feed_forward.hpp"
#include "triad/layers/relation_layer.hpp"
#include "triad/layers/transformer_layer.hpp"

namespace train_runner_tests {

using namespace triad;
using test::contains;
using test::numbers;

TEMPLATE_TEST_CASE("a runner of a model says what a trainer says, and holds no more than one that only answers", "",
                   TRIAD_TEST_BACKENDS) {
  test::small_run<TestType> r(keep::everything, 0.3), answering(keep::nothing);
  runner run(r.ex, r.learner.model(), room_for(r.data, 9));
  put_snapshot(r.learner.snapshot(), run.parameters());
  for (index_t const most : {9, 2}) {
    for (auto const& [in, targets] : batches(r.loader, r.data, test::add_small_graph, {.most = most}))
      CHECK(numbers(run(in)) == numbers(r.learner.infer(in)));
  }
  CHECK(run.bytes() <= answering.learner.bytes().total());
}

using encoder = repeat<float, transformer_layer<float>>;
encoder three_layers() {
  return {transformer_layer<float>({.width = 8, .heads = 2, .hidden = 16, .dropout = 0.3}), extents<dyn>(3), false};
}

// A sentence of n tokens, with its states.
struct sentence {
  index_t size[1], first[1] = {0};
  std::vector<float> states;

  explicit sentence(index_t n) : size{n}, states(test::random_values<float>(n * 8, static_cast<std::uint64_t>(n))) {}
  encoder::input in() const {
    return {tensor<float const, dyn, dyn>(states.data(), size[0], 8),
            {1, size[0], size[0], make_vec(size, 1), make_vec(first, 1)}};
  }
};

TEST_CASE("an encoder without heads runs on its own, and its result does not depend on what ran before") {
  cpu::backend ex(1);
  auto const layer = three_layers();
  runner run(ex, layer, row_dims(12));
  initialize(run.parameters(), 1);
  sentence const small(4), large(12);
  auto const first = numbers(run(small.in()));
  REQUIRE(first.size() == 4 * 8);
  auto const whole = numbers(run(large.in()));  // scratch memory must grow for this call
  CHECK(numbers(run(small.in())) == first);

  // Computes the same results by hand, in memory that starts as NaN.
  parameter_set<encoder, cpu::backend> parameters(layer, holding::values);
  initialize(parameters, 1);
  test::spoiled_memory const memory([&](arena& a) { return layer.plan_saved(a, row_dims(12), keep::everything); });
  auto place = memory.place();
  auto const saved = layer.plan_saved(place, row_dims(12), keep::everything);
  std::vector<float> result(12 * 8);
  test::with_scratch(ex, {}, [&](auto& on, call const& c) {
    layer.forward(on, c, parameters.values(), large.in(), saved, tensor<float, dyn, dyn>(result.data(), 12, 8));
  });
  CHECK(whole == result);
}

TEST_CASE("a pass that was made before allocates nothing, nor does a smaller one") {
  cpu::backend ex(1);
  runner run(ex, three_layers(), row_dims(12));
  initialize(run.parameters(), 1);
  sentence const small(4), large(12);
  run(large.in());
  auto const before = test::allocations.load();
  run(large.in());
  run(small.in());
  CHECK(test::allocations.load() == before);

  test::small_run<cpu::backend> r(keep::nothing);
  runner model(ex, r.learner.model(), room_for(r.data, 9));  // measures memory now
  initialize(model.parameters(), 1);
  for (auto const& g : r.data) test::add_small_graph(r.loader, g);
  auto const in = r.loader.upload().first;
  r.learner.infer(in);  // threads start here, and BLAS allocates its buffers
  auto const made = test::allocations.load();
  model(in);
  CHECK(test::allocations.load() == made);
}

TEST_CASE("an input larger than the largest is refused with both sizes") {
  cpu::backend ex(1);
  runner run(ex, three_layers(), row_dims(4));
  CHECK_THROWS_WITH(run(sentence(40).in()),
                    contains("runner: a batch of 40 rows does not fit") && contains("is 4 rows"));
}

TEST_CASE("layers over rows and over graphs run, and compute all rows") {
  cpu::backend ex(1);
  runner rows(ex, chain(feed_forward<double>(3, 5, 4), linear<double>{extents<dyn, dyn>(4, 2)}), row_dims(6));
  initialize(rows.parameters(), 1);
  auto const x = test::random_values(6 * 3, 1);
  auto const y = rows(tensor<double const, dyn, dyn>(x.data(), 6, 3));
  REQUIRE((y.extent(0) == 6 && y.extent(1) == 2));
  auto const last = y(5, 1);
  auto const z = rows(tensor<double const, dyn, dyn>(x.data() + 15, 1, 3));
  REQUIRE(z.extent(0) == 1);
  CHECK_THAT(z(0, 1), test::WithinRel(last, 1e-12));

  test::ragged const shape({3, 2});
  runner edges(ex, edge_transformer_layer<double>({.width = 6, .heads = 2, .hidden = 8}), shape.dims);
  initialize(edges.parameters(), 1);
  auto const states = test::random_values(13 * 6, 2);
  edge_input<double, dyn> const in{tensor<double const, dyn, dyn>(states.data(), 13, 6), shape.batch()};
  CHECK(edges(in).extent(0) == 13);
  auto some = in;
  std::vector<index_t> const rows_of_two{0, 7};
  some.wanted = make_vec(rows_of_two.data(), index_t{2});
  CHECK_THROWS_WITH(edges(some), contains("`wanted` rows, expected none"));

  runner nodes(ex, relation_layer<double>({.width = 6, .heads = 2, .hidden = 8}), shape.dims);
  initialize(nodes.parameters(), 1);
  auto const relations = test::random_values(13 * 12, 3);
  relation_input<double, dyn> of_nodes{tensor<double const, dyn, dyn>(states.data(), 5, 6),
                                       tensor<double const, dyn, dyn>(relations.data(), 13, 12), shape.batch()};
  CHECK(nodes(of_nodes).extent(0) == 5);
  of_nodes.wanted = {some.wanted, some.wanted};
  CHECK_THROWS_WITH(nodes(of_nodes), contains("`wanted` rows, expected none"));
}

// An input type for which the number of rows is unknown.
template <class T>
struct doubling {
  struct pair {
    tensor<T const, dyn, dyn> a;
  };
  using input = pair;
  using output = tensor<T, dyn, dyn>;
  using planned_with = row_dims;
  template <class S>
  struct fields {
    vec<S> factor;
    template <class F>
    void each(F&& f) {
      f("factor", factor);
    }
  };
  struct saved {};
  index_t out() const { return 2; }
  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {place.make<vec<S>>(1)};
  }
  saved plan_saved(arena&, row_dims, keep = keep::everything) const { return {}; }
  template <class Ex>
  void forward(Ex& ex, call const&, fields<T const>, input in, saved, output y) const {
    transform(ex, plus{}, in.a, in.a, y);
  }
};

TEST_CASE("an input that does not say its sizes is given with them") {
  cpu::backend ex(1);
  runner run(ex, doubling<float>(), row_dims(3));
  float const x[] = {1, 2, 3, 4};
  CHECK_THROWS_WITH(run({tensor<float const, dyn, dyn>(x, 2, 2)}, row_dims(2)),
                    contains("runner: every parameter is zero"));
  (void)run.parameters().mutable_values();
  auto const y = run({tensor<float const, dyn, dyn>(x, 2, 2)}, row_dims(2));
  CHECK(numbers(y) == std::vector<float>{2, 4, 6, 8});
}

}  // namespace train_runner_tests
