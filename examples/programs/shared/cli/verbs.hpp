// The main() of a program: its verbs; presets and config files, which the command line overrides; errors, each printed
// as one line.
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
  refused = 1,        // because of the input, a file or the machine; the reason is printed in one line
  misused = 2,        // an option that does not exist, or a value that it does not accept
  did_not_reach = 3,  // it ran to its end, but a model did not learn its task, or a split's atoms are too far apart
};

/// Returns a hint if there is a GPU but the processor computes, else an empty text.  was_chosen: --backend was given.
/// driver: a file that exists if NVIDIA's driver is loaded.
std::string unused_gpu(std::string const& backend, bool was_chosen, std::string const& driver = "/dev/nvidiactl");

/// A verb: its name, its text in --help, and its function, which returns the exit status.
struct verb {
  std::string name, about;
  std::function<int()> run;
};

/// A program's name, its text in --help, and its verbs; one of them is train.
struct program_texts {
  std::string name, about;
  std::vector<verb> verbs;
  std::string page;  // the program's documentation page
};

/// Reads the command line into o and runs its verb.  restart() sets o to the defaults of its preset and model; then
/// given options override these.  For evaluate, predict and explain, options that are not given are those of the run;
/// o.data_of_run tells whether --data is one of these.  Prints errors in one line.  Returns the exit status.
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
