// Tests moving averages of parameters: the formula, that an exchange of averages and parameters keeps every bit, and
// resumed runs.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/averages.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "tests/allocation_count.hpp"
#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/train/small_graphs.hpp"
#include "tests/train/two_layers.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/find_rate.hpp"
#include "triad/train/fit.hpp"

namespace train_averages_tests {

using namespace triad;
using triad::test::contains;
using triad::test::WithinRel;

template <class T>
std::vector<T> copied(vec<T const> v) {
  return {v.data_handle(), v.data_handle() + v.extent(0)};
}

TEMPLATE_TEST_CASE("the decay rises to what is asked for, and the first average is the parameters", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  parameter_set<test::two_layers<double>, TestType> parameters(test::two_layers<double>(3, 5, 2));
  parameter_averages mean(ex, parameters, 0.3);
  auto const w = parameters.flat_values();
  auto const set_all = [&](double value) {
    auto const values = parameters.mutable_values();
    walk(values, [&](std::string const&, auto view) { std::fill_n(view.data_handle(), view.size(), value); });
  };
  auto const average = [&] { return mean.values().second.bias(0); };
  set_all(5);
  mean.update();
  CHECK(copied(mean.flat_values()) == copied(vec<double const>(w)));  // the gaps between tensors stay zero, too
  // The decay d is 1/10, 2/11, 3/12, and then 0.3, which is less than 4/13.
  double expected = 5;
  std::vector<double> const decays{0.1, 2.0 / 11, 0.25, 0.3, 0.3};
  for (std::size_t t = 0; t < decays.size(); ++t) {
    double const value = t % 2 == 0 ? -1 : 7;
    set_all(value);
    CHECK_THAT(mean.decay_of(t + 1), WithinRel(decays[t], 1e-12));
    mean.update();
    expected = decays[t] * expected + (1 - decays[t]) * value;
    CHECK_THAT(average(), WithinRel(expected, 1e-12));
  }
  CHECK(mean.count() == 6);
  CHECK(mean.decay_of(1000000) == 0.3);
}

TEMPLATE_TEST_CASE("a parameter that does not change is its own average, bit for bit", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  parameter_set<test::two_layers<float>, TestType> parameters(test::two_layers<float>(3, 5, 2));
  initialize(parameters, 4);
  parameter_averages mean(ex, parameters, 0.999);
  for (int i = 0; i < 50; ++i) mean.update();
  CHECK(copied(mean.flat_values()) == copied(vec<float const>(parameters.flat_values())));
}

TEMPLATE_TEST_CASE("averages and parameters are exchanged bit for bit, and training does not see it", "",
                   TRIAD_TEST_BACKENDS) {
  test::small_run<TestType> watched(keep::everything, 0.2), plain(keep::everything, 0.2);
  parameter_averages mean(watched.ex, watched.learner.parameters(), 0.9);
  auto const values = [](auto& r) { return copied(vec<float const>(r.learner.parameters().flat_values())); };
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    for (auto const& [in, targets] : plain.pass(epoch)) plain.learner.update(in, targets, 0.01);
    for (auto const& [in, targets] : watched.pass(epoch)) {
      watched.learner.update(in, targets, 0.01);
      mean.update();
    }
    auto const weights = values(watched), averages = copied(mean.flat_values());
    CHECK(weights != averages);
    mean.in_use([&] {
      CHECK(mean.exchanged());
      CHECK(values(watched) == averages);
      CHECK(copied(mean.flat_values()) == weights);
    });
    CHECK_FALSE(mean.exchanged());
    CHECK(values(watched) == weights);
    CHECK(copied(mean.flat_values()) == averages);
    CHECK(weights == values(plain));
  }
}

TEST_CASE("more parameters than are exchanged at once are exchanged, too") {
  using model = test::two_layers<float>;
  reference::backend ex;
  parameter_set<model, reference::backend> parameters(model(1100, 1000, 3));
  initialize(parameters, 4);
  auto const first = copied(vec<float const>(parameters.flat_values()));
  REQUIRE(first.size() > std::size_t{1} << 20);
  parameter_averages mean(ex, parameters, 0.5);
  mean.update();
  initialize(parameters, 5);
  auto const second = copied(vec<float const>(parameters.flat_values()));
  mean.exchange();
  CHECK(copied(vec<float const>(parameters.flat_values())) == first);
  CHECK(copied(mean.flat_values()) == second);
}

TEST_CASE("updates and exchanges allocate nothing") {
  test::small_run<cpu::backend> r;
  parameter_averages mean(r.ex, r.learner.parameters(), 0.9);
  mean.update();
  long const before = test::allocations;
  mean.update();
  mean.exchange();
  mean.exchange();
  CHECK(test::allocations == before);
}

