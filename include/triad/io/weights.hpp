// Parameters out of a safetensors file of another program, PyTorch for example, each under the name that it has there.
// SPDX-License-Identifier: Apache-2.0
//
//   load_weights(safetensors("model.safetensors"), learner.parameters(),
//                [](std::string const& path) { return path == "embedding.table" ? "emb.weight" : path; });
//
// Strict both ways: a parameter that the file has not and a tensor of the file that no parameter takes are errors, so a
// model of one tied layer does not take the first of a file of three and go on as if nothing had happened.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "triad/io/checkpoint.hpp"

namespace triad {

struct load_weights_options {
  bool convert = false;                     // F64 is rounded to F32; F32 is made F64 in any case
  std::vector<std::string> leave_out = {};  // names of the file that nothing takes, or what they begin with and a `*`
};

namespace detail {
inline bool left_out(std::string const& name, std::vector<std::string> const& rules) {
  for (auto const& rule : rules) {
    bool const open = rule.ends_with('*');
    if (open ? name.starts_with(std::string_view(rule).substr(0, rule.size() - 1)) : name == rule) return true;
  }
  return false;
}
}  // namespace detail

/// Overwrites every parameter in `values`, fields in `where`, with the tensor of the file that name_of(path) says;
/// shapes are (out, in) as PyTorch has them.  A data_error, before anything is changed, where the file has no such
/// tensor, or one of another shape or type, and where a tensor of the file is taken by no parameter; two parameters may
/// take one tensor.
template <class Memory = host_memory, class Fields, class NameOf>
requires(!holds_parameters<Fields>) void load_weights(safetensors const& file, Fields values, NameOf name_of,
                                                      load_weights_options const& options = {},
                                                      Memory const& where = {}) {
  std::set<std::string> taken;
  walk(values, [&](std::string const& path, auto view) {
    using T = element_t<decltype(view)>;
    std::string const name = name_of(path);
    auto const shape = detail::shape_of(view);
    auto const of = " for the parameter " + path + " " + shape_text(shape);
    if (!file.has(name))
      throw data_error(file.file() + ": expected a tensor " + detail::printable(name) + of +
                       ", found none; name_of(path) says what it is called there");
    auto const& record = file.record(name);
    if (record.shape != shape)
      throw data_error(file.file() + ": tensor " + detail::printable(name) + " is " + shape_text(record.shape) +
                       ", expected " + shape_text(shape) + of + "; build the model with the file's sizes");
    bool const as_it_is = record.type == element_type_name<T>() || (record.type == "F32" && sizeof(T) == 8);
    bool const longer = record.type == "F64" && sizeof(T) == 4;
    if (!as_it_is && !(longer && options.convert))
      throw data_error(file.file() + ": tensor " + detail::printable(name) + " is " + record.type + ", expected " +
                       std::string(element_type_name<T>()) + of + "; " +
                       (longer ? "say {.convert = true} to round it" : "write the file in F32"));
    taken.insert(name);
  });
  std::string unused;
  std::size_t count = 0;
  for (auto const& [name, record] : file.tensors())
    if (!taken.count(name) && !detail::left_out(name, options.leave_out) && ++count <= 4)
      unused += (unused.empty() ? "" : ", ") + detail::printable(name) + " " + shape_text(record.shape);
  if (count > 0)
    throw data_error(file.file() + ": no parameter takes " + std::to_string(count) + " of its tensors: " + unused +
                     (count > 4 ? ", ..." : "") +
                     "; a model of tied layers has layers.0 alone (say tied = false), and what really is of no use "
                     "stands in leave_out");
  walk(values, [&](std::string const& path, auto view) {
    using T = typename decltype(view)::element_type;
    auto const host = file.read_as<T>(name_of(path));
    where.from_host(view.data_handle(), host.data(), host.size() * sizeof(T));
  });
}

/// The same of a set of parameters; moments are left alone.
template <holds_parameters Set, class NameOf>
void load_weights(safetensors const& file, Set& set, NameOf name_of, load_weights_options const& options = {}) {
  load_weights(file, set.mutable_values(), name_of, options, set.where());
}

}  // namespace triad
