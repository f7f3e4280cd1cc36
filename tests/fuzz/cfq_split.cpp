// Fuzzes the reader of the files that split the published CFQ, gzipped or not.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "cfq/dataset.hpp"
#include "reader.hpp"

namespace cfq = triad::programs::cfq;

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace triad;
  static fuzz::input_file file("dataset.json"), split("split.json");
  static std::string const question =
      R"x({"questionPatternModEntities": "Was M0 M1", "sparqlPatternModEntities": "SELECT count(*)"})x";
  file.write("[" + question + "," + question + "," + question + "]");
  split.write(fuzz::text_of(data, size));
  fuzz::read_or_refuse(split.path(), [&] {
    auto const read = cfq::read_dataset(file.path(), split.path());
    fuzz::expect(!read.train.empty() && read.train.size() + read.dev.size() <= 3,
                 "each question is in one part at most");
  });
  return 0;
}
