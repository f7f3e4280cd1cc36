// The command line, parsed by CLI11.
// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "config.hpp"
#include "help.hpp"
#include "misuse.hpp"
#include "outputs.hpp"
#include "renames.hpp"
#include "shared/processes/world.hpp"
#include "shared/report/printed.hpp"
#include "shared/run/run_folder.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/errors.hpp"

namespace triad::programs {
namespace {

using arguments = std::vector<std::string>;

CLI::Validator validator(number_check const& c) {
  return {[c](std::string& text) { return c(text); }, c.kind};
}

/// Checks every option that is a text.  Refuses an empty text, because it would mean that the option is not given.
number_check const some_text{{}, [](std::string const& text) {
                               return text.empty() ? std::string("is empty: give a value, or leave the option out")
                                                   : std::string();
                             }};

/// This character is appended to an argument in brackets, so that CLI11 does not read the argument as a list.  No
/// argument contains this character.
constexpr char no_list = '\0';

void add(CLI::App& app, option const& one) {
  auto const name = one.is_positional ? one.name : "--" + one.name;
  auto* const added = std::visit(
      [&](auto* v) -> CLI::Option* {
        using type = std::remove_cvref_t<decltype(*v)>;
        if constexpr (std::is_same_v<type, bool>) {
          return app.add_flag(name + (one.opposite_name.empty() ? "" : ",!--" + one.opposite_name), *v, one.about);
        } else {
          auto* const o = app.add_option(name, *v, one.about);
          // Accepts only names.  CLI11 runs the last transform first.
          if constexpr (std::is_same_v<type, triangle_form>) {
            std::vector<std::string> names;
            for (auto const& [form, value] : attention_names()) names.push_back(form);
            o->transform(CLI::Transformer(attention_names()))->transform(validator(one_of_names(names)));
          }
          if constexpr (std::is_same_v<type, std::vector<int>>) o->delimiter(',');
          if constexpr (std::is_same_v<type, std::string> || std::is_same_v<type, std::vector<std::string>>)
            o->transform(CLI::Validator(
                [](std::string& text) {
                  if (text.ends_with(no_list)) text.pop_back();
                  return std::string();
                },
                ""));
          if constexpr ((std::is_integral_v<type> && !std::is_same_v<type, bool>) ||
                        std::is_same_v<type, std::vector<int>>)
            o->check(validator(decimal));
          for (auto const& c : one.checks) o->check(validator(c));
          if constexpr (std::is_same_v<type, int> || std::is_same_v<type, std::vector<int>>)
            o->check(validator(whole_number_of_int));
          if constexpr (std::is_same_v<type, double>) o->check(validator(any_number));
          if constexpr (std::is_same_v<type, std::uint64_t>) o->check(validator(any_seed));
          if constexpr (std::is_same_v<type, std::int64_t>) o->check(validator(any_count));
          return o;
        }
      },
      one.value);
  if (std::holds_alternative<std::string*>(one.value) && !one.asks) added->check(validator(some_text));
  if (!one.choices.empty()) added->check(validator(one_of_names(one.choices)));
  if (one.is_file) added->check(validator(existing_file));
  if (one.is_folder) added->check(validator(existing_folder));
  if (one.asks) added->check(validator(not_blank));
  added->required(one.is_required);
}

/// Returns the names of the long options among arguments, without dashes.
std::set<std::string> typed_names(arguments const& all) {
  std::set<std::string> names;
  for (auto const& argument : all)
    if (argument.starts_with("--") && argument.size() > 2) names.insert(argument.substr(2, argument.find('=') - 2));
  return names;
}

/// Returns the names of the given options.  If a flag is given by its opposite, such as --untied, also returns the
/// flag's name.
std::set<std::string> option_names(CLI::App const& train, arguments const& all) {
  auto const typed = typed_names(all);
  auto names = typed;
  for (auto const& name : typed)
    if (auto const* const option = train.get_option_no_throw("--" + name); option != nullptr)
      names.insert(option->get_lnames().front());
  return names;
}

/// Throws data_error if a flag and its opposite are both on the command line, such as --tied and --untied.
void refuse_opposites(option_list const& options, arguments const& all) {
  auto const typed = typed_names(all);
  for (auto const& one : options.all())
    if (!one.opposite_name.empty() && typed.contains(one.name) && typed.contains(one.opposite_name))
      throw data_error("--" + one.name + " and --" + one.opposite_name + " are opposites: give one");
}

/// Returns the options of a config file as arguments.  Omits options that the command line also has.
arguments configured(CLI::App const& train, option_list const& options, run_options const& o, std::string const& file) {
  arguments found;
  auto const items = read_config(file);
  for (auto const& item : items) {
    if (item.name == "program" && o.owns(item.text())) continue;  // another name of this program, or an older one
    auto const* const option = train.get_option_no_throw("--" + item.name);
    if (option == nullptr) {
      auto const owner = owner_of(items);
      auto const hint = hint_of(item.name, options, "train", "");
      throw data_error(file + ": no option of this program's train is called " + item.name +
                       (!owner.empty() && !o.owns(owner) ? "; it is of a run of " + owner
                        : hint.empty()                   ? ""
                                                         : "; " + hint));
    }
    if (option->count() == 0 && !item.values.empty()) found.push_back("--" + item.name + "=" + item.text());
  }
  return found;
}

/// Returns a line for each argument that is a renamed option of version 0.1.  The line has the option's current name.
std::string renamed_options(CLI::App const& app, arguments const& all) {
  std::string text;
  for (auto const* const verb : app.get_subcommands())  // the verb on the command line
    for (auto const& option : typed_names(all))
      if (auto const now = renamed(option); now != option && verb->get_option_no_throw("--" + option) == nullptr &&
                                            verb->get_option_no_throw("--" + now) != nullptr)
        text += "--" + option + " is called --" + now + " now\n";
  return text;
}

/// Finds which data a verb reads, and which data its run was trained on.
class data_of_run {
 public:
  /// Sets options that are not on the command line, such as --data, to those of the run.  Throws data_error if the run
  /// belongs to another program.
  static data_of_run take(CLI::App& verb, run_options& o) {
    data_of_run found;
    auto const options = options_of(o);
    auto const of_the_run = [&](std::string const& name) {
      auto const* const one = options.find(name, verb.get_name());
      return one != nullptr && one->verbs.contains("train") ? verb.get_option("--" + name) : nullptr;
    };
    auto* const data = of_the_run("data");
    found.wanted_ = data != nullptr;
    if (found.wanted_ && data->count() > 0) found.given_ = data->results().front();
    std::error_code none;
    auto const file = config_of(o.run);
    found.known_ = std::filesystem::is_regular_file(file, none);
    auto const items = found.known_ ? read_config(file) : std::vector<config_item>();
    auto const owner = owner_of(items);
    auto const refuse = [&](std::string const& of) {
      throw data_error(o.run + " is a run of " + of + ", and this is " + o.program + ": give it to " + owner + " " +
                       verb.get_name());
    };
    if (!owner.empty() && !o.owns(owner)) refuse(owner);
    for (auto const& item : items)  // a program with several tasks stores its task, too
      if (auto const* const one = options.find(item.name, verb.get_name());
          item.name == "task" && one != nullptr && one->choices.size() == 1 && one->choices.front() != item.text() &&
          verb.get_option("--task")->count() == 0)
        refuse(owner + " --task " + item.text());
    expect_one_run(o.run);
    if (!std::filesystem::exists(checkpoint_of(o.run), none))
      throw data_error(o.run + ": there is no checkpoint here: give the folder that train wrote with --out, or its " +
                       "model.safetensors");
    if (!found.known_) return found;
    static std::set<std::string> const of_the_machine{"backend", "precision", "threads"};
    for (auto const& item : items) {
      if (item.name == "data") found.trained_on_ = item.text();
      auto* const option = of_the_run(item.name);
      if (option == nullptr || option->count() > 0 || of_the_machine.contains(item.name)) continue;
      bool const flag = option->get_expected_min() == 0;  // a flag may be given by its opposite
      for (auto const& value : item.values) option->add_result(flag ? option->get_flag_value(item.name, value) : value);
      option->run_callback();
    }
    o.data_of_run = found.given_.empty();
    return found;
  }

