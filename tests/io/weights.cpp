// Tests loading the weights of another program. Every tensor must have a parameter, and every parameter must have a
// tensor. Otherwise no parameter is changed.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/weights.hpp"

#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "triad/layers/linear.hpp"
#include "triad/layers/repeat.hpp"
#include "triad/layers/transformer_layer.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/parameters.hpp"

namespace io_weights_tests {

using namespace triad;
using triad::test::contains;
using triad::test::scratch_folder;

using stack = repeat<float, linear<float>>;
using set = parameter_set<stack, reference::backend>;

stack stack_of(bool tied) { return {{extents<dyn, dyn>(2, 2)}, extents<dyn>(3), tied}; }

// Returns three layers of another program, which calls its tensors w.0, b.0, ...
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

TEST_CASE("what a file has and a model does not have is left out only by name") {
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
  safetensors_writer longer, other_type;
  for (int k = 0; k < 3; ++k) {
    other_type.add_bytes("w." + std::to_string(k), "F8_E4M3", {2, 2}, std::vector<std::byte>(4));
    other_type.add("b." + std::to_string(k), {2}, std::vector<float>{1, 2});
    longer.add("w." + std::to_string(k), {2, 2}, std::vector<double>{0.5, 1, 2, 3});
    longer.add("b." + std::to_string(k), {2}, std::vector<double>{1, 2});
  }
  CHECK_THROWS_WITH(load_weights(safetensors(other_type.bytes(), "short"), parameters, name_of),
                    contains("is F8_E4M3, expected F32") && contains("in F32"));
  safetensors const file(longer.bytes(), "longer");
  CHECK_THROWS_WITH(load_weights(file, parameters, name_of),
                    contains("is F64, expected F32") && contains("convert = true"));
  load_weights(file, parameters, name_of, {.convert = true});
  CHECK(parameters.values().at(2).weight(0, 0) == 0.5f);
}

TEST_CASE("a tensor of a type without numbers hinders only the parameter that would take it") {
  set parameters(stack_of(true));
  auto const with = [](std::string const& name) {
    safetensors_writer file;
    file.add("w.0", {2, 2}, std::vector<float>{1, 2, 3, 4});
    file.add("b.0", {2}, std::vector<float>{5, 6});
    file.add_bytes(name, "C64", {1}, std::vector<std::byte>(8));
    return safetensors(file.bytes(), "theirs");
  };
  CHECK_NOTHROW(load_weights(with("freqs"), parameters, name_of, {.leave_out = {"freqs"}}));
  CHECK(parameters.values().at(0).weight(0, 0) == 1.0f);
  CHECK_THROWS_WITH(load_weights(with("freqs"), parameters, name_of), contains("1 of its tensors: \"freqs\""));
  auto const other = [](std::string const& path) { return path == "0.bias" ? "z" : name_of(path); };
  CHECK_THROWS_WITH(load_weights(with("z"), parameters, other, {.leave_out = {"b.0"}}),
                    contains("tensor \"z\" is (1)"));
}

TEST_CASE("tensors that share memory are stored once, and a model that does not share them takes each from there") {
  // The file has the form in which save_model of safetensors.torch writes three layers that share their memory.
  safetensors_writer file;
  file.add("w.0", {2, 2}, std::vector<float>{1, 2, 3, 4});
  file.add("b.0", {2}, std::vector<float>{5, 6});
  for (std::string const name : {"w.1", "w.2", "b.1", "b.2"}) file.text(name, name.substr(0, 2) + "0");
  safetensors const shared(file.bytes(), "shared");
  set untied(stack_of(false)), tied(stack_of(true));
  load_weights(shared, untied, name_of);
  for (index_t k = 0; k < 3; ++k) {
    CHECK(untied.values().at(k).weight(1, 1) == 4.0f);
    CHECK(untied.values().at(k).bias(0) == 5.0f);
  }
  CHECK_NOTHROW(load_weights(shared, tied, name_of));
  // An alias for a missing tensor is ignored, and so is an alias with the name of an existing tensor.
  safetensors_writer wrong;
  wrong.add("w.0", {2, 2}, std::vector<float>{1, 2, 3, 4});
  wrong.add("b.0", {2}, std::vector<float>{5, 6});
  wrong.text("w.1", "nothing");
  wrong.text("b.0", "w.0");
  CHECK_THROWS_WITH(load_weights(safetensors(wrong.bytes(), "wrong"), untied, name_of),
                    contains("expected a tensor \"w.1\" for the parameter 1.weight"));
  wrong.text("w.2", "b.0");
  auto const second = [](std::string const& path) { return path == "0.weight" ? "w.2" : name_of(path); };
  CHECK_THROWS_WITH(load_weights(safetensors(wrong.bytes(), "wrong"), tied, second, {.leave_out = {"w.0"}}),
                    contains("tensor \"b.0\" is (2), expected (2, 2)"));
}

TEST_CASE("layers of bias=False load where it is said that biases are zero") {
  safetensors_writer file;
  for (int k = 0; k < 3; ++k) file.add("w." + std::to_string(k), {2, 2}, std::vector<float>{1, 2, 3, 4});
  file.add("b.2", {2}, std::vector<float>{5, 6});
  safetensors const without(file.bytes(), "without");
  set parameters(stack_of(false));
  parameters.mutable_values().at(0).bias(1) = 7;
  CHECK_THROWS_WITH(load_weights(without, parameters, name_of),
                    contains("expected a tensor \"b.0\" for the parameter 0.bias") && contains("zero_biases = true"));
  CHECK(parameters.values().at(0).bias(1) == 7.0f);
  load_weights(without, parameters, name_of, {.zero_biases = true});
  CHECK(parameters.values().at(0).bias(1) == 0.0f);
  CHECK(parameters.values().at(2).bias(1) == 6.0f);  // the existing tensor is used
  CHECK(parameters.values().at(0).weight(1, 1) == 4.0f);
  auto const wrong = [](std::string const& path) { return path == "1.weight" ? "w" : name_of(path); };
  CHECK_THROWS_WITH(load_weights(without, parameters, wrong, {.zero_biases = true}),
                    contains("expected a tensor \"w\" for the parameter 1.weight") && !contains("zero_biases"));
}

TEST_CASE("short floats become floats, to the bit") {
  set parameters(stack_of(true));
  auto const bytes = [](std::vector<std::uint16_t> const& numbers) {
    auto const all = std::as_bytes(std::span(numbers));
    return std::vector<std::byte>(all.begin(), all.end());
  };
  safetensors_writer file;
  file.add_bytes("w.0", "F16", {2, 2}, bytes({0x3c00, 0xc100, 0x0001, 0x7bff}));  // 1, -2.5, 2^-24, 65504
  file.add_bytes("b.0", "BF16", {2}, bytes({0x3f80, 0xc049}));                    // 1, -3.140625
  load_weights(safetensors(file.bytes(), "short"), parameters, name_of);
  auto const at = parameters.values().at(0);
  CHECK(at.weight(0, 0) == 1.0f);
  CHECK(at.weight(0, 1) == -2.5f);
  CHECK(at.weight(1, 0) == std::ldexp(1.0f, -24));
  CHECK(at.weight(1, 1) == 65504.0f);
  CHECK(at.bias(0) == 1.0f);
  CHECK(at.bias(1) == -3.140625f);
}

TEST_CASE("rules of renaming fit whole names between dots, the first that fits counts, and what is beyond them stays") {
  renames const names{
      {"emb", "embedding.table"}, {"h.*.q", "layers.*.attention.query"}, {"x.*.*", "*.by.*"}, {"y", "a.b"}};
  auto const named = [&](char const* path) { return names(path).name; };
  CHECK(named("embedding.table") == "emb");
  CHECK(named("embedding.tables") == "embedding.tables");
  CHECK(named("layers.11.attention.query.weight") == "h.11.q.weight");
  CHECK(named("layers.11.attention.query_norm.weight") == "layers.11.attention.query_norm.weight");
  CHECK(named("layers..attention.query") == "layers..attention.query");
  CHECK(named("one.by.two.three") == "x.one.two.three");
  CHECK(named("a.b") == "y");
  CHECK(named("a") == "a");
  CHECK_THROWS_WITH((renames{{"a.*", "b"}}),
                    contains("renames: a.* has 1 stars and b has 0, expected as many on both sides"));
  CHECK_THROWS_WITH((renames{{"a", "b", 3, 3}}), contains("part 3 of a, expected 0 to 2"));
}

using encoder = repeat<float, transformer_layer<float>>;
using encoder_set = parameter_set<encoder, reference::backend>;
encoder two_layers() {
  return {transformer_layer<float>({.width = 4, .heads = 2, .hidden = 3}), extents<dyn>(2), false};
}

TEST_CASE("PyTorch's encoder has three maps in one tensor, which are written and read") {
  scratch_folder const folder;
  auto const path = folder / "torch.safetensors";
  encoder_set made(two_layers(), holding::values), read(two_layers(), holding::values);
  initialize(made, 3);
  auto const names = torch_encoder("layers.", "");
  save_weights(path, made, names);
  safetensors const file(path);
  std::set<std::string> found, expected;
  for (auto const& [name, record] : file.tensors()) found.insert(name);
  for (std::string const layer : {"layers.0.", "layers.1."})
    for (auto const* name : {"self_attn.in_proj_weight", "self_attn.in_proj_bias", "self_attn.out_proj.weight",
                             "self_attn.out_proj.bias", "linear1.weight", "linear1.bias", "linear2.weight",
                             "linear2.bias", "norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"})
      expected.insert(layer + name);  // the names in nn.TransformerEncoder(...).state_dict()
  CHECK(found == expected);
  CHECK(file.record("layers.1.self_attn.in_proj_weight").shape == std::vector<index_t>{12, 4});
  auto const both = file.read_as<float>("layers.1.self_attn.in_proj_weight");
  walk(made.values(), [&](std::string const& name, auto view) {
    for (index_t third = 0; third < 3; ++third) {
      char const* const maps[] = {"1.attention.query.weight", "1.attention.key.weight", "1.attention.value.weight"};
      if (name == maps[third])
        for (index_t i = 0; i < 16; ++i) CHECK(both[static_cast<std::size_t>(16 * third + i)] == view.data_handle()[i]);
    }
  });
  load_weights(file, read, names);
  auto const a = made.flat_values(), b = read.flat_values();
  for (index_t i = 0; i < a.extent(0); ++i) REQUIRE(a(i) == b(i));

  // With bias=False, the same layers have six tensors each, because neither norms nor maps have biases.
  safetensors_writer without;
  for (auto const& [name, record] : file.tensors())
    if (!name.ends_with("bias")) without.add_bytes(name, record.type, record.shape, file.bytes(name));
  load_weights(safetensors(without.bytes(), "without"), read, names, {.zero_biases = true});
  walk(read.values(), [&](std::string const& name, auto view) {
    for (index_t i = 0; name.ends_with("bias") && i < static_cast<index_t>(view.size()); ++i)
      CHECK(view.data_handle()[i] == 0.0f);
  });

  // If a part of a parameter is missing, or if a tensor has no parameter, this is an error.
  renames const without_value{{"layers.*.self_attn.in_proj_weight", "*.attention.query.weight", 0, 3},
                              {"layers.*.self_attn.in_proj_weight", "*.attention.key.weight", 1, 3},
                              {"layers.*.self_attn.in_proj_weight", "*.attention.value.weight", 1, 3}};
  CHECK_THROWS_WITH(save_weights(path, made, without_value), contains("which another parameter has become"));
  // A function can make the names. This function counts the parts of a name from 1.
  auto const from_one = [&](std::string const& name) {
    auto theirs = names(name);
    if (theirs.parts > 1) ++theirs.part;
    return theirs;
  };
  CHECK_THROWS_WITH(save_weights(path, made, from_one), contains("part 3, expected 0 to 2"));
  CHECK_THROWS_WITH(load_weights(file, read, from_one), contains("part 3, expected 0 to 2"));
}

TEST_CASE("the released Edge Transformer's parameters are read by its names, and written") {
  safetensors const file("tests/data/golden/et_clutrr__untied.f64.safetensors");
  auto const size = [&](char const* tensor, std::size_t axis) { return file.record(tensor).shape[axis]; };
  edge_transformer<double> const model({.labels = size("param/encoder.embedding.weight", 0),
                                        .targets = size("param/decoder2vocab.3.weight", 0),
                                        .layers = 2,
                                        .tied = false,
                                        .layer = {.width = size("param/encoder.embedding.weight", 1),
                                                  .heads = 2,
                                                  .hidden = size("param/encoder.layers.0.linear1.weight", 0)}});
  parameter_set<edge_transformer<double>, reference::backend> read(model, holding::values);
  load_weights(file, read, released_edge_transformer("param/"),
               {.leave_out = {"in/*", "out/*", "grad/*", "param/encoder.layers.0.edge_attention.linears.4.*",
                              "param/encoder.layers.1.edge_attention.linears.4.*"}});

  scratch_folder const folder;
  auto const path = folder / "back.safetensors";
  save_weights(path, read, released_edge_transformer());
  safetensors const back(path);
  std::size_t compared = 0;
  for (auto const& [name, record] : file.tensors()) {
    if (!name.starts_with("param/") || name.find(".linears.4.") != std::string::npos) continue;
    CHECK(back.read_as<double>(name.substr(6)) == file.read_as<double>(name));
    ++compared;
  }
  CHECK(compared == back.tensors().size());
}

}  // namespace io_weights_tests
