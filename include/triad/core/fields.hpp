// Functions that visit the named tensors of a `fields` struct.  Initialisation, optimisers and checkpoints use these
// functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "triad/core/arena.hpp"
#include "triad/core/mdspan.hpp"

namespace triad {

namespace detail {
struct any_visitor {
  template <class Member>
  constexpr void operator()(std::string_view, Member&&) const {}
};
}  // namespace detail

/// A struct with a member `each(f)`, which calls f(name, member) for each of its tensors and structs of tensors.
template <class F>
concept has_fields = requires(F f) { f.each(detail::any_visitor{}); };

/// The struct of the parameters of a layer or a model.  S is the element type: T, or T const for read-only parameters.
template <class Part, class S>
using fields_of = typename Part::template fields<S>;

namespace detail {
template <class Part>
struct scalar_of {
  using type = element_t<typename Part::output>;
};
template <class Part>
  requires requires { typename Part::value_type; }
struct scalar_of<Part> {
  using type = typename Part::value_type;
};
}  // namespace detail
/// The scalar type of the parameters of a layer or a model.  This is `Part::value_type`, or the element type of
/// `Part::output` if there is no value_type.
template <class Part>
using scalar_t = typename detail::scalar_of<Part>::type;

/// Takes memory for the parameters of a layer or a model, and returns their views.  The elements of a braced list are
/// evaluated in order, so a layer with several children can plan all parameters in one statement: `return
/// {plan<S>(norm, place), plan<S>(block, place)};`  If `wanted` is false, takes no memory.
template <class S, class Part>
fields_of<Part, S> plan(Part const& part, arena& place, bool wanted = true) {
  arena nowhere;
  return part.template plan_params<S>(wanted ? place : nowhere);
}

namespace detail {
inline std::string path_below(std::string const& prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : prefix + "." + std::string(name);
}
}  // namespace detail

/// Calls f(path, view) for every tensor, including empty tensors, in order of declaration.  A path looks like
/// `layers.0.norm.gain`.
template <class Fields, class F>
void walk_all(Fields fields, F&& f, std::string const& prefix = {}) {
  fields.each([&](std::string_view name, auto member) {
    auto const path = detail::path_below(prefix, name);
    if constexpr (has_fields<decltype(member)>)
      walk_all(member, f, path);
    else
      f(path, member);
  });
}

/// Calls f(path, view) for every tensor that is not empty.
template <class Fields, class F>
void walk(Fields fields, F&& f, std::string const& prefix = {}) {
  walk_all(
      fields,
      [&](std::string const& path, auto view) {
        if (view.size() != 0) f(path, view);
      },
      prefix);
}

/// Returns the number of values in all tensors, without the padding between tensors.
template <class Fields>
index_t count_values(Fields fields) {
  index_t count = 0;
  walk(fields, [&](std::string const&, auto view) { count += static_cast<index_t>(view.size()); });
  return count;
}

}  // namespace triad
