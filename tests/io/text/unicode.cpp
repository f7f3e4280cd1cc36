// Tests which code points are letters and numbers. Checks some cases by hand, and compares all code points with the
// categories of Unicode 14.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/unicode.hpp"

#include <cstdint>
#include <string>

#include "tests/catch.hpp"
#include "triad/io/text/characters.hpp"

namespace io_unicode_tests {

using namespace triad::text;

TEST_CASE("letters and numbers are Unicode's") {
  for (char32_t const c : {U'A', U'z', U'\u00aa', U'\u00b5', U'\u0100', U'\uac00', U'\ud7a3', U'\U000323af'}) {
    CAPTURE(static_cast<unsigned>(c));
    CHECK((is_letter(c) && !is_number(c)) == (c != U'\U000323af'));  // Unicode 15 added this letter
  }
  for (char32_t const c : {U'0', U'9', U'\u00b2', U'\u2160', U'\U0001fbf9'}) CHECK((is_number(c) && !is_letter(c)));
  for (char32_t const c : {U'@', U'[', U'/', U':', U'\u00d7', U'\ufffd', U'\U0010ffff'})
    CHECK_FALSE((is_number(c) || is_letter(c)));
}

// The expected digest is that of a table of Unicode 14's categories, computed with Python's unicodedata 14.0.0.
TEST_CASE("every code point is a letter, a number, white space or none of them, as Unicode 14 has it") {
  std::uint64_t digest = 14695981039346656037u;  // FNV-1a, over one byte for each code point
  long letters = 0, numbers = 0, spaces = 0;
  for (char32_t c = 0; c < 0x110000; ++c) {
    bool const letter = is_letter(c), number = is_number(c), space = is_space(c);
    letters += letter, numbers += number, spaces += space;
    digest = (digest ^ ((letter ? 1u : 0u) | (number ? 2u : 0u) | (space ? 4u : 0u))) * 1099511628211u;
  }
  INFO("utf8proc with Unicode " << utf8proc_unicode_version());
  // If this fails, the version of Unicode is newer, and its new letters must be added to unicode.hpp.
  CHECK(letters == 131756);
  CHECK(numbers == 1791);
  CHECK(spaces == 29);
  CHECK(digest == 0x6a6b49f4cff2d2d7u);
}

TEST_CASE("white space is what utf8proc's separators are, and the controls where Python splits") {
  std::string differing;
  for (char32_t c = 0; c < 0x110000; ++c) {
    auto const category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
    bool const separator =
        category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
    bool const control = (c >= 0x9 && c <= 0xd) || (c >= 0x1c && c <= 0x1f) || c == 0x85;
    if (is_space(c) != (separator || control)) differing += std::to_string(c) + " ";
  }
  CHECK(differing.empty());
}

TEST_CASE("what is no code point is neither letter nor number") {
  for (char32_t const c : {char32_t{0x110000}, char32_t{0x7fffffff}, char32_t{0xffffffff}, char32_t{0xd800}})
    CHECK_FALSE((is_letter(c) || is_number(c)));
}

}  // namespace io_unicode_tests
