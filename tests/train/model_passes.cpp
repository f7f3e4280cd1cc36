// Tests passes over a batch in planned memory. Their results must equal those of a trainer's passes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/model_passes.hpp"

#include <cstdint>
#include <vector>

#include "tests/allocation_count.hpp"
#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/train/small_graphs.hpp"

namespace train_model_passes_tests {

using namespace triad;
using test::contains;
using test::numbers;

// Makes passes with the parameters of a trainer, but without the trainer.
template <class Ex>
struct beside_trainer {
  using model = edge_transformer<float>;

  test::small_run<Ex> r;
  std::uint64_t step = 0;
  model_passes<model, Ex> passes;

  explicit beside_trainer(double dropout)
      : r(keep::everything, dropout),
        passes(r.ex, r.learner.model(), r.learner.options().capacity, keep::everything, r.learner.options().key,
               &step) {}
  std::vector<float> scores(typename model::input const& in, bool train) {
    auto const values = r.learner.parameters().values();
    return numbers(passes.forward(values, in, train, [](call const&, auto const&) {}));
  }
};

TEMPLATE_TEST_CASE("a pass says what a trainer says, and needs the memory that its plan names", "",
                   TRIAD_TEST_BACKENDS) {
  beside_trainer<TestType> b(0.3);
  auto const planned = b.r.learner.bytes();
  using passes = decltype(b.passes);
  auto const& capacity = b.r.learner.options().capacity;
  CHECK(passes::saved_bytes(b.r.learner.model(), capacity, keep::everything) == planned.saved);
  CHECK(passes::scratch_bytes(b.r.ex, b.r.learner.model(), capacity, keep::everything) == planned.scratch);
  for (auto const& [in, targets] : b.r.pass(0)) {
    auto const quiet = b.scores(in, false);
    CHECK(quiet == numbers(b.r.learner.infer(in)));
    b.step = 0;
    auto const first = b.scores(in, true);
    CHECK(first != quiet);
    b.step = 1;  // every pass reads the step
    CHECK(b.scores(in, true) != first);
  }
}

TEMPLATE_TEST_CASE("loss and backward find what a pass has left", "", TRIAD_TEST_BACKENDS) {
  beside_trainer<TestType> b(0.3);
  auto& learner = b.r.learner;
  for (auto const& [in, targets] : b.r.pass(0)) {
    learner.compute_gradient(in, targets);
    auto const gradient = learner.parameters().flat_gradients();
    std::vector<float> const expected(gradient.data_handle(), gradient.data_handle() + gradient.extent(0));
    auto const loss = learner.loss();

    learner.parameters().zero_gradients(b.r.ex);
    float found = 0;
    auto const values = learner.parameters().values();
    auto const& input = in;
    auto const& answers = targets;
    (void)b.passes.forward(values, in, true, [&](call const& c, auto const& at) {
      b.passes.applied().loss(b.r.ex, *c.scratch, input, at.scores, answers, make_vec(&found, 1), at.d_scores);
      b.passes.applied().backward(b.r.ex, c, values, input, at.saved, at.d_scores, learner.parameters().gradients());
    });
    CHECK(found == loss);
    CHECK(std::vector<float>(gradient.data_handle(), gradient.data_handle() + gradient.extent(0)) == expected);
  }
}

TEST_CASE("a pass allocates nothing") {
  beside_trainer<cpu::backend> b(0.3);
  for (auto const& g : b.r.data) test::add_small_graph(b.r.loader, g);
  auto const in = b.r.loader.upload().first;
  auto const values = b.r.learner.parameters().values();
  auto const pass = [&] { (void)b.passes.forward(values, in, true, [](call const&, auto const&) {}); };
  pass();  // threads start here, and BLAS allocates its buffers
  auto const made = test::allocations.load();
  pass();
  CHECK(test::allocations.load() == made);
}

TEST_CASE("a batch that is too large, and a depth that is not planned for, are refused") {
  beside_trainer<cpu::backend> b(0);
  model_passes<edge_transformer<float>, cpu::backend> small(b.r.ex, b.r.learner.model(), room_for(b.r.data, 1),
                                                            keep::nothing, 1, &b.step);
  auto const values = b.r.learner.parameters().values();
  for (auto const& [in, targets] : b.r.pass(0, 9)) {
    auto const& input = in;
    CHECK_THROWS_WITH(small.forward(values, input, false, [](call const&, auto const&) {}),
                      contains("model_passes: a batch of 9 graphs") &&
                          contains("does not fit: the capacity that it was made with is"));
    auto const two = b.scores(in, false);
    b.passes.set_depth(1);
    CHECK(b.passes.applied().layers.count() == 1);
    CHECK(b.passes.model().layers.count() == 2);
    CHECK(b.scores(in, false) != two);
    b.passes.set_depth(2);
    CHECK(b.scores(in, false) == two);
  }
  CHECK_THROWS_WITH(b.passes.set_depth(3), contains("expected 1 to 2, which memory is planned for"));
  CHECK_THROWS_WITH(b.passes.set_depth(0), contains("expected 1 to 2, which memory is planned for"));
}

}  // namespace train_model_passes_tests
