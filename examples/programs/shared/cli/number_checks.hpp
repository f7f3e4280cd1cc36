// Checks numbers, paths and questions on a command line.  The messages say which values are expected.  No check accepts
// NaN or infinity.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "triad/core/finite.hpp"

namespace triad::programs {

/// A check of a text.  wrong(text) describes the error, or returns an empty text if the value is accepted.  `kind` is
/// the name of the value's type in --help.
struct number_check {
  std::string kind;
  std::function<std::string(std::string const&)> wrong;

  std::string operator()(std::string const& text) const { return wrong(text); }
};

/// Returns a check that accepts a finite number if accepts(number) is true.  `wanted` describes these numbers in
/// messages.
template <class Accepts>
number_check numbers_that(std::string const& kind, std::string const& wanted, Accepts const& accepts) {
  return {kind, [=](std::string const& text) {
            char* end = nullptr;
            double const value = std::strtod(text.c_str(), &end);
            bool const number = end != text.c_str() && *end == '\0' && is_finite(value);
            return number && accepts(value) ? std::string() : text + " is not " + wanted;
          }};
}

inline number_check const positive = numbers_that("POSITIVE", "a number above 0", [](double x) { return x > 0; });
inline number_check const not_negative =
    numbers_that("NONNEGATIVE", "a number of 0 or more", [](double x) { return x >= 0; });

/// Returns a text such as "1 to 3".  Uses a stream, because g++ 12 wrongly warns about the concatenation of such texts.
template <class T>
std::string range_text(T least, T most) {
  std::ostringstream range;
  range << least << " to " << most;
  return range.str();
}

/// Returns a check that accepts numbers from `least` to `most`, both included.
template <class T>
number_check between(T least, T most) {
  auto const range = range_text(least, most);
  return numbers_that(range, "a number from " + range,
                      [=](double x) { return x >= static_cast<double>(least) && x <= static_cast<double>(most); });
}

/// Returns a check that accepts every value of an integer type.  It refuses a text that CLI11 would read as another
/// value: one with too many digits, or one with a minus sign for an unsigned type.
template <class T>
number_check whole() {
  auto const range = range_text(std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  return {"INTEGER", [range](std::string const& text) {
            T value{};
            auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            return error == std::errc() && end == text.data() + text.size()
                       ? std::string()
                       : text + " is not a whole number from " + range;
          }};
}

/// The checks of options with 64 bits, such as seeds and counts.  CLI11 does not check their range.
inline number_check const any_seed = whole<std::uint64_t>();
inline number_check const any_count = whole<std::int64_t>();

/// An additional check of every whole number.  It refuses a number such as 010, which CLI11 would read as an octal
/// number, here as 8.
inline number_check const decimal{
    {}, [](std::string const& text) {
      auto const at = text.find_first_not_of("+-");
      bool const other = at != std::string::npos && text[at] == '0' && at + 1 < text.size() && text[at + 1] >= '0' &&
                         text[at + 1] <= '9';
      return other ? text + " begins with a 0: give the number without it" : std::string();
    }};

/// A check for numbers that will be halved repeatedly.
inline number_check const power_of_two =
    numbers_that("POWER OF TWO", "a power of two from 1 to 65536: 1, 2, 4, 8, ...", [](double x) {
      int exponent = 0;
      return x >= 1 && x <= 65536 && std::frexp(x, &exponent) == 0.5;
    });

/// Accepts values of int.  An option has this check in addition to other checks, whose messages describe the option's
/// range.
inline number_check const whole_number_of_int{
    {}, [](std::string const& text) {
      char* end = nullptr;
      errno = 0;
      auto const value = std::strtoll(text.c_str(), &end, 0);  // reads the number like CLI11
      bool const whole = end != text.c_str() && *end == '\0';
      bool const fits =
          errno == 0 && value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max();
      return !whole ? text + ", expected a whole number"
             : fits ? std::string()
                    : text + ", expected a whole number from -2147483648 to 2147483647";
    }};

/// Accepts finite numbers, with or without a fraction.  An option has this check in addition to other checks.
inline number_check const any_number{{}, [](std::string const& text) {
                                       char* end = nullptr;
                                       double const value = std::strtod(text.c_str(), &end);
                                       bool const is = end != text.c_str() && *end == '\0' && is_finite(value);
                                       return is ? std::string() : text + ", expected a number";
                                     }};

/// Returns a text such as "a, b or c".
inline std::string choice_text(std::vector<std::string> const& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

/// Returns a check that accepts one of these names. --help lists the names.
inline number_check one_of_names(std::vector<std::string> const& names) {
  std::string listed;
  for (auto const& name : names) listed += (listed.empty() ? "" : ",") + name;
  return {"{" + listed + "}", [names](std::string const& text) {
            bool const is = std::find(names.begin(), names.end(), text) != names.end();
            return is ? std::string() : text + ", expected " + choice_text(names);
          }};
}

inline number_check const existing_file{
    "FILE", [](std::string const& path) {
      std::error_code none;
      if (std::filesystem::is_directory(path, none)) return path + " is a folder, expected a file";
      return std::filesystem::exists(path, none) ? std::string() : path + " is not there, expected a file";
    }};

inline number_check const existing_folder{"DIR", [](std::string const& path) {
                                            std::error_code none;
                                            if (std::filesystem::is_directory(path, none)) return std::string();
                                            return path + (std::filesystem::exists(path, none)
                                                               ? " is a file, expected a folder"
                                                               : " is not there, expected a folder");
                                          }};

/// Checks an option that names a file or a folder.  Refuses an empty text, because it would mean that the option is not
/// given.
inline number_check const some_path{
    {}, [](std::string const& text) {
      return text.empty() ? std::string("is empty: give a path, or leave the option out") : std::string();
    }};

/// Checks an option that is a question.  Refuses a text that has only blanks.
inline number_check const not_blank{{}, [](std::string const& text) {
                                      return text.find_first_not_of(" \t\r\n") == std::string::npos
                                                 ? std::string("is empty: give what is asked about")
                                                 : std::string();
                                    }};

}  // namespace triad::programs