TEST_CASE("averages that go on from a copy have the bits of those that never stopped") {
  test::small_run<cpu::backend> r;
  parameter_averages whole(r.ex, r.learner.parameters(), 0.9), later(r.ex, r.learner.parameters(), 0.9);
  auto const epoch = [&](std::uint64_t number, bool both) {
    for (auto const& [in, targets] : r.pass(number)) {
      r.learner.update(in, targets, 0.01);
      whole.update();
      if (both) later.update();
    }
  };
  epoch(0, false);
  auto const kept = copied(whole.flat_values());
  auto const to = later.mutable_values(whole.count());
  std::copy(kept.begin(), kept.end(), const_cast<float*>(later.flat_values().data_handle()));
  CHECK(to.embedding.table(1, 1) == whole.values().embedding.table(1, 1));
  epoch(1, true);
  CHECK(copied(later.flat_values()) == copied(whole.flat_values()));
  CHECK(later.count() == whole.count());
  whole.forget();
  CHECK(whole.count() == 0);
  whole.update();
  CHECK(copied(whole.flat_values()) == copied(vec<float const>(r.learner.parameters().flat_values())));
}

TEST_CASE("while averages answer, parameters are neither trained, copied nor written") {
  test::small_run<cpu::backend> r;
  auto& learner = r.learner;
  auto& parameters = learner.parameters();
  parameter_averages mean(r.ex, parameters, 0.9), other(r.ex, parameters, 0.9);
  auto pass = r.pass(0);
  auto const& [in, targets] = *pass.begin();
  learner.update(in, targets, 0.01);
  mean.update();
  auto const then = learner.snapshot();
  learner.update(in, targets, 0.01);
  mean.update();
  auto const weights = copied(vec<float const>(parameters.flat_values())), averages = copied(mean.flat_values());
  auto const refused = [](auto&& work) {
    CHECK_THROWS_WITH(work(),
                      contains("averages are in the place of the parameters, expected the parameters: averages are "
                               "neither trained, saved nor written; exchange() them first"));
  };
  learner.accumulate(in, targets, 1);
  mean.in_use([&] {
    refused([&] { learner.finish(0.01); });
    learner.set_step(learner.step());  // discards the part that was added
    refused([&] { learner.restore(then); });
    refused([&] { (void)learner.snapshot(); });
    refused([&] { initialize(parameters, 9); });
    refused([&] { learner.compute_gradient(in, targets); });
    refused([&] { learner.update(in, targets, 0.01); });
    refused([&] { learner.accumulate(in, targets, 0.5); });
    refused([&] { other.update(); });
    refused([&] { (void)find_rate(learner, [&](std::uint64_t epoch) { return r.pass(epoch); }); });
    refused([&] { (void)fit(learner, [&](std::uint64_t epoch) { return r.pass(epoch); }, {}); });
    training_clock<cpu::backend> clock;
    adam_optimizer const adam(parameters);
    refused([&] { adam.update(r.ex, parameters, clock); });
    CHECK(copied(vec<float const>(parameters.flat_values())) == averages);
    CHECK(learner.loss_of(in, targets) > 0);
  });
  CHECK(copied(vec<float const>(parameters.flat_values())) == weights);
  CHECK(copied(mean.flat_values()) == averages);
}

TEST_CASE("what cannot be meant is refused in a sentence, and a failure leaves the weights in their place") {
  test::small_run<cpu::backend> r;
  auto& parameters = r.learner.parameters();
  for (double const decay : {0.0, 1.0, -1.0, std::nan("")})
    CHECK_THROWS_WITH(parameter_averages(r.ex, parameters, decay), contains("expected above 0 and below 1"));
  parameter_averages mean(r.ex, parameters, 0.9);
  CHECK_THROWS_WITH(mean.exchange(), contains("exchange() before the first update()"));
  mean.update();
  mean.exchange();
  CHECK_THROWS_WITH(mean.update(), contains("while the averages are in the place of the parameters"));
  CHECK_THROWS_WITH(mean.values(), contains("exchange() them first"));
  for (auto const& [in, targets] : r.pass(0))
    CHECK_THROWS_WITH(r.learner.update(in, targets, 0.01),
                      contains("trainer: averages are in the place of the parameters, expected the parameters: "
                               "averages are neither trained"));
  parameter_averages other(r.ex, parameters, 0.9);
  mean.exchange();
  other.update();
  other.exchange();
  CHECK_THROWS_WITH(mean.exchange(), contains("other averages are in the place of the parameters"));
  other.exchange();
  for (auto const& [in, targets] : r.pass(0)) r.learner.update(in, targets, 0.01);
  CHECK_THROWS_AS(mean.in_use([]() -> int { throw std::runtime_error("stopped"); }), std::runtime_error);
  CHECK_FALSE(mean.exchanged());
  CHECK(mean.in_use([] { return 7; }) == 7);
}

}  // namespace train_averages_tests
