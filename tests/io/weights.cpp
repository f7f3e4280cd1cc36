// Weights of another program: every tensor finds its parameter, and every parameter its tensor, or nothing is changed.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/weights.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "triad/layers/linear.hpp"
#include "triad/layers/repeat.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/parameters.hpp"

namespace {

using namespace triad;
using triad::test::contains;

using stack = repeat<float, linear<float>>;
using set = parameter_set<stack, reference::backend>;

stack stack_of(bool tied) { return {{extents<dyn, dyn>(2, 2)}, extents<dyn>(3), tied}; }

// Three layers of another program, as it calls them: w.0, b.0, ...
safetensors foreign(bool more = false) {
  safetensors_writer file;
  for (int k = 0; k < 3; ++k) {
    auto const v = static_cast<float>(k);
    file.add("w." + std::to_string(k), {2, 2}, std::vector<float>{v, v + 1, v + 2, v + 3});
    file.add("b." + std::to_string(k), {2}, std::vector<float>{-v, v});
  }
  if (more) file.add("pooler.weight", {1}, std::vector<float>{1});
  return safetensors(file.bytes(), "theirs");
}
std::string name_of(std::string const& path) { return (path.ends_with("weight") ? "w." : "b.") + path.substr(0, 1); }

TEST_CASE("every parameter takes the tensor that is its own") {
  set parameters(stack_of(false));
  load_weights(foreign(), parameters, name_of);
  CHECK(parameters.values().at(2).weight(1, 1) == 5.0f);
  CHECK(parameters.values().at(1).bias(0) == -1.0f);
}

TEST_CASE("a tied model refuses the layers that it would not take, and is what it was") {
  set parameters(stack_of(true));
  CHECK_THROWS_WITH(load_weights(foreign(), parameters, name_of),
                    contains("theirs: no parameter takes 4 of its tensors: \"b.1\" (2)") && contains("tied = false"));
  CHECK(parameters.values().at(0).weight(0, 1) == 0.0f);
}

TEST_CASE("what a file has and a model has not is left out only by name") {
  set parameters(stack_of(false));
  CHECK_THROWS_WITH(load_weights(foreign(true), parameters, name_of), contains("1 of its tensors: \"pooler.weight\""));
  CHECK_NOTHROW(load_weights(foreign(true), parameters, name_of, {.leave_out = {"pooler.weight"}}));
  CHECK_NOTHROW(load_weights(foreign(true), parameters, name_of, {.leave_out = {"pool*"}}));
  CHECK_THROWS_AS(load_weights(foreign(true), parameters, name_of, {.leave_out = {"pool"}}), data_error);
}

TEST_CASE("a tensor that is not there, of another shape or of another type is refused by both names") {
  set parameters(stack_of(false));
  auto const wrong = [](std::string const& path) { return path == "1.bias" ? "bias.one" : name_of(path); };
  CHECK_THROWS_WITH(load_weights(foreign(), parameters, wrong),
                    contains("expected a tensor \"bias.one\" for the parameter 1.bias (2), found none"));
  auto const other = [](std::string const& path) { return path == "1.bias" ? "w.1" : name_of(path); };
  CHECK_THROWS_WITH(load_weights(foreign(), parameters, other), contains("tensor \"w.1\" is (2, 2), expected (2)"));
  safetensors_writer half, longer;
  for (int k = 0; k < 3; ++k) {
    half.add_bytes("w." + std::to_string(k), "F16", {2, 2}, std::vector<std::byte>(8));
    half.add_bytes("b." + std::to_string(k), "BF16", {2}, std::vector<std::byte>(4));
    longer.add("w." + std::to_string(k), {2, 2}, std::vector<double>{0.5, 1, 2, 3});
    longer.add("b." + std::to_string(k), {2}, std::vector<double>{1, 2});
  }
  CHECK_THROWS_WITH(load_weights(safetensors(half.bytes(), "half"), parameters, name_of),
                    contains("is F16, expected F32") && contains("in F32"));
  safetensors const file(longer.bytes(), "longer");
  CHECK_THROWS_WITH(load_weights(file, parameters, name_of),
                    contains("is F64, expected F32") && contains("convert = true"));
  load_weights(file, parameters, name_of, {.convert = true});
  CHECK(parameters.values().at(2).weight(0, 0) == 0.5f);
}

}  // namespace
