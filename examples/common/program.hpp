// What every program does with its command line: its verbs, presets and config files below what is given, and one line
// for an error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <new>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "exit_status.hpp"
#include "help.hpp"
#include "number_checks.hpp"
#include "printed.hpp"
#include "renames.hpp"
#include "run_folder.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/errors.hpp"
#include "unused_gpu.hpp"

namespace triad::examples {

namespace detail {

/// The program whose run a config.toml is of, told by an option that no other program has; nothing where it is told by
/// none.
inline std::string owner_of(std::string const& config) {
  static std::map<std::string, std::string> const owners{{"train-lengths", "clutrr"},
                                                         {"from-parent", "cogs"},
                                                         {"role-seed", "tree-transforms"},
                                                         {"train-on", "cognition"}};
  for (auto const& item : CLI::ConfigTOML().from_file(config)) {
    if (auto const owner = owners.find(item.name); owner != owners.end()) return owner->second;
    if (item.name == "task" &&
        (item.inputs == std::vector<std::string>{"semantic"} || item.inputs == std::vector<std::string>{"parse"}))
      return "cfq";
  }
  return {};
}

/// The options of a config file as arguments, but for those that the command line gives itself.
inline std::vector<std::string> configured(CLI::App const& train, std::string const& file) {
  std::vector<std::string> arguments;
  for (auto const& item : CLI::ConfigTOML().from_file(file)) {
    auto const name = renamed(item.name);
    auto const* const option = train.get_option_no_throw("--" + name);
    if (option == nullptr) {
      auto const owner = owner_of(file);
      throw data_error(file + ": no option of this program's train is called " + item.name +
                       (owner.empty() ? "" : "; it is of a run of " + owner));
    }
    if (option->count() > 0 || item.inputs.empty()) continue;
    std::string value;
    for (auto const& part : item.inputs) value += (value.empty() ? "" : ",") + part;
    arguments.push_back("--" + name + "=" + value);
  }
  return arguments;
}

/// The names of long options among arguments, without their dashes.
inline std::set<std::string> option_names(std::vector<std::string> const& arguments) {
  std::set<std::string> names;
  for (auto const& argument : arguments)
    if (argument.starts_with("--") && argument.size() > 2) names.insert(argument.substr(2, argument.find('=') - 2));
  return names;
}

/// A line for each option of version 0.1 among arguments that the verb has under another name: what it is called now.
inline std::string renamed_options(CLI::App const& app, std::vector<std::string> const& arguments) {
  std::string text;
  for (auto const* const verb : app.get_subcommands())  // the one that was parsed
    for (auto const& option : option_names(arguments))
      if (auto const now = renamed(option); now != option && verb->get_option_no_throw("--" + option) == nullptr &&
                                            verb->get_option_no_throw("--" + now) != nullptr)
        text += "--" + option + " is called --" + now + " now\n";
  return text;
}

}  // namespace detail

/// Parses twice: the preset, model and config file that the first reading finds make the defaults of the second, so
/// that what is given beside them overrides them.  Options: a struct with preset, model and config; apply_preset(o) is
/// found by its type.  Where it has sets of texts `given` and `configured`, these become the names of the options on
/// the command line, and of those that only the config file has.
template <class Options>
void parse(CLI::App& app, CLI::App& train, Options& o, int argc, char** argv) {
  app.parse(argc, argv);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  auto const given = detail::option_names(arguments);
  auto const more = o.config.empty() ? std::vector<std::string>() : detail::configured(train, o.config);
  for (auto const& argument : more) {
    if (argument.starts_with("--preset=")) o.preset = argument.substr(9);
    if (argument.starts_with("--model=")) o.model = argument.substr(8);
  }
  arguments.insert(arguments.end(), more.begin(), more.end());
  Options fresh;
  fresh.preset = o.preset;
  fresh.model = o.model;
  apply_preset(fresh);
  if constexpr (requires { fresh.given; }) fresh.given = given, fresh.configured = detail::option_names(more);
  o = fresh;
  app.clear();
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  app.parse(arguments);
}

/// Options that say where a run computes, common to all verbs of all programs.
template <class Options>
void add_run_options(CLI::App& app, Options& o) {
  app.add_option("--threads", o.threads, "Threads; 0: one for each processor.  Results do not depend on it")
      ->check(not_negative);
  app.add_option("--backend", o.backend,
                 "cpu; cuda: an NVIDIA GPU, where the program was built for it; reference: plain loops, slow")
      ->check(CLI::IsMember({"cpu", "cuda", "reference"}));
  app.add_option("--precision", o.arithmetic,
                 "Of products on a GPU: float32; tf32 and bf16 are faster and round factors to 10 and 7 bits")
      ->check(CLI::IsMember({"float32", "tf32", "bf16"}));
}

/// Options of training that are the same in all programs.  files: what is written to --out.
template <class Options>
void add_shared_training_options(CLI::App& app, Options& o,
                                 std::string const& files = "metrics.csv, config.toml, model.safetensors, plots/") {
  app.add_option("--config", o.config, "Read options from a TOML file, such as the config.toml of a run")
      ->check(CLI::ExistingFile);
  add_run_options(app, o);
  app.add_option("--width", o.width, "Hidden size")->check(positive);
  app.add_option("--heads", o.heads, "Attention heads; the width is a multiple")->check(positive);
  app.add_option("--warmup", o.warmup, "Updates of warm-up")->check(not_negative);
  app.add_option("--clip-norm", o.clip, "Largest norm of a gradient; 0: any")->check(not_negative);
  app.add_option("--seed", o.seed, "Of first values, order and dropout")->check(any_seed);
  app.add_option("--seeds", o.seeds, "Runs with seed, seed + 1, ...")->check(positive);
  app.add_flag("--recompute", o.recompute, "Run layers again in backward instead of keeping what they computed");
  app.add_option("--out", o.out, "Folder of the run: " + files);
  app.add_flag("--resume", o.resume, "Go on from the folder's checkpoint");
}

/// Those, and what programs with one stack of layers have beside them.
template <class Options>
void add_training_options(CLI::App& app, Options& o) {
  add_shared_training_options(app, o);
  app.add_option("--layers", o.layers, "How often the layer is applied")->check(between(1, 250));
  app.add_option("--hidden-factor", o.hidden_factor, "Width of the feed-forward block over the hidden size")
      ->check(positive);
  app.add_option("--dropout", o.dropout, "Rate, of attention weights, branches and feed-forward block")
      ->check(between(0.0, 0.95));
  app.add_option("--learning-rate", o.rate, "Learning rate after warm-up; falls linearly to 0")->check(positive);
}

/// What a verb that uses a trained model is told in all programs.  Query: a struct with checkpoint.
template <class Options, class Query>
void add_checkpoint_options(CLI::App& app, Options& o, Query& q) {
  app.add_option("run", q.checkpoint, "A run's folder, or a model.safetensors")->required();
  add_run_options(app, o);
}

/// What the run that is asked about was trained on, and what a verb is told of it.
struct data_of_run {
  bool wanted = false;            // the verb has an option --data that is about the run's data set
  bool known = false;             // there is a config.toml
  std::string given, trained_on;  // on the command line; by the run: empty where its data were generated

