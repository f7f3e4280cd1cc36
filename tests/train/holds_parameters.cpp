// Tests the concept that distinguishes sets of parameters and trainers from the fields that they hold.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/holds_parameters.hpp"

#include "tests/catch.hpp"
#include "tests/train/small_graphs.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/train/runner.hpp"

namespace train_holds_parameters_tests {

using namespace triad;

using model = edge_transformer<float>;
using set = parameter_set<model, cpu::backend>;
using learner = trainer<model, cpu::backend>;

TEST_CASE("a set holds parameters and a trainer learns them; fields and runners do neither") {
  static_assert(holds_parameters<set> && !learns_parameters<set>);
  static_assert(learns_parameters<learner> && !holds_parameters<learner>);
  static_assert(!holds_parameters<fields_of<model, float>> && !learns_parameters<fields_of<model, float>>);
  static_assert(!holds_parameters<runner<model, cpu::backend>> && !learns_parameters<runner<model, cpu::backend>>);
  SUCCEED();
}

}  // namespace train_holds_parameters_tests
