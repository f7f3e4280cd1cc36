// The whole main() of a program: verbs; presets and config files, which options of the command line override; one line
// for an error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "options.hpp"

namespace triad::programs {

/// What a program ends with; one that a signal ended has 128 and the signal's number (interrupts.hpp).
/// docs/programs.md has the table; scripts and other programs go by it.
enum exit_status : int {
  all_well = 0,
  refused = 1,  // by the input, a file or the machine: told in one line
  misused = 2,  // an option that does not exist, or a value that it does not take
  did_not_reach =
      3,  // ran to its end, and reports that: a model did not learn its task, a split's atoms are too far apart
};

/// A line for people where a GPU is there while the processor computes, or nothing.  was_chosen: --backend was given.
/// driver: what there is where NVIDIA's driver runs.
std::string unused_gpu(std::string const& backend, bool was_chosen, std::string const& driver = "/dev/nvidiactl");

/// One verb: its text in --help, and its function, which returns the exit status.
struct verb {
  std::string name, about;
  std::function<int()> run;
};

/// A program's name, what --help says of it, and its verbs, of which train is one.
struct program_texts {
  std::string name, about;
  std::vector<verb> verbs;
  std::string page;  // about it
};

/// Reads the command line into o and runs the verb that it names.  restart(): o becomes the defaults that its preset
/// and model stand for; what is given overrides them.  evaluate, predict and explain get the options of the run that is
/// asked about where the command line gives no others; o.data_of_run says whether --data is among them.  The exit
/// status of the verb, or of what went wrong, told in one line.
int run_program(program_texts const& say, run_options& o, std::function<void()> const& restart, int argc, char** argv);

/// The same for Options, of which apply_preset(o) is found by its type.  verbs(o): the verbs.
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
