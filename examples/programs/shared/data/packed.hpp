// Converts values to bytes, so that a process can send them to other processes of the same program. A value is a
// number, a vector, a text, or a struct for which tied_parts(s) returns a tuple of references to the members.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace triad::programs {

namespace detail {
template <class V>
concept is_sequence = requires(V& v) {
  v.resize(std::size_t{});
  v.begin();
};
}  // namespace detail

template <class V>
void pack(std::string& to, V const& v) {
  if constexpr (std::is_arithmetic_v<V>) {
    to.append(reinterpret_cast<char const*>(&v), sizeof v);
  } else if constexpr (detail::is_sequence<V>) {
    pack(to, static_cast<std::uint64_t>(v.size()));
    for (auto const& part : v) pack(to, part);
  } else {
    std::apply([&](auto const&... part) { (pack(to, part), ...); }, tied_parts(const_cast<V&>(v)));
  }
}

/// Reads v from the beginning of `from`, and removes its bytes from `from`.
template <class V>
void unpack(std::string_view& from, V& v) {
  if constexpr (std::is_arithmetic_v<V>) {
    if (from.size() < sizeof v) throw std::logic_error("unpack: another process has sent less than was expected");
    std::memcpy(&v, from.data(), sizeof v);
    from.remove_prefix(sizeof v);
  } else if constexpr (detail::is_sequence<V>) {
    std::uint64_t count = 0;
    unpack(from, count);
    v.resize(count);
    for (auto& part : v) unpack(from, part);
  } else {
    std::apply([&](auto&... part) { (unpack(from, part), ...); }, tied_parts(v));
  }
}

}  // namespace triad::programs
