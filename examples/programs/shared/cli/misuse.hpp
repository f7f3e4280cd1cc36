// Makes the messages about wrong command lines.  They replace the messages of CLI11, and name the given and the
// expected value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "near_names.hpp"
#include "options.hpp"
#include "renames.hpp"

namespace triad::programs {

namespace detail {

/// Returns the description of an option without its capital letter, for use in the middle of a sentence.
inline std::string within_sentence(std::string about) {
  if (about.size() > 1 && (about[1] == ' ' || std::islower(static_cast<unsigned char>(about[1])) != 0))
    about[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(about[0])));
  return about;
}

/// Returns the part of a message between the texts `before` and `after`.  Returns an empty text if the message does not
/// have them.
inline std::string between_texts(std::string_view text, std::string_view before, std::string_view after) {
  auto const at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  auto const end = text.find(after);
  return std::string(end == std::string_view::npos ? std::string_view() : text.substr(0, end));
}

/// Returns the names of a verb's options.  Hidden options and the opposites of flags are included.
inline std::vector<std::string> names_of_options(option_list const& options, std::string const& verb) {
  std::vector<std::string> names{"help", "help-all"};
  for (auto const& one : options.all()) {
    if (!one.verbs.contains(verb) || one.is_positional) continue;
    names.push_back(one.name);
    if (!one.opposite_name.empty()) names.push_back(one.opposite_name);
  }
  return names;
}

}  // namespace detail

/// Returns a text such as "did you mean --epochs?" for a name that no option of the verb has.  `name` has no dashes.
/// Returns an empty text if no option has a similar name, or if `name` was an option of version 0.1, which
/// renamed_options() reports.
inline std::string hint_of(std::string const& name, option_list const& options, std::string const& verb,
                           std::string const& dashes = "--") {
  if (auto const now = renamed(name); now != name && options.find(now, verb) != nullptr) return {};
  auto found = near_names(name, detail::names_of_options(options, verb));
  for (auto& one : found) one.insert(0, dashes);
  return found.empty() ? std::string() : "did you mean " + choice_text(found) + "?";
}

/// Describes the error in one line.  `app` is the app after parsing, `given` is the command line, and `options` has the
/// options of all verbs.
inline std::string what_is_wrong(CLI::ParseError const& e, CLI::App const& app, std::vector<std::string> const& given,
                                 option_list const& options) {
  using detail::between_texts;
  std::string const text = e.what();
  auto const parsed = app.get_subcommands();
  auto const verb = parsed.empty() ? std::string() : parsed.front()->get_name();
  auto const option_called = [&](std::string const& name) {
    return options.find(name.starts_with("--") ? name.substr(2) : name, verb);
  };
  if (dynamic_cast<CLI::RequiredError const*>(&e) != nullptr) {
    if (parsed.empty()) {
      std::vector<std::string> verbs;
      for (auto const* const one : app.get_subcommands([](CLI::App const*) { return true; }))
        verbs.push_back(one->get_name());
      return "no verb, expected " + choice_text(verbs);
    }
    auto const name = between_texts(text, "", " is required");
    if (auto const* const one = option_called(name))
      return name + ": missing, expected " + detail::within_sentence(one->about);
  }
  if (dynamic_cast<CLI::ArgumentMismatch const*>(&e) != nullptr) {
    auto const name = between_texts(text, "", ":");
    if (auto const* const one = option_called(name); one != nullptr && text.ends_with(" missing"))
      return name + ": no value, expected " +
             (one->choices.empty() ? std::string("one after it") : choice_text(one->choices));
    if (text.find(": At Most ") != std::string::npos)
      return name + ": " + text.substr(text.rfind(' ') + 1) + " values, expected one; give the option once";
  }
  if (dynamic_cast<CLI::ConversionError const*>(&e) != nullptr) {  // only of flags: other values were checked before
    auto const name = between_texts(text, "Could not convert: ", " = ");
    if (!name.empty())
      return name + ": " + text.substr(text.find(" = ") + 3) + ", expected true or false, or no value at all";
  }
  if (dynamic_cast<CLI::ExtrasError const*>(&e) != nullptr && !parsed.empty()) {
    auto const extras = parsed.front()->remaining(true);
    std::string in_order, hints;
    for (auto const& argument : given) {
      if (std::find(extras.begin(), extras.end(), argument) == extras.end()) continue;
      in_order += (in_order.empty() ? "" : " ") + argument;
      auto const name = argument.find_first_not_of('-');
      if (name == 0 || name == std::string::npos) continue;
      auto const hint = hint_of(argument.substr(name, argument.find('=') - name), options, verb);
      if (!hint.empty()) hints += hint + " ";
    }
    if (!in_order.empty())
      return in_order + ": not expected; " + hints + verb + " --help-all lists what " + verb + " takes";
  }
  return text;
}

}  // namespace triad::programs
