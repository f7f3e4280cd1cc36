// Tests snapshots of parameters, moments and the step. After a snapshot is restored, the state is the one at which it
// was taken.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/snapshot.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/train/two_layers.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/initialize.hpp"

namespace train_snapshot_tests {

using namespace triad;
using model = test::two_layers<float>;
using parameters = parameter_set<model, reference::backend>;

void fill_all(parameters& p, float value) {
  for (auto const flat : {p.flat_values(), p.flat_first_moments(), p.flat_second_moments()})
    for (index_t i = 0; i < flat.extent(0); ++i) flat(i) = value;
}

TEST_CASE("what was taken is put back, and taking again uses the same memory") {
  parameters p(model(3, 5, 2));
  initialize(p, 4);
  p.flat_first_moments()(7) = 2;
  trainer_snapshot<float> then;
  take_snapshot(p, 12, then);
  auto const* const place = then.values.data();
  auto const before = then;
  fill_all(p, 9);
  put_snapshot(then, p);
  trainer_snapshot<float> now;
  take_snapshot(p, 12, now);
  CHECK(now == before);
  fill_all(p, 9);
  take_snapshot(p, 13, then);
  CHECK(then.values.data() == place);
  CHECK((then.step == 13 && then.values[0] == 9 && then.first_moments.back() == 9));
}

TEST_CASE("a snapshot of another model is refused, and one without moments by who learns") {
  parameters p(model(3, 5, 2)), other(model(3, 6, 2));
  parameters answering(model(3, 5, 2), holding::values);
  trainer_snapshot<float> learned, answered;
  take_snapshot(p, 1, learned);
  take_snapshot(answering, 1, answered);
  CHECK((answered.first_moments.empty() && !answered.values.empty()));
  CHECK_THROWS_WITH(put_snapshot(learned, other), test::contains("it is of another model"));
  fill_all(p, 3);
  CHECK_THROWS_WITH(put_snapshot(answered, p), test::contains("the snapshot has 0 moments"));
  CHECK(p.flat_values()(0) == 3);  // the parameters are unchanged
  CHECK_NOTHROW(put_snapshot(learned, answering));
}

TEST_CASE("a snapshot of a model with as many values in other shapes or under other names is refused by the first") {
  parameters p(model(3, 5, 5)), q(model(3, 5, 4));
  trainer_snapshot<float> then;
  take_snapshot(p, 1, then);
  REQUIRE(p.flat_values().extent(0) == q.flat_values().extent(0));  // tensors start at multiples of 64 bytes
  fill_all(q, 3);
  CHECK_THROWS_WITH(
      put_snapshot(then, q),
      test::contains("restore: the snapshot has second.weight (5, 5), expected second.weight (4, 5), as the "
                     "model has; it is of another model"));
  take_snapshot(q, 1, then);
  then.tensors[1].path = "norm.shift";
  CHECK_THROWS_WITH(put_snapshot(then, q), test::contains("has norm.shift (3), expected norm.bias (3)"));
  then.tensors.resize(1);
  CHECK_THROWS_WITH(put_snapshot(then, q), test::contains("has none, expected norm.bias (3)"));
  CHECK(q.flat_values()(0) == 3);  // the parameters are unchanged
}

TEST_CASE("parameters that were put back have values, also where these are zero, unless they never had any") {
  parameters p(model(3, 5, 2)), q(model(3, 5, 2));
  trainer_snapshot<float> zero;
  take_snapshot(p, 0, zero);
  put_snapshot(zero, p);
  CHECK_FALSE(p.initialized());
  (void)p.mutable_values();
  take_snapshot(p, 0, zero);
  put_snapshot(zero, q);
  CHECK(q.initialized());
}

}  // namespace train_snapshot_tests
