// Fuzzes the reader of rows of trees, one JSON object in each line, gzipped or not.
// SPDX-License-Identifier: Apache-2.0
#include "reader.hpp"
#include "shared/data/json_lines.cpp"  // the source and not the object file, so that libFuzzer sees its branches
#include "trees/read.hpp"

namespace trees = triad::programs::trees;

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace triad;
  static fuzz::input_file file("train.jsonl");
  file.write(fuzz::text_of(data, size));
  fuzz::read_or_refuse(file.path(), [&] {
    for (auto const& row : trees::read_rows(file.path()).rows) {
      auto const line = trees::to_json_line(row);
      fuzz::expect(trees::row_of(triad::parse_json(line), line) == row, "a row is read as it was written");
    }
  });
  return 0;
}
