// Tests the element types of a safetensors file: names, sizes, and the values of those types that C++ has.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/element_type.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace io_element_type_tests {

using namespace triad;

static_assert(element_type_name<double>() == "F64" && element_type_name<float>() == "F32");
static_assert(element_type_name<std::int64_t>() == "I64" && element_type_name<std::uint64_t>() == "U64");
static_assert(element_type_name<std::int32_t>() == "I32" && element_type_name<std::uint16_t>() == "U16");
static_assert(element_type_name<std::int8_t>() == "I8" && element_type_name<bool>() == "BOOL");

TEST_CASE("every element type has one name, and its size is in the name") {
  std::set<std::string> names;
  for (auto const& t : element_types) {
    CAPTURE(t.name);
    CHECK(names.insert(std::string(t.name)).second);
    CHECK(find_element_type(t.name) == &t);
    auto const digits = std::string(t.name).substr(t.name.find_first_of("0123456789B"));
    auto const bits = digits == "BOOL" ? 8 : std::stoi(digits[0] == 'B' ? digits.substr(2) : digits);
    CHECK(t.bits == static_cast<std::size_t>(bits));
    CHECK((t.bytes() * 8 == t.bits || !t.readable));
  }
  CHECK(names.size() == 22);
  for (auto const* name : {"", "F33", "f32", "F32 ", "F6"}) CHECK(find_element_type(name) == nullptr);
  CHECK(readable_element_types() == "F64, F32, I64, I32, I16, I8, U64, U32, U16, U8, BOOL, F16, BF16");
}

template <class T>
void expect_number(T value) {
  std::vector<std::byte> bytes(sizeof(T) + 1);  // not aligned to its size
  std::memcpy(bytes.data() + 1, &value, sizeof value);
  auto const name = element_type_name<T>();
  CAPTURE(name);
  CHECK(find_element_type(name)->bytes() == sizeof(T));
  CHECK(find_element_type(name)->readable);
  int seen = 0;
  detail::with_number(name, bytes.data() + 1, [&](auto found) {
    ++seen;
    if constexpr (std::is_same_v<T, bool>)
      CHECK((found == 1) == value);
    else if constexpr (std::is_same_v<decltype(found), T>)
      CHECK(found == value);
    else
      FAIL("a number of another type");
  });
  CHECK(seen == 1);
}

TEST_CASE("numbers of the types that C++ has come back as they are, wherever they lie") {
  expect_number(-1.5e300);
  expect_number(2.5f);
  expect_number(std::numeric_limits<std::int64_t>::min());
  expect_number(std::numeric_limits<std::int32_t>::min());
  expect_number(std::int16_t{-3});
  expect_number(std::int8_t{-128});
  expect_number(std::numeric_limits<std::uint64_t>::max());
  expect_number(std::uint32_t{4000000000});
  expect_number(std::uint16_t{65535});
  expect_number(std::uint8_t{255});
  expect_number(true);
  std::array<std::byte, 2> const two{std::byte{2}, std::byte{0}};
  detail::with_number("BOOL", two.data(), [](auto found) { CHECK(found == 1); });  // every byte other than zero
  detail::with_number("F16", two.data(), [](auto found) { CHECK(static_cast<double>(found) == 0x1p-23); });
  detail::with_number("F8_E4M3", two.data(), [](auto) { FAIL("eight bits are no C++ number"); });
}

}  // namespace io_element_type_tests
