// The main() of a program: its verbs, its presets and config files, which the command line overrides, and its errors,
// each of which is printed as one line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "options.hpp"

namespace triad::programs {

/// The exit statuses of programs.  A program that a signal ended returns 128 plus the signal's number (interrupts.hpp).
/// The values are documented in docs/programs.md, so scripts may rely on them.
enum exit_status : int {
  all_well = 0,
  refused = 1,        // the input, a file or the machine is the reason, which is printed in one line
  misused = 2,        // an option does not exist, or does not accept its value
  did_not_reach = 3,  // the command finished, but a model did not learn its task, or a split's atoms are too far apart
};

/// Returns a hint if the machine has a GPU but the program computes on the processor; otherwise an empty text.
/// was_chosen: --backend was given.  driver: a file that exists if NVIDIA's driver is loaded.
std::string unused_gpu(std::string const& program, std::string const& backend, bool was_chosen,
                       std::string const& driver = "/dev/nvidiactl");

/// A verb: its name, its description in --help, and its function, which returns the exit status.
struct verb {
  std::string name, about;
  std::function<int()> run;
};

/// A program's name, its description in --help, and its verbs; one of these must be train.
struct program_texts {
  std::string name, about;
  std::vector<verb> verbs;
  std::string page;  // the program's documentation page
};

/// Reads the command line into o and runs the verb.  restart() sets o to the defaults of its preset and model; given
/// options then replace these.  For evaluate, predict and explain, the values of other options are taken from the run.
/// o.data_of_run tells whether --data is taken from the run, too.  Prints each error in one line.  Returns the exit
/// status.
int run_program(program_texts const& say, run_options& o, std::function<void()> const& restart, int argc, char** argv);

/// Runs a program whose options are of type Options.  apply_preset(o) is found by argument-dependent lookup.  verbs(o)
/// returns the verbs.
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
