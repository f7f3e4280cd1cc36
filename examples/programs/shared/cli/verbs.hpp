// All of a program's main(): its verbs, presets and config files below what is given, and one line for an error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "options.hpp"

namespace triad::programs {

/// One verb: what --help says of it, and what it does, giving the exit status.
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
    fresh.program = o.program, fresh.preset = o.preset, fresh.model = o.model.empty() ? fresh.model : o.model;
    apply_preset(fresh);
    o = fresh;
  };
  return run_program({name, about, verbs(o), page}, o, restart, argc, argv);
}

}  // namespace triad::programs
