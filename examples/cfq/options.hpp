// What a run of the program is told of its data; the rest is what all sequence-to-sequence programs are told.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "../common/seq2seq/options.hpp"

namespace cfq {

struct options : seq2seq::options {
  options() { program = "cfq"; }

  std::string data;               // a folder with train, dev and test .tsv
  std::string task = "semantic";  // from question to query
};

inline void apply_preset(options& o) { seq2seq::apply_preset(o); }

/// The program's own options, as `train --config` reads them back.
inline std::string data_toml(options const& o) {
  triad::examples::toml_writer toml;
  if (!o.data.empty()) toml.put_path("data", o.data);
  return toml.put("task", o.task).text();
}

}  // namespace cfq
