// The sizes of a model that a checkpoint describes, and the width that two options make.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

#include "renames.hpp"
#include "triad/core/errors.hpp"
#include "triad/core/sizes.hpp"
#include "triad/io/checkpoint.hpp"
#include "triad/io/json_read.hpp"

namespace triad::examples {

/// No checkpoint describes a model wider than this: one of its matrices would have 2^40 values.
inline constexpr int most_width = 1 << 20;
/// No command line asks for more layers, nor does a checkpoint describe any.
inline constexpr int most_layers = 250;

/// A setting that is one of some names.  Throws data_error that names the file, the setting and its value.
inline std::string read_name(checkpoint const& file, std::string const& setting,
                             std::initializer_list<char const*> names) {
  auto const found = file.setting<std::string>(setting);
  std::string all;
  for (auto const* name : names) {
    if (found == name) return found;
    all += (all.empty() ? "" : ", ") + std::string(name);
  }
  throw data_error(file.tensors().file() + ": expected one of " + all + " as setting " + setting + ", found " +
                   quoted(nlohmann::json(found)) + "; the checkpoint is damaged, or another program wrote it");
}

/// o.width and o.heads of a checkpoint.  Throws data_error that names the file, the setting and its value.
template <class Options>
void read_widths(checkpoint const& file, Options& o) {
  o.width = file.setting("width", 1, most_width);
  o.heads = file.setting("heads", 1, o.width);
  if (o.width % o.heads != 0)
    throw data_error(file.tensors().file() + ": setting width is " + std::to_string(o.width) +
                     ", expected a multiple of setting heads, which is " + std::to_string(o.heads) +
                     "; the checkpoint is damaged, or another program wrote it");
}

/// Width of the feed-forward block: o.width times o.hidden_factor.  Throws data_error where that is no size.
template <class Options>
index_t hidden_of(Options const& o) {
  index_t const hidden = std::int64_t{o.width} * o.hidden_factor;  // both are below 2^31
  if (hidden < 1 || hidden > largest_size)
    throw data_error("the feed-forward block is --width " + std::to_string(o.width) + " times --hidden-factor " +
                     std::to_string(o.hidden_factor) + " = " + std::to_string(hidden) + " wide, expected 1 to " +
                     std::to_string(largest_size));
  return hidden;
}

/// What shapes one stack of layers in a checkpoint: o.layers, o.width, o.heads, o.hidden_factor.  Throws data_error as
/// read_widths() does.
template <class Options>
void read_stack(checkpoint const& file, Options& o) {
  o.layers = file.setting("layers", 1, most_layers);
  read_widths(file, o);
  o.hidden_factor = file.setting("hidden_factor", 1, static_cast<int>(largest_size / o.width));
}

}  // namespace triad::examples
