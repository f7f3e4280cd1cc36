// Options that had another name in version 0.1. Runs and checkpoints of 0.1 are read with the new names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "triad/io/checkpoint.hpp"

namespace triad::programs {

struct rename {
  std::string_view was, is;
  bool negated = false;  // true was false
};

/// The table.  A checkpoint's configuration has the same names, with _ in place of -.
inline constexpr rename renames[] = {
    {"arithmetic", "precision"},
    {"clip", "clip-norm"},
    {"decay", "weight-decay"},
    {"joint", "joined-dictionary"},
    {"least-count", "min-count"},
    {"longest", "max-length"},
    {"longest-factor", "max-length-factor"},
    {"longest-training", "max-train-length"},
    {"no-joint", "no-joined-dictionary"},
    {"rate", "learning-rate"},
    {"smoothing", "label-smoothing"},
    {"untied", "tied", true},
    {"words", "tokens"},
};

/// The table's line for an option of 0.1, or null if there is none.
constexpr rename const* find_rename(std::string_view option) {
  for (auto const& r : renames)
    if (r.was == option) return &r;
  return nullptr;
}

/// The current name of an option of a config file. The opposite of a flag, `--tied,!--untied`, is still an option.
inline std::string renamed(std::string const& option) {
  auto const* const r = find_rename(option);
  return r == nullptr || r->negated ? option : std::string(r->is);
}

/// What a line `name = value` sets.
inline std::string toml_name(std::string const& line) { return line.substr(0, line.find(' ')); }

/// What a checkpoint of format 1 says of its run, as one of format 2 says it.
void rename_settings(checkpoint_state& state);

/// A program's checkpoint, of this version or of 0.1.
inline checkpoint open_checkpoint(std::string const& path) { return checkpoint(path, rename_settings); }

}  // namespace triad::programs
