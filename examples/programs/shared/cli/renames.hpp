// Options that had other names in version 0.1.  When runs and checkpoints of 0.1 are read, the old names are replaced.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "triad/io/checkpoint.hpp"

namespace triad::programs {

struct rename {
  std::string_view was, is;
  bool negated = false;  // true if the new flag has the opposite meaning
};

/// All renamed options.  The configuration of a checkpoint uses the same names, with _ in place of -.
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

/// Returns the entry for an option of 0.1, or null if the option was not renamed.
constexpr rename const* find_rename(std::string_view option) {
  for (auto const& r : renames)
    if (r.was == option) return &r;
  return nullptr;
}

/// Returns the current name of an option in a config file.  If a flag was replaced by its opposite, returns the old
/// name.  It is still accepted as the opposite of the new flag: `--untied` is the opposite of `--tied`.
inline std::string renamed(std::string const& option) {
  auto const* const r = find_rename(option);
  return r == nullptr || r->negated ? option : std::string(r->is);
}

/// Returns the name in a line `name = value`.
inline std::string toml_name(std::string const& line) { return line.substr(0, line.find(' ')); }

/// Renames the options in a checkpoint of format 1 to those of format 2.
void rename_settings(checkpoint_state& state);

/// Opens a checkpoint that a program of this version or of 0.1 wrote.
inline checkpoint open_checkpoint(std::string const& path) { return checkpoint(path, rename_settings); }

}  // namespace triad::programs
