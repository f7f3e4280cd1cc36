// What a run of the program is told of its data; the rest is what all sequence-to-sequence programs are told.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "../common/seq2seq/options.hpp"

namespace cognition {

struct options : seq2seq::options {
  std::string data;                // a folder or a file; empty: generated sentences
  std::string task = "pairs";      // what the data are: cognition, scan, cogs, pairs
  std::string split = "length";    // scan: tasks_train_SPLIT.txt
  std::string train_on = "train";  // cognition: train, or valid+test
  std::string test;                // pairs, where data is a file: another to test on
  int sentences = 2000;            // generated: for training
  int test_size = 200;             // generated: of each part and kind
  std::uint64_t data_seed = 1;     // generated
};

inline void apply_preset(options& o) {
  seq2seq::apply_preset(o);
  if (o.preset == "smoke") o.sentences = 40, o.test_size = 5;
}

/// The program's own options, as `train --config` reads them back.
inline std::string data_toml(options const& o) {
  triad::examples::toml_writer toml;
  if (!o.data.empty()) toml.put_path("data", o.data);
  if (!o.test.empty()) toml.put_path("test", o.test);
  toml.put("task", o.task).put("split", o.split).put("train-on", o.train_on);
  toml.put("sentences", o.sentences).put("test-size", o.test_size).put("data-seed", o.data_seed);
  return toml.text();
}

}  // namespace cognition
