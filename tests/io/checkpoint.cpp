// Tests checkpoints: a resumed run has the same bits as an uninterrupted run. If a checkpoint does not fit the model,
// the error names the values of both.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/checkpoint.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "tests/train/small_graphs.hpp"
#include "tests/train/two_layers.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/io/weights.hpp"
#include "triad/layers/repeat.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/averages.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/optimizer.hpp"
#include "triad/train/trainer.hpp"

namespace io_checkpoint_tests {

using namespace triad;
using triad::test::contains;
using triad::test::scratch_folder;

template <class T>
using model = test::two_layers<T>;
template <class T>
using set = parameter_set<model<T>, reference::backend>;

checkpoint_state example_state() {
  checkpoint_state state;
  state.step = 0xfedcba9876543210u;
  state.key = 0xffffffffffffffffu;
  state.configuration = {{"width", 3}, {"dropout", 0.2}, {"tied", true}, {"name", "small"}};
  state.vocabulary = {"aunt", "brother", "d\xc3\xa9j\xc3\xa0 vu"};
  state.extra["epoch"] = "7";
  return state;
}

template <class T>
set<T> trained(index_t hidden = 5) {
  reference::backend ex;
  set<T> parameters(model<T>(3, hidden, 2));
  initialize(parameters, 4);
  initialize(parameters.gradients(), 5);
  training_clock<reference::backend> clock;
  clock.set(0, 0.01);
  adam_optimizer<model<T>, reference::backend>(parameters).update(ex, parameters, clock);
  return parameters;
}

template <class Fields>
std::vector<double> all(Fields fields) {
  std::vector<double> values;
  walk(fields, [&](std::string const&, auto view) {
    for (index_t i = 0; i < static_cast<index_t>(view.size()); ++i)
      values.push_back(static_cast<double>(view.data_handle()[i]));
  });
  return values;
}

TEMPLATE_TEST_CASE("a checkpoint gives back parameters, moments and state bit by bit", "", float, double) {
  scratch_folder const folder;
  auto const path = folder / "model.safetensors";
  auto const before = trained<TestType>();
  save_checkpoint(path, example_state(), before);
  CHECK(folder.entries() == 1);

  checkpoint const file(path);
  CHECK(file.step() == example_state().step);
  CHECK(file.key() == example_state().key);
  CHECK(file.configuration() == example_state().configuration);
  CHECK(file.vocabulary() == example_state().vocabulary);
  CHECK(file.state().extra.at("epoch") == "7");
  CHECK(file.has_moments());
  CHECK(file.setting<index_t>("width") == 3);
  CHECK(file.setting<std::string>("name") == "small");
  CHECK_NOTHROW(file.expect(example_state().configuration, example_state().vocabulary));

  set<TestType> after(model<TestType>(3, 5, 2));
  file.load(after);
  CHECK(all(after.values()) == all(before.values()));
  CHECK(all(after.first_moments()) == all(before.first_moments()));
  CHECK(all(after.second_moments()) == all(before.second_moments()));

  set<TestType> inference(model<TestType>(3, 5, 2), holding::values);
  file.load(inference);
  CHECK(all(inference.values()) == all(before.values()));
}

TEST_CASE("averages come back bit by bit, to go on from or to answer with") {
  scratch_folder const folder;
  auto const path = folder / "model.safetensors";
  reference::backend ex;
  auto parameters = trained<float>();
  parameter_averages mean(ex, parameters, 0.9);
  save_checkpoint(path, example_state(), parameters, mean);
  CHECK_FALSE(checkpoint(path).has_averages());  // there are no averages before the first update
  for (std::uint64_t seed = 6; seed < 9; ++seed) {
    mean.update();
    initialize(parameters, seed);
  }
  save_checkpoint(path, example_state(), parameters, mean);

  checkpoint const file(path);
  CHECK(file.has_averages());
  auto after = trained<float>();
  parameter_averages mean_after(ex, after, 0.9);
  file.load(after);
  file.load_averages(mean_after);
  CHECK(all(after.values()) == all(parameters.values()));
  CHECK(all(after.first_moments()) == all(parameters.first_moments()));
  CHECK(all(mean_after.values()) == all(mean.values()));
  CHECK(mean_after.count() == 3);

  set<float> inference(model<float>(3, 5, 2), holding::values);
  file.load(inference);
  CHECK(all(inference.values()) == all(parameters.values()));
  file.load_averages(inference);
  CHECK(all(inference.values()) == all(mean.values()));

  set<float> other(model<float>(3, 6, 2), holding::values);
  CHECK_THROWS_WITH(file.load_averages(other), contains("checkpoint has average."));
  save_checkpoint(path, example_state(), parameters);
  CHECK_THROWS_WITH(checkpoint(path).load_averages(inference), contains("it holds parameters but no averages of them"));
  CHECK(all(inference.values()) == all(mean.values()));  // the parameters are unchanged
  mean.exchange();
  CHECK_THROWS_AS(save_checkpoint(path, example_state(), parameters, mean), contract_violation);
  CHECK_THROWS_WITH(save_checkpoint(path, example_state(), parameters),
                    contains("save_checkpoint: averages are in the place of the parameters"));
}

TEST_CASE("nothing is loaded into averages that are in the parameters' place, and what is saved as weights are they") {
  scratch_folder const folder;
  auto const path = folder / "model.safetensors", weights = folder / "weights.safetensors";
  reference::backend ex;
  auto parameters = trained<float>();
  parameter_averages mean(ex, parameters, 0.9);
  mean.update();
  save_checkpoint(path, example_state(), parameters, mean);
  checkpoint const file(path);
  auto const same = [](std::string const& name) { return name; };
  save_weights(weights, parameters, same);
  initialize(parameters, 9);
  auto const before = all(parameters.values()), averages = all(mean.values());
  auto const refusal = contains("averages are in the place of the parameters, expected the parameters");
  mean.in_use([&] {
    CHECK_THROWS_WITH(file.load(parameters), refusal);
    CHECK_THROWS_WITH(file.load_averages(parameters), refusal);
    CHECK_THROWS_WITH(file.load_averages(mean), contains("while the averages are in the place of the parameters"));
    CHECK_THROWS_WITH(load_weights(safetensors(weights), parameters, same), refusal);
    CHECK(all(parameters.values()) == averages);
    save_weights(weights, parameters, same);
  });
  CHECK(all(parameters.values()) == before);
  CHECK(all(mean.values()) == averages);
  load_weights(safetensors(weights), parameters, same);
  CHECK(all(parameters.values()) == averages);
}

TEST_CASE("a checkpoint in single precision is read into double, not the other way round") {
  scratch_folder const folder;
  save_checkpoint(folder / "single", example_state(), trained<float>());
  save_checkpoint(folder / "double", example_state(), trained<double>());
  set<double> wide(model<double>(3, 5, 2));
  checkpoint(folder / "single").load(wide);
  CHECK(all(wide.values()) == all(trained<float>().values()));
  set<float> narrow(model<float>(3, 5, 2));
  CHECK_THROWS_WITH(checkpoint(folder / "double").load(narrow), contains("in F64, this model wants F32"));
}

TEST_CASE("a checkpoint of another model is refused before anything is changed") {
  scratch_folder const folder;
  auto const path = folder / "model.safetensors";
  save_checkpoint(path, example_state(), trained<float>());
  checkpoint const file(path);

  set<float> wider(model<float>(3, 6, 2));
  CHECK_THROWS_AS(file.load(wider), data_error);
  CHECK_THROWS_WITH(file.load(wider),
                    contains("checkpoint has first.weight (5, 3), this model wants (6, 3)") && contains(path));
  CHECK(all(wider.values()) == std::vector<double>(all(wider.values()).size(), 0.0));

  using alone = parameter_set<layer_norm_layer<float>, reference::backend>;
  alone norm(layer_norm_layer<float>{extents<dyn>(3)});
  CHECK_THROWS_WITH(file.load(norm), contains("checkpoint has no gain, this model wants (3)"));

  auto const add_stranger = [](safetensors_writer& w) { w.add<float>("stranger", {2}, std::vector<float>{1, 2}); };
  save_checkpoint<host_memory>(path, example_state(), trained<float>().values(), add_stranger);
  set<float> same(model<float>(3, 5, 2), holding::values);
  CHECK_THROWS_WITH(checkpoint(path).load(same), contains("\"stranger\" (2), this model has no such parameter"));

  save_checkpoint<host_memory>(path, example_state(), trained<float>().values());
  CHECK_FALSE(checkpoint(path).has_moments());
  CHECK_NOTHROW(checkpoint(path).load(same));
  set<float> training(model<float>(3, 5, 2));
  CHECK_THROWS_WITH(checkpoint(path).load(training), contains("no state of the optimiser"));
}

TEST_CASE("a checkpoint of another configuration or vocabulary is refused with the first difference") {
  scratch_folder const folder;
  auto const path = folder / "model.safetensors";
  auto const state = example_state();
  save_checkpoint(path, state, trained<float>());
  checkpoint const file(path);
  auto other = state;
  other.configuration["width"] = 200;
  CHECK_THROWS_WITH(file.expect(other.configuration, state.vocabulary),
                    contains("another configuration: width: checkpoint has 3, this program wants 200"));
  other.configuration = state.configuration;
  other.configuration.erase("tied");
  CHECK_THROWS_WITH(file.expect(other.configuration, state.vocabulary),
                    contains("tied: checkpoint has true, this program wants none"));
  other.vocabulary[1] = "sister";
  CHECK_THROWS_WITH(file.expect(state.configuration, other.vocabulary),
                    contains("another vocabulary: [1]: checkpoint has \"brother\", this program wants \"sister\""));
  other.vocabulary = state.vocabulary;
  other.vocabulary.push_back("uncle");
  CHECK_THROWS_WITH(file.expect(state.configuration, other.vocabulary),
                    contains("checkpoint has 3 entries, this program wants 4"));
  CHECK_THROWS_WITH(file.setting<index_t>("height"), contains("\"height\""));
  CHECK_THROWS_WITH(file.setting<index_t>("name"), contains("another type"));
}

TEST_CASE("a setting that is no integer of the type asked for is refused, and text that is not UTF-8 is not written") {
  scratch_folder const folder;
  auto const path = folder / "model.safetensors";
  auto state = example_state();
  state.configuration["part"] = 64.9;
  state.configuration["huge"] = 18446744073709551615u;
  state.configuration["below"] = -1;
  save_checkpoint(path, state, trained<float>());
  checkpoint const file(path);
  for (auto const* name : {"part", "huge"}) CHECK_THROWS_WITH(file.setting<index_t>(name), contains("another type"));
  CHECK_THROWS_WITH(file.setting<std::uint64_t>("below"), contains("another type"));
  CHECK(file.setting<std::uint64_t>("huge") == 18446744073709551615u);
  CHECK(file.setting<int>("below") == -1);
  CHECK(file.setting<double>("part") == 64.9);
  state.vocabulary.push_back("caf\xe9");
  CHECK_THROWS_WITH(save_checkpoint(path, state, trained<float>()),
                    contains("the vocabulary cannot be written") && contains("convert the data to UTF-8"));
  state = example_state();
  state.configuration["rate"] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(save_checkpoint(path, state, trained<float>()),
                    contains("the configuration cannot be written: the number at /rate is not finite"));
  CHECK_NOTHROW(checkpoint(path));  // the old file still exists
}

TEST_CASE("a program may rename the settings of a checkpoint of format 1, and of no other") {
  scratch_folder const folder;
  auto const path = folder / "file";
  auto const rename = [](checkpoint_state& state) {
    state.configuration["tied"] = !state.configuration.at("untied").get<bool>();
    state.configuration.erase("untied");
    state.extra["settings"] = "new";
  };
  for (std::string const format : {"triad-checkpoint-1", "triad-checkpoint-2"}) {
    safetensors_writer file;
    for (auto const& [name, text] :
         std::vector<std::pair<std::string, std::string>>{{"format", format},
                                                          {"step", "1"},
                                                          {"random_key", "2"},
                                                          {"configuration", R"({"untied":true})"},
                                                          {"vocabulary", "[]"},
                                                          {"extra.settings", "old"}})
      file.text(name, text);
    file.write(path);
    bool const first = format.ends_with("1");
    checkpoint const read(path, rename), as_it_is(path);
    CHECK(read.configuration() == (first ? nlohmann::json{{"tied", false}} : nlohmann::json{{"untied", true}}));
    CHECK(read.state().extra.at("settings") == (first ? "new" : "old"));
    CHECK(as_it_is.setting<bool>("untied"));
  }
}

TEST_CASE("a file that is no checkpoint, or a damaged one, is refused") {
  scratch_folder const folder;
  auto const path = folder / "file";
  auto const write = [&](std::vector<std::pair<std::string, std::string>> const& texts) {
    safetensors_writer w;
    for (auto const& [name, text] : texts) w.text(name, text);
    w.write(path);
  };
  std::vector<std::pair<std::string, std::string>> const sound{{"format", "triad-checkpoint-2"},
                                                               {"step", "1"},
                                                               {"random_key", "2"},
                                                               {"configuration", "{}"},
                                                               {"vocabulary", "[]"}};
  write(sound);
  CHECK_NOTHROW(checkpoint(path));
  auto const with = [&](std::size_t i, std::string const& text) {
    auto changed = sound;
    changed[i].second = text;
    write(changed);
  };
  write({});
  CHECK_THROWS_WITH(checkpoint(path), contains("something else"));
  with(0, "triad-checkpoint-9");
  CHECK_THROWS_WITH(checkpoint(path), contains("triad-checkpoint-9") && contains("another version"));
  safetensors_writer theirs;
  theirs.text("format", "pt");
  theirs.add("emb.weight", {1}, std::vector<float>{1});
  theirs.write(path);
  CHECK_THROWS_WITH(checkpoint(path),
                    contains("found \"pt\": these are weights of another library") && contains("load_weights"));
  for (std::string const text : {"", "-1", "1x", "18446744073709551616"}) {
    with(1, text);
    CHECK_THROWS_WITH(checkpoint(path), contains("an integer as step"));
  }
  with(3, "{");
  CHECK_THROWS_WITH(checkpoint(path), contains("JSON as configuration"));
  with(4, std::string(100000, '['));
  CHECK_THROWS_WITH(checkpoint(path), contains("vocabulary of at most 64 levels"));
  write({sound[0]});
  CHECK_THROWS_WITH(checkpoint(path), contains("\"step\""));
}

TEST_CASE("a trainer that resumes goes on with the bits of one that never stopped, and another key is refused") {
  scratch_folder const folder;
  using run = triad::test::small_run<cpu::backend>;
  run whole(keep::everything, 0.3), first(keep::everything, 0.3), second(keep::everything, 0.3);
  auto const epoch = [](run& r, std::uint64_t number) {
    for (auto const& [in, targets] : r.pass(number)) r.learner.update(in, targets, 0.01);
  };
  epoch(whole, 0), epoch(whole, 1);
  epoch(first, 0);
  save_checkpoint(folder / "m", {.step = 999, .key = 999, .configuration = {{"width", 8}}}, first.learner);
  checkpoint const file(folder / "m");
  CHECK((file.step() == first.learner.step() && file.key() == 3));  // the values of the trainer, not of the state
  CHECK(file.setting<int>("width") == 8);
  file.resume(second.learner);
  CHECK(second.learner.step() == first.learner.step());
  epoch(second, 1);
  CHECK(all(second.learner.parameters().values()) == all(whole.learner.parameters().values()));
  CHECK(all(second.learner.parameters().second_moments()) == all(whole.learner.parameters().second_moments()));

  cpu::backend ex(1);
  auto options = whole.learner.options();
  options.key = 4;
  trainer other(ex, whole.learner.model(), options);
  CHECK_THROWS_WITH(file.resume(other), contains("expected the run's random key 3, found a trainer with 4") &&
                                            contains("make the trainer with .key = file.key()"));
  CHECK(other.step() == 0);

  parameter_averages mean(first.ex, first.learner.parameters(), 0.9);
  mean.update();
  save_checkpoint(folder / "averaged", {}, first.learner, mean);
  CHECK((checkpoint(folder / "averaged").has_averages() && checkpoint(folder / "averaged").key() == 3));
}

TEST_CASE("the layers of an untied repeat are saved by their depth") {
  scratch_folder const folder;
  using stack = repeat<float, linear<float>>;
  parameter_set<stack, reference::backend> parameters(
      stack{linear<float>{extents<dyn, dyn>(2, 2)}, extents<dyn>(3), false}, holding::values);
  initialize(parameters, 1);
  save_checkpoint(folder / "m", {}, parameters);
  auto const file = safetensors(folder / "m");
  CHECK(file.tensors().size() == 6);
  CHECK((file.has("0.weight") && file.has("1.bias") && file.has("2.weight")));
  CHECK(file.read_as<float>("0.weight") != file.read_as<float>("1.weight"));
}

TEST_CASE("weights and averages that are no finite numbers are refused, and the file stays as it was") {
  scratch_folder const folder;
  auto const path = folder / "model.safetensors";
  reference::backend ex;
  auto parameters = trained<float>();
  parameter_averages mean(ex, parameters, 0.9);
  mean.update();
  save_checkpoint(path, example_state(), parameters, mean);
  auto const kept = all(parameters.values());
  auto const first = parameters.flat_values();
  auto const value = std::exchange(first(1), std::nanf(""));
  CHECK_THROWS_AS(save_checkpoint(path, example_state(), parameters), training_failure);
  CHECK_THROWS_WITH(save_checkpoint(path, example_state(), parameters),
                    contains("save_checkpoint: value 1 of ") && contains(" is nan, expected a finite number"));
  CHECK_THROWS_WITH(save_checkpoint(path, example_state(), parameters.values()),
                    contains("save_checkpoint: value 1 of "));
  mean.update();  // the average becomes NaN, too
  first(1) = value;
  CHECK_THROWS_WITH(save_checkpoint(path, example_state(), parameters, mean),
                    contains("save_checkpoint: value 1 of average."));
  set<float> again(model<float>(3, 5, 2));
  checkpoint const file(path);
  file.load(again);
  CHECK(all(again.values()) == kept);
  CHECK(folder.entries() == 1);
}

}  // namespace io_checkpoint_tests