  /// Returns a line to print.  Returns an empty text if the verb has no data, or if the data are generated as in
  /// training.
  std::string text() const {
    if (!wanted_) return {};
    if (!given_.empty() && !known_) return "data: " + given_ + "\n";
    if (!known_)
      return "there is no config.toml next to this checkpoint, so the data of its run are not known and others are "
             "taken: give them with --data\n";
    if (given_.empty()) return trained_on_.empty() ? std::string() : "data: " + trained_on_ + ", those of the run\n";
    std::error_code none;
    if (!trained_on_.empty() && std::filesystem::equivalent(given_, trained_on_, none))
      return "data: " + given_ + ", those of the run\n";
    return "data: " + given_ + "; those of the run: " + (trained_on_.empty() ? "generated" : trained_on_) + "\n";
  }

 private:
  bool wanted_ = false;             // the verb has an option --data, for a data set
  bool known_ = false;              // config.toml exists
  std::string given_, trained_on_;  // the data on the command line; the data of the run (empty: generated)
};

/// Parses the command line twice.  The first pass finds the preset, the model and the config file, and sets the options
/// to their values.  In the second pass, the other arguments replace these values.
void parse(CLI::App& app, CLI::App const& train, option_list const& options, run_options& o,
           std::function<void()> const& restart, arguments const& given) {
  auto all = given;
  auto const read = [&] {
    arguments reversed(all.rbegin(), all.rend());  // CLI11 expects the reverse order
    for (auto& argument : reversed)
      if (argument.starts_with('[') && argument.ends_with(']')) argument.push_back(no_list);
    app.clear();
    app.parse(reversed);
  };
  read();
  auto const config = o.config;
  auto const more = config.empty() ? arguments() : configured(train, options, o, config);
  for (auto const& argument : more) {
    if (argument.starts_with("--preset=")) o.preset = argument.substr(9);
    if (argument.starts_with("--model=")) o.model = argument.substr(8);
  }
  all.insert(all.end(), more.begin(), more.end());
  restart();
  o.given = option_names(train, given);
  o.configured = option_names(train, more);
  try {
    read();
  } catch (CLI::ParseError const& e) {  // the command line alone is valid, so the error is in the config file
    if (more.empty()) throw;
    throw data_error(config + ": " + what_is_wrong(e, app, all, options));
  }
}

/// Returns the options that must be the same in all processes.  Omits the number of threads.  For `train`, also omits
/// paths, because the contents of the files are compared.
std::string told_options(run_options const& o, std::string const& verb) {
  std::string text;
  for (auto const& one : options_of(o).all())
    if (one.verbs.contains(verb) && one.has_value() && one.name != "threads" && (verb != "train" || !one.is_path))
      text += one.name + " = " + one.toml() + "\n";
  return verb + "\n" + text;
}

/// Prints the message about missing memory.  Returns the exit status.
int no_memory(std::string const& program) {
  return fail_world(program +
                        ": there is not enough memory for a model, or data, of these sizes: take smaller ones, or a "
                        "machine that has more",
                    refused);
}

}  // namespace

std::string unused_gpu(std::string const& program, std::string const& backend, bool was_chosen,
                       std::string const& driver) {
  std::error_code none;
  if (was_chosen || backend == "cuda" || !std::filesystem::exists(driver, none)) return {};
  return "the processor computes, and there is an NVIDIA GPU here: --backend cuda takes it in build/cuda/bin/" +
         program + ", which cmake --preset cuda && cmake --build --preset cuda --target " + program + " makes\n";
}

int run_program(program_texts const& say, run_options& o, std::function<void()> const& restart, int argc, char** argv) {
#if defined(SIGXFSZ)
  std::signal(SIGXFSZ, SIG_IGN);  // so that exceeding the file size limit is reported as an error
#endif
  CLI::App app{say.about, argc > 0 ? argv[0] : say.name};
  app.require_subcommand(1);
  std::string about_data;
  auto const options = options_of(o);
  for (auto const& v : say.verbs) {
    auto* const sub = app.add_subcommand(v.name, v.about);
    for (auto const& one : options.all())
      if (one.verbs.contains(v.name)) add(*sub, one);
    if (options.find("run", v.name) != nullptr)
      sub->callback([&, sub] { about_data = data_of_run::take(*sub, o).text(); });
  }
  try {
    start_world(&argc, &argv);
  } catch (std::exception const& e) {
    return fail_world(say.name + ": " + printable(e.what()), refused);
  }
  arguments const given(argv + 1, argv + argc);
  if (auto const called = given.empty() ? std::string("-") : given.front();
      !called.starts_with('-') &&
      std::none_of(say.verbs.begin(), say.verbs.end(), [&](programs::verb const& v) { return v.name == called; })) {
    std::string all;
    for (auto const& v : say.verbs) all += (all.empty() ? "" : ", ") + v.name;
    return fail_world(say.name + ": \"" + printable(called) + "\" is no verb; these are: " + all, misused);
  }
  auto const asks = [&](std::initializer_list<char const*> flags) {
    return std::find_first_of(given.begin(), given.end(), flags.begin(), flags.end()) != given.end();
  };
  std::vector<std::string> defaults;
  if (asks({"-h", "--help", "--help-all"})) defaults = default_texts(o, restart, options, given, asks({"--help-all"}));
  fit_help(app, options, defaults, given, say.page);
  try {
    parse(app, *app.get_subcommand("train"), options, o, restart, given);
    refuse_opposites(options, given);
    auto const& chosen = *app.get_subcommands().front();
    auto const verb = std::find_if(say.verbs.begin(), say.verbs.end(),
                                   [&](programs::verb const& v) { return v.name == chosen.get_name(); });
    if (world().size() > 1 && verb->name != "train" && verb->name != "evaluate")
      throw data_error(verb->name +
                       " is done by one process: start it without mpirun; train and evaluate take several");
    if (verb->name == "train") {
      o.settle();
      expect_own_folder(o);
      if (world().is_first())
        std::fputs(
            (hint_of_tasks() + unused_gpu(say.name, o.backend, chosen.get_option("--backend")->count() > 0)).c_str(),
            stderr);
    }
    std::fputs(printable(about_data).c_str(), stdout);
    expect_same("the options", told_options(o, verb->name));
    int const status = verb->run();
    expect_all_printed();
    return world().is_first() ? status : all_well;  // if process 0 fails, mpirun ends the others
  } catch (CLI::ParseError const& e) {
    std::ostringstream wrong;
    int const status = app.exit(e, std::cout, wrong);
    auto text = wrong.str();
    if (text.starts_with(e.what()))
      text.replace(0, std::string_view(e.what()).size(), what_is_wrong(e, app, given, options));
    if (dynamic_cast<CLI::ExtrasError const*>(&e) != nullptr) text += renamed_options(app, given);
    // CLI11 has a different status for each kind of mistake.
    if (status != 0) return fail_world(printable(text), misused);
    return std::fflush(stdout) != 0 ? refused : all_well;  // --help
  } catch (triad::memory_refused const& e) {               // this exception's message has the size
    return fail_world(say.name + ": " + e.what(), refused);
  } catch (std::bad_alloc const&) {
    return no_memory(say.name);
  } catch (std::length_error const&) {  // a container would be larger than any memory
    return no_memory(say.name);
  } catch (std::exception const& e) {
    return fail_world(say.name + ": " + printable(e.what()), refused);
  }
}

}  // namespace triad::programs
