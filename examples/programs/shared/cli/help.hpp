// Formats --help so that it fits on a screen.  It has short lines, the default of each option, and the address of the
// program's documentation.  Only --help-all shows rarely used options.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "options.hpp"

namespace triad::programs {

/// The largest number of lines of --help.
inline constexpr std::ptrdiff_t help_lines = 48;

namespace detail {

class help_format : public CLI::Formatter {
 public:
  static constexpr std::size_t left = 26, wide = 110;

 protected:
  /// Returns the name and the text of an option, in lines of `wide` columns.
  std::string make_option(CLI::Option const* option, bool positional) const override {
    std::string text = "  " + make_option_name(option, positional) + make_option_opts(option);
    std::size_t column = text.size();
    auto const to_left = [&] {
      if (column + 1 > left) {
        text += '\n';
        column = 0;
      }
      text.append(left - column, ' ');
      column = left;
    };
    to_left();
    std::string_view rest = option->get_description();
    while (!rest.empty()) {
      auto const end = std::min(rest.find(' '), rest.size());
      if (column > left && column + 1 + end > wide) {
        text += '\n';
        column = 0;
        to_left();
      }
      if (column > left) {
        text += ' ';
        ++column;
      }
      text += rest.substr(0, end);
      column += end;
      rest.remove_prefix(std::min(rest.find_first_not_of(' ', end), rest.size()));
    }
    return text + '\n';
  }
  /// Returns an option's type with the condition on its value, such as the list of choices.  If the line would be too
  /// long, leaves out the condition, because the option's description has the choices too.
  std::string make_option_opts(CLI::Option const* option) const override {
    auto text = CLI::Formatter::make_option_opts(option);
    auto const type = option->get_type_name(), short_type = type.substr(0, type.find(':'));
    auto const at = text.find(type);
    if (at != std::string::npos && make_option_name(option, false).size() + 3 + text.size() > left)
      text.replace(at, type.size(), short_type);
    return text;
  }
};

inline std::ptrdiff_t lines_of(std::string const& text) { return std::count(text.begin(), text.end(), '\n'); }

/// Returns an option's value as on a command line, or "none".
inline std::string default_of(option const& one) {
  if (auto const* const text = std::get_if<std::string*>(&one.value)) return (*text)->empty() ? "none" : **text;
  if (auto const* const texts = std::get_if<std::vector<std::string>*>(&one.value))
    return (*texts)->empty() ? "none" : fmt::format("{}", fmt::join(**texts, ","));
  if (auto const* const numbers = std::get_if<std::vector<int>*>(&one.value))
    return (*numbers)->empty() ? "none" : fmt::format("{}", fmt::join(**numbers, ","));
  if (auto const* const form = std::get_if<triangle_form*>(&one.value)) return attention_name(**form);
  auto shown = one;
  shown.default_text.reset();
  return shown.toml();
}

/// Returns the value of the last --name VALUE or --name=VALUE among the arguments.  Returns `value` if there is none.
inline std::string given_value(std::vector<std::string> const& arguments, std::string const& name, std::string value) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--" + name && i + 1 < arguments.size()) value = arguments[i + 1];
    if (arguments[i].starts_with("--" + name + "=")) value = arguments[i].substr(name.size() + 3);
  }
  return value;
}

}  // namespace detail

/// Returns the default of each option, such as "128", or "128, quick 64" if a preset has another default. restart()
/// must set o to the defaults of its preset and model.  If the command line has a preset or a model, as in `train
/// --preset quick --help`, returns its defaults.
inline std::vector<std::string> default_texts(run_options& o, std::function<void()> const& restart,
                                              option_list const& options, std::vector<std::string> const& arguments,
                                              bool with_presets) {
  o.model = detail::given_value(arguments, "model", o.model);
  auto const asked = detail::given_value(arguments, "preset", {});
  auto const of = [&](std::string const& preset) {
    o.preset = preset;
    restart();
    o.preset.clear();
    std::vector<std::string> texts;
    for (auto const& one : options.all()) texts.push_back(detail::default_of(one));
    return texts;
  };
  auto const usual = of(asked);
  auto texts = usual;
  auto const* const presets = options.find("preset");
  if (with_presets && asked.empty() && presets != nullptr)
    for (auto const& preset : presets->choices) {
      auto const its = of(preset);
      for (std::size_t i = 0; i < texts.size(); ++i)
        if (its[i] != usual[i]) texts[i] += "; " + preset + ": " + its[i];
    }
  return texts;
}

/// Formats the help of an app.  The options of all verbs are in `options`.  `defaults` has the text for the default of
/// each option, or is empty.  `arguments` is the command line with --help or --help-all.  `page` is the program's
/// documentation page.
inline void fit_help(CLI::App& app, option_list const& options, std::vector<std::string> const& defaults,
                     std::vector<std::string> const& arguments, std::string const& page) {
  auto const given = [&](char const* flag) {
    return std::find(arguments.begin(), arguments.end(), flag) != arguments.end();
  };
  // CLI11 does not name hidden options in its error messages.  So options are hidden only if the program prints its
  // help and ends.
  bool const is_long = given("--help-all"), is_short = (given("--help") || given("-h")) && !is_long;
  auto const hide = [&](CLI::App& verb, bool option::* chosen) {
    int hidden = 0;
    for (auto const& one : options.all())
      if (one.*chosen && one.verbs.contains(verb.get_name())) verb.get_option("--" + one.name)->group(""), ++hidden;
    return hidden;
  };
  // Returns true if `verb`, such as evaluate, reads the option's value from the run that it uses.
  auto const of_the_run = [&](option const& one, std::string const& verb) {
    static std::set<std::string> const of_the_machine{"backend", "precision", "threads"};
    return verb != "train" && one.verbs.contains("train") && options.find("run", verb) != nullptr &&
           !of_the_machine.contains(one.name);
  };
  auto const say_defaults = [&](CLI::App& verb) {
    for (std::size_t i = 0; i < defaults.size(); ++i) {
      auto const& one = options.all()[i];
      bool const has_none = std::holds_alternative<bool*>(one.value) || one.is_required || one.is_positional;
      if (has_none || !one.verbs.contains(verb.get_name())) continue;
      auto* const added = verb.get_option("--" + one.name);
      auto const text = of_the_run(one, verb.get_name()) ? "the run's" : defaults[i];
      added->description(added->get_description() + " [" + text + "]");
    }
  };
  auto const format = std::make_shared<detail::help_format>();
  app.formatter(format);
  app.set_help_flag("-h,--help,--help-all", "This text");
  app.footer("VERB --help has the options of a verb.  " + page +
             " tells all of it; docs/programs.md, the exit status.");
  for (auto* const verb : app.get_subcommands([](CLI::App*) { return true; })) {
    verb->formatter(format);
    verb->set_help_flag("-h,--help,--help-all", "This text; --help-all: every option");
    auto const footer = "More: " + page;
    verb->footer(footer);
    if (is_short || is_long) {
      say_defaults(*verb);
      hide(*verb, &option::is_hidden);
    }
    if (!is_short || detail::lines_of(verb->help()) <= help_lines) continue;
    verb->footer(std::to_string(hide(*verb, &option::is_seldom)) + " options that are seldom given: --help-all.  " +
                 footer);
  }
}

}  // namespace triad::programs
