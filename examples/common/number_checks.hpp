// Checks of numbers and questions on a command line, with messages that say what is wanted; NaN and infinity never
// pass.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <string>
#include <system_error>

namespace triad::examples {

/// Numbers that accepts(double) takes.  kind: in --help; wanted: in the message to the others.
template <class Accepts>
CLI::Validator number_check(std::string const& kind, std::string const& wanted, Accepts const& accepts) {
  return {[=](std::string& text) {
            char* end = nullptr;
            double const value = std::strtod(text.c_str(), &end);
            bool const number = end != text.c_str() && *end == '\0' && std::isfinite(value);
            return number && accepts(value) ? std::string() : text + " is not " + wanted;
          },
          kind};
}

inline CLI::Validator const positive = number_check("POSITIVE", "a number above 0", [](double x) { return x > 0; });
inline CLI::Validator const not_negative =
    number_check("NONNEGATIVE", "a number of 0 or more", [](double x) { return x >= 0; });

/// Both ends included.
template <class T>
CLI::Validator between(T least, T most) {
  std::ostringstream range;
  range << least << " to " << most;
  return number_check(range.str(), "a number from " + range.str(),
                      [=](double x) { return x >= static_cast<double>(least) && x <= static_cast<double>(most); });
}

/// All of a type, and nothing that would be taken for another number of it: of more digits than fit, or, where there is
/// no sign, below 0.
template <class T>
CLI::Validator whole() {
  auto const range =
      std::to_string(std::numeric_limits<T>::min()) + " to " + std::to_string(std::numeric_limits<T>::max());
  return {[range](std::string& text) {
            T value{};
            auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            return error == std::errc() && end == text.data() + text.size()
                       ? std::string()
                       : text + " is not a whole number from " + range;
          },
          "INTEGER"};
}

/// Of options whose number is kept in 64 bits, which CLI11 does not bound: seeds, and counts.
inline CLI::Validator const any_seed = whole<std::uint64_t>();
inline CLI::Validator const any_count = whole<std::int64_t>();

/// For an option that asks something: blanks alone are refused.
inline CLI::Validator const not_blank(
    [](std::string const& text) {
      return text.find_first_not_of(" \t\r\n") == std::string::npos ? std::string("is empty: give what is asked about")
                                                                    : std::string();
    },
    "");

}  // namespace triad::examples
