// Fuzzes the reader of rows of trees, a JSON object a line, gzipped or not.
// SPDX-License-Identifier: Apache-2.0
#include "reader.hpp"
#include "tree_transforms/read.hpp"

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace triad;
  static fuzz::input_file file("train.jsonl");
  file.write(fuzz::text_of(data, size));
  fuzz::read_or_refuse(file.path(), [&] {
    for (auto const& row : tree_transforms::read_rows(file.path()).rows)
      fuzz::expect(tree_transforms::from_json(tree_transforms::to_json_line(row)) == row,
                   "a row is read as it was written");
  });
  return 0;
}
