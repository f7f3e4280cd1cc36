// Tests the checks of numbers on a command line.
// SPDX-License-Identifier: Apache-2.0
#include "shared/cli/number_checks.hpp"

#include <string>

#include "tests/catch.hpp"

namespace programs_number_checks_tests {

using namespace triad::programs;

/// Returns the error message of the check for a text. Returns an empty text if the check accepts the text.
std::string message_of(number_check const& check, std::string text) { return check(text); }

TEST_CASE("numbers in range pass, the ends of a range among them") {
  for (auto const* text : {"1", "0.5", "1e-300", "1e6", "+2"}) CHECK(message_of(positive, text).empty());
  for (auto const* text : {"0", "-0", "0.0", "3"}) CHECK(message_of(not_negative, text).empty());
  for (auto const* text : {"-2", "0", "7"}) CHECK(message_of(between(-2, 7), text).empty());
  for (auto const* text : {"0", "0.95"}) CHECK(message_of(between(0.0, 0.95), text).empty());
}

TEST_CASE("numbers out of range, and what is no number, are refused with what is wanted") {
  for (auto const* text : {"0", "-1", "1e-400", "nan", "inf", "1e400", "", "5x", "fast"})
    CHECK(message_of(positive, text) == std::string(text) + " is not a number above 0");
  for (auto const* text : {"-1", "-1e-9", "nan", "-inf"})
    CHECK(message_of(not_negative, text) == std::string(text) + " is not a number of 0 or more");
  for (auto const* text : {"-3", "8", "7.01", "nan"})
    CHECK(message_of(between(-2, 7), text) == std::string(text) + " is not a number from -2 to 7");
  CHECK(message_of(between(1, 1000000), "0") == "0 is not a number from 1 to 1000000");
  CHECK(positive.kind == "POSITIVE");
}

TEST_CASE("whole numbers of 64 bits end where their type does, and do not come round") {
  for (auto const* text : {"0", "1", "18446744073709551615"}) CHECK(message_of(any_seed, text).empty());
  for (auto const* text : {"18446744073709551616", "-1", "1.5", "", "5x", " 5", "99999999999999999999999"})
    CHECK(message_of(any_seed, text) == std::string(text) + " is not a whole number from 0 to 18446744073709551615");
  for (auto const* text : {"-9223372036854775808", "9223372036854775807"}) CHECK(message_of(any_count, text).empty());
  CHECK(message_of(any_count, "9223372036854775808") ==
        "9223372036854775808 is not a whole number from -9223372036854775808 to 9223372036854775807");
}

TEST_CASE("a number that begins with a 0 could be taken for another one, and an empty path for none") {
  for (auto const* text : {"0", "10", "-1", "100", "-", ""}) CHECK(message_of(decimal, text).empty());
  for (auto const* text : {"010", "-08", "00"})
    CHECK(message_of(decimal, text) == std::string(text) + " begins with a 0: give the number without it");
  CHECK(message_of(some_path, "a").empty());
  CHECK(message_of(some_path, "") == "is empty: give a path, or leave the option out");
}

}  // namespace programs_number_checks_tests
