// Tests all layers of an encoder or decoder together. Memory that layers share is not part of the memory of a layer.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/fused_stack.hpp"

#include "tests/catch.hpp"

namespace layers_fused_stack_tests {

using namespace triad;

fused_stack<double> stack_of(index_t layers, index_t width) {
  return fused_stack<double>({.layer = {width, 2, 8}, .layers = layers});
}

TEST_CASE("what a stack remembers is memory and sizes alone: another stack in its place changes neither") {
  auto stack = stack_of(3, 6);
  buffer<host_memory> const held(planned_bytes([&](arena& a) { (void)stack.plan_saved(a, 5, 0); }));
  auto place = held.place();
  auto const s = stack.plan_saved(place, 5, 0);
  stack = stack_of(1, 4);
  CHECK(s.y().data_handle() == s.x(3).data_handle());
  CHECK(s.y().extent(1) == 6);
}

}  // namespace layers_fused_stack_tests
