// --help that fits a screen: short lines, options that are seldom given left to --help-all, and the program's page.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "options.hpp"

namespace triad::programs {

/// The lines that --help has at most.
inline constexpr std::ptrdiff_t help_lines = 48;

namespace detail {

class help_format : public CLI::Formatter {
 public:
  static constexpr std::size_t left = 26, wide = 110;

 protected:
  /// The name, and behind it what is said, in lines of `wide` columns.
  std::string make_option(CLI::Option const* option, bool positional) const override {
    std::string text = "  " + make_option_name(option, positional) + make_option_opts(option);
    std::size_t column = text.size();
    auto const to_left = [&] {
      if (column + 1 > left) text += '\n', column = 0;
      text.append(left - column, ' '), column = left;
    };
    to_left();
    std::string_view rest = option->get_description();
    while (!rest.empty()) {
      auto const end = std::min(rest.find(' '), rest.size());
      if (column > left && column + 1 + end > wide) text += '\n', column = 0, to_left();
      if (column > left) text += ' ', ++column;
      text += rest.substr(0, end), column += end;
      rest.remove_prefix(std::min(rest.find_first_not_of(' ', end), rest.size()));
    }
    return text + '\n';
  }
  /// A type and what it must be, where that is short: what is said has the choices.
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

}  // namespace detail

/// Of an app whose verbs have all their options, which are these.  arguments: of the command line, where --help-all may
/// be one.  page: of the program.
inline void fit_help(CLI::App& app, option_list const& options, std::vector<std::string> const& arguments,
                     std::string const& page) {
  auto const given = [&](char const* flag) {
    return std::find(arguments.begin(), arguments.end(), flag) != arguments.end();
  };
  // A hidden option has no name in messages either, so they are hidden only where help is all that is printed.
  bool const is_long = given("--help-all"), is_short = (given("--help") || given("-h")) && !is_long;
  auto const hide = [&](CLI::App& verb, bool option::* chosen) {
    int hidden = 0;
    for (auto const& one : options.all())
      if (one.*chosen && one.verbs.contains(verb.get_name())) verb.get_option("--" + one.name)->group(""), ++hidden;
    return hidden;
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
    if (is_short || is_long) hide(*verb, &option::is_hidden);
    if (!is_short || detail::lines_of(verb->help()) <= help_lines) continue;
    verb->footer(std::to_string(hide(*verb, &option::is_seldom)) + " options that are seldom given: --help-all.  " +
                 footer);
  }
}

}  // namespace triad::programs