  /// What is taken is the run's own.
  bool own() const { return known && given.empty(); }
  /// A line for people; empty where the verb has no data, or they are generated as the run's were.
  std::string text() const {
    if (!wanted) return {};
    if (!given.empty() && !known) return "data: " + given + "\n";
    if (!known)
      return "there is no config.toml beside this checkpoint, so the data of its run are not known and others are "
             "taken: give them with --data\n";
    if (given.empty()) return trained_on.empty() ? std::string() : "data: " + trained_on + ", those of the run\n";
    std::error_code none;
    if (!trained_on.empty() && std::filesystem::equivalent(given, trained_on, none))
      return "data: " + given + ", those of the run\n";
    return "data: " + given + "; those of the run: " + (trained_on.empty() ? "generated" : trained_on) + "\n";
  }
};

/// Takes the options of the run that is asked about, its data above all, where the command line does not give others.
/// An option of the verb that is about something else under the same name is not configurable, in CLI11's words. Throws
/// data_error for another program's run.
template <class Query>
data_of_run take_from_run(std::string const& program, CLI::App& verb, Query const& q) {
  data_of_run found;
  auto const* const data = verb.get_option_no_throw("--data");
  found.wanted = data != nullptr && data->get_configurable();
  if (found.wanted && data->count() > 0) found.given = data->results().front();
  auto const file = config_of(q.checkpoint);
  if (!std::filesystem::is_regular_file(file)) return found;
  if (auto const owner = detail::owner_of(file); !owner.empty() && owner != program)
    throw data_error(q.checkpoint + " is a run of " + owner + ", and this is " + program + ": give it to " + owner +
                     " " + verb.get_name());
  found.known = true;
  static std::set<std::string> const of_the_machine{"backend", "precision", "threads", "out"};
  for (auto const& item : CLI::ConfigTOML().from_file(file)) {
    auto const name = renamed(item.name);
    if (name == "data" && !item.inputs.empty()) found.trained_on = item.inputs.front();
    auto* const option = verb.get_option_no_throw("--" + name);
    if (option == nullptr || option->count() > 0 || !option->get_configurable() || of_the_machine.contains(name))
      continue;
    bool const flag = option->get_expected_min() == 0;  // which may be called by its opposite
    for (auto const& value : item.inputs) option->add_result(flag ? option->get_flag_value(name, value) : value);
    option->run_callback();
  }
  return found;
}

/// Refuses seeds that would go on from the largest number to 0.
template <class Options>
void expect_seeds(Options const& o) {
  auto const more = static_cast<std::uint64_t>(o.seeds) - 1;
  if (more > std::numeric_limits<std::uint64_t>::max() - o.seed)
    throw data_error("--seeds " + std::to_string(o.seeds) + " from --seed " + std::to_string(o.seed) +
                     " go beyond the largest seed, " + std::to_string(std::numeric_limits<std::uint64_t>::max()) +
                     ": give a smaller --seed");
}

/// A program's name, and what --help says of it and of its verbs.
struct program_texts {
  char const *name, *about;
  char const *train, *evaluate, *predict, *explain, *generate = nullptr;
};

/// A verb of one program alone.
struct more_verb {
  CLI::App* called;
  std::function<int()> run;  // its exit status
};

/// Says so; the exit status.
inline int no_memory(char const* program) {
  std::fprintf(stderr,
               "%s: there is not enough memory for a model, or data, of these sizes: take smaller ones, or a machine "
               "that has more\n",
               program);
  return refused;
}

/// All of main(): the exit status of the verb that the command line names, or of what went wrong, told in one line.
/// Found by the types of o and q, in their namespace:
///   train(o), evaluate(o, q), predict(o, q), explain(o, q), generate(o, q)
///       the verbs, giving the exit status
///   add_train_options(app, o), add_query_options(evaluate, predict, explain, generate, o, q)
///       the options of the verbs; the first calls add_training_options or add_shared_training_options; evaluate,
///       predict and explain have those of add_checkpoint_options already
/// evaluate, predict and explain get the options of the run that is asked about where the command line gives no others;
/// a bool q.data_of_run, where there is one, says whether --data is among them.  A program without generate(o, q) has
/// four verbs; what it adds to the fifth is lost.  more_verbs(app, o), where there is such a function, adds verbs of
/// its own and gives them as more_verb.
template <class Options, class Query>
int run_verbs(program_texts const& say, int argc, char** argv) {
  constexpr bool generates = requires(Options const& made, Query const& asked) { generate(made, asked); };
  CLI::App app{say.about}, none;
  app.require_subcommand(1);
  Options o;
  Query q;
  auto const verb = [&](char const* called, char const* text) { return app.add_subcommand(called, text); };
  // Not named as the verbs are: these would hide the functions.
  auto &to_train = *verb("train", say.train), &to_evaluate = *verb("evaluate", say.evaluate),
       &to_predict = *verb("predict", say.predict), &to_explain = *verb("explain", say.explain),
       &to_generate = generates ? *verb("generate", say.generate) : none;
  add_train_options(to_train, o);
  data_of_run data;
  for (auto* const of_a_run : {&to_evaluate, &to_predict, &to_explain}) {
    add_checkpoint_options(*of_a_run, o, q);
    of_a_run->callback([&, of_a_run] {
      data = take_from_run(say.name, *of_a_run, q);
      if constexpr (requires { q.data_of_run; }) q.data_of_run = data.own();
    });
  }
  add_query_options(to_evaluate, to_predict, to_explain, to_generate, o, q);
  std::vector<more_verb> more;
  if constexpr (requires { more_verbs(app, o); }) more = more_verbs(app, o);
  std::string folder = say.name;
  std::replace(folder.begin(), folder.end(), '-', '_');
  fit_help(app, {argv + 1, argv + argc}, "examples/" + folder + "/README.md");
  auto const run = [&] {
    if (to_train.parsed()) return train(o);
    if (to_evaluate.parsed()) return evaluate(o, q);
    if (to_predict.parsed()) return predict(o, q);
    if (to_explain.parsed()) return explain(o, q);
    for (auto const& its_own : more)
      if (its_own.called->parsed()) return its_own.run();
    if constexpr (generates) return generate(o, q);
    return 0;
  };
  try {
    parse(app, to_train, o, argc, argv);
    if (to_train.parsed()) {
      expect_seeds(o);
      std::fputs(unused_gpu(o.backend, to_train.get_option("--backend")->count() > 0).c_str(), stderr);
    }
    std::fputs(printable(data.text()).c_str(), stdout);
    int const status = run();
    expect_all_printed();
    return status;
  } catch (CLI::ParseError const& e) {
    std::ostringstream wrong;
    int const status = app.exit(e, std::cout, wrong);
    if (dynamic_cast<CLI::ExtrasError const*>(&e) != nullptr)
      wrong << detail::renamed_options(app, {argv + 1, argv + argc});
    std::fputs(printable(wrong.str()).c_str(), stderr);
    if (status != 0) return misused;  // CLI11 has a number of its own, 100 and more, for each mistake
    return std::fflush(stdout) != 0 ? refused : all_well;  // --help
  } catch (triad::memory_refused const& e) {               // which says how much
    std::fprintf(stderr, "%s: %s\n", say.name, e.what());
    return refused;
  } catch (std::bad_alloc const&) {
    return no_memory(say.name);
  } catch (std::length_error const&) {  // of a container that no memory could hold
    return no_memory(say.name);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s: %s\n", say.name, printable(e.what()).c_str());
    return refused;
  }
}

}  // namespace triad::examples
