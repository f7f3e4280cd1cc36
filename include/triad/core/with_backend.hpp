// Creates a backend at run time from a text such as "cpu:2", "cuda:0" or "reference".
// SPDX-License-Identifier: Apache-2.0
//
//   return with_backend<cpu::backend, reference::backend>(text, [&](auto& ex) { return train_and_ask(ex); });
//
// The type of a backend selects the kernels, so a program chooses the backend once for its whole computation.  The
// function that is passed to with_backend() is compiled for each listed backend, and operations are called directly.  A
// single class for all backends would need a virtual function for each operation and each element type.  List only the
// backends that the program needs.  A source that lists cuda::backend must be compiled with nvcc.
#pragma once

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "triad/core/backend.hpp"
#include "triad/core/errors.hpp"

namespace triad {

/// A text that names a backend consists of a name and, after a colon, an optional number.  For "cpu:2" these are "cpu"
/// and 2.
struct backend_text {
  std::string_view name;
  int number = -1;  // -1: no number was given

  /// Splits the text.  Throws data_error if there is a colon without a number after it.
  static backend_text of(std::string_view text) {
    auto const colon = text.find(':');
    backend_text parsed{text.substr(0, colon)};
    if (colon == text.npos) return parsed;
    auto const digits = text.substr(colon + 1);
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed.number);
    if (error != std::errc() || end != digits.data() + digits.size() || parsed.number < 0)
      throw data_error("the backend \"" + std::string(text) +
                       "\": expected a number of 0 or more after the colon, found \"" + std::string(digits) + "\"");
    return parsed;
  }
};

namespace detail {
template <class First, class... Rest>
inline constexpr bool all_same = (std::is_same_v<First, Rest> && ...);
template <class Ex>
concept named_backend = backend<Ex> && requires {
  { Ex::name } -> std::convertible_to<std::string_view>;
};
template <class Ex>
concept numbered_backend = requires {
  { Ex::number_means } -> std::convertible_to<std::string_view>;
};

/// Returns the accepted texts, such as "cpu, cpu:THREADS".
template <class Ex>
std::string accepted_text() {
  std::string text = Ex::name;
  if constexpr (numbered_backend<Ex>) text += std::string(", ") + Ex::name + ":" + Ex::number_means;
  return text;
}
template <class... Ex>
std::string accepted_texts() {
  std::string all;
  ((all += (all.empty() ? "" : ", ") + accepted_text<Ex>()), ...);
  return all;
}

template <class... Ex>
constexpr bool names_differ() {
  std::string_view const names[] = {Ex::name...};
  for (std::size_t i = 0; i < sizeof...(Ex); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (names[i] == names[k]) return false;
  return true;
}

/// Calls f with a backend of this type.
template <class Ex, class F>
decltype(auto) on_backend(int number, F&& f) {
  if constexpr (numbered_backend<Ex>) {
    if (number >= 0) {
      Ex ex(number);
      return f(ex);
    }
  }
  Ex ex{};
  return f(ex);
}

template <class F, class First, class... Rest>
decltype(auto) with_one_of(std::string_view text, backend_text const& parsed, std::string const& all, F&& f) {
  if (parsed.name == First::name) {
    if (parsed.number >= 0 && !numbered_backend<First>)
      throw data_error("the backend \"" + std::string(text) + "\": " + First::name +
                       " takes no number; this program has " + all);
    return on_backend<First>(parsed.number, f);
  }
  if constexpr (sizeof...(Rest) > 0)
    return with_one_of<F, Rest...>(text, parsed, all, std::forward<F>(f));
  else
    throw data_error("the backend \"" + std::string(text) + "\" is not in this program, which has " + all);
}
}  // namespace detail

/// Creates the backend that the text names, calls f(ex) with this backend, and returns the result of f.  The type of
/// the result must be the same for all Backends.  The backend is destroyed when f returns.  Throws data_error if the
/// text names none of the Backends, or if the text has a number although the backend takes none.  The backend's
/// constructor throws if there is no such device.
template <detail::named_backend... Backends, class F>
decltype(auto) with_backend(std::string_view text, F&& f) {
  static_assert(sizeof...(Backends) > 0,
                "with_backend: list the backends to choose from: with_backend<cpu::backend>(...)");
  static_assert(detail::names_differ<Backends...>(),
                "with_backend: two of these backends have one name, so that a text could not tell them apart; give "
                "yours a `name` of its own, which it does not inherit");
  static_assert(detail::all_same<std::invoke_result_t<F&, Backends&>...>,
                "with_backend: the function gives another type for another backend; let it give one, such as a number "
                "or a text, or nothing");
  return detail::with_one_of<F, Backends...>(text, backend_text::of(text), detail::accepted_texts<Backends...>(),
                                             std::forward<F>(f));
}

}  // namespace triad
