// Runs a program.  Reads its command line, presets and config file, runs a verb, and prints each error in one line.
// The command line overrides config file and preset.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "options.hpp"

namespace triad::programs {

/// The exit statuses of programs.  A program that a signal ended returns 128 plus the signal's number (interrupts.hpp).
/// Scripts may rely on these values, which are documented in docs/programs.md.
enum exit_status : int {
  all_well = 0,
  refused = 1,        // the input, a file or the machine does not allow the command; one line says why
  misused = 2,        // an option does not exist, or does not accept its value
  did_not_reach = 3,  // the command finished, but a model did not learn its task, or a split's atoms diverge too much
};

/// Returns a hint if the machine has a GPU but the program computes on the processor.  Otherwise returns an empty text.
/// `was_chosen` is true if --backend was given.  `driver` is a file that exists if NVIDIA's driver is loaded.
std::string unused_gpu(std::string const& program, std::string const& backend, bool was_chosen,
                       std::string const& driver = "/dev/nvidiactl");

/// A verb: its name, its description in --help, and its function, which returns the exit status.
struct verb {
  std::string name, about;
  std::function<int()> run;
};

/// A program's name, its description in --help, and its verbs.  One verb must be `train`.
struct program_texts {
  std::string name, about;
  std::vector<verb> verbs;
  std::string page;  // the program's documentation page
};

/// Reads the command line into o and runs the verb.  restart() must set o to the defaults of its preset and model.
/// Options on the command line then replace the defaults.  For evaluate, predict and explain, all other options have
/// the values of the run, including --data if o.data_of_run is true.  Prints each error in one line.  Returns the exit
/// status.
int run_program(program_texts const& say, run_options& o, std::function<void()> const& restart, int argc, char** argv);

/// Runs a program whose options are of type Options.  apply_preset(o) is found by argument-dependent lookup.  verbs(o)
/// must return the verbs.
template <class Options, class Verbs>
int run_program(std::string const& name, std::string const& about, Verbs const& verbs, int argc, char** argv,
                std::string const& page) {
  Options o;
  o.program = name;
  auto const restart = [&o] {
    Options fresh;
    fresh.program = o.program;
    fresh.preset = o.preset;
    fresh.model = o.model.empty() ? fresh.model : o.model;
    apply_preset(fresh);
    o = fresh;
  };
  return run_program({name, about, verbs(o), page}, o, restart, argc, argv);
}

}  // namespace triad::programs
