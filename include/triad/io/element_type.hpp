// The element types of safetensors files: the name and size of each type, and the conversion of elements to numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include "triad/core/bfloat16.hpp"

namespace triad {

struct element_type {
  std::string_view name;
  std::size_t bits;  // the number of bits of one element; if below 8, several elements share a byte
  bool readable;     // whether elements can be read as numbers; otherwise, only as bytes
  /// The number of bytes of one element of a readable type.
  constexpr std::size_t bytes() const { return bits / 8; }
};

/// The element types of safetensors 0.8.0.  A file may contain other types.  Elements of other types can be read only
/// as bytes.
inline constexpr std::array<element_type, 22> element_types{{
    {"F64", 64, true},         {"F32", 32, true},         {"I64", 64, true},     {"I32", 32, true},
    {"I16", 16, true},         {"I8", 8, true},           {"U64", 64, true},     {"U32", 32, true},
    {"U16", 16, true},         {"U8", 8, true},           {"BOOL", 8, true},     {"F16", 16, true},
    {"BF16", 16, true},        {"C64", 64, false},        {"F8_E4M3", 8, false}, {"F8_E5M2", 8, false},
    {"F8_E4M3FNUZ", 8, false}, {"F8_E5M2FNUZ", 8, false}, {"F8_E8M0", 8, false}, {"F6_E2M3", 6, false},
    {"F6_E3M2", 6, false},     {"F4", 4, false},
}};

/// Returns the type with this name, or null if there is no such type.
constexpr element_type const* find_element_type(std::string_view name) {
  for (auto const& t : element_types)
    if (t.name == name) return &t;
  return nullptr;
}

/// Returns the names of the readable types, for error messages.
inline std::string readable_element_types() {
  std::string names;
  for (auto const& t : element_types)
    if (t.readable) names += (names.empty() ? "" : ", ") + std::string(t.name);
  return names;
}

/// The name that the C++ type T has in a file.
template <class T>
constexpr std::string_view element_type_name() {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, long double>, "triad: only numbers are stored");
  if constexpr (std::is_same_v<T, bool>) {
    return "BOOL";
  } else if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 8 ? "F64" : "F32";
  } else {
    constexpr std::string_view names[2][4] = {{"U8", "U16", "U32", "U64"}, {"I8", "I16", "I32", "I64"}};
    return names[std::is_signed_v<T>][sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3];
  }
}

namespace detail {
template <class T>
T load_unaligned(std::byte const* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Converts an IEEE half-precision number: 1 sign bit, 5 bits of exponent, 10 bits of fraction.
inline float from_half(std::uint16_t bits) {
  std::uint32_t const exponent = bits >> 10 & 31, fraction = bits & 1023u;
  float const magnitude =
      exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
      : exponent == 31
          ? (fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN())
          : std::ldexp(static_cast<float>(1024 + fraction), static_cast<int>(exponent) - 25);
  return (bits >> 15) != 0 ? -magnitude : magnitude;
}
/// Calls f(value) with the number at `from`.  The element type `name` decides the C++ type of the value.  A BOOL
/// becomes 0 or 1.  F16 and BF16 become float.
template <class F>
void with_number(std::string_view name, std::byte const* from, F&& f) {
  if (name == "F64")
    f(load_unaligned<double>(from));
  else if (name == "F16")
    f(from_half(load_unaligned<std::uint16_t>(from)));
  else if (name == "BF16")
    f(from_bfloat16({load_unaligned<std::uint16_t>(from)}));
  else if (name == "F32")
    f(load_unaligned<float>(from));
  else if (name == "I64")
    f(load_unaligned<std::int64_t>(from));
  else if (name == "I32")
    f(load_unaligned<std::int32_t>(from));
  else if (name == "I16")
    f(load_unaligned<std::int16_t>(from));
  else if (name == "I8")
    f(load_unaligned<std::int8_t>(from));
  else if (name == "U64")
    f(load_unaligned<std::uint64_t>(from));
  else if (name == "U32")
    f(load_unaligned<std::uint32_t>(from));
  else if (name == "U16")
    f(load_unaligned<std::uint16_t>(from));
  else if (name == "U8")
    f(load_unaligned<std::uint8_t>(from));
  else if (name == "BOOL")
    f(static_cast<std::uint8_t>(load_unaligned<std::uint8_t>(from) != 0 ? 1 : 0));
}
}  // namespace detail

}  // namespace triad
