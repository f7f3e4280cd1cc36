// Fuzzes the reader of the published CFQ (dataset.json, gzipped or not) with a split of three questions.
// SPDX-License-Identifier: Apache-2.0
#include "cfq/dataset.hpp"
#include "reader.hpp"

namespace cfq = triad::programs::cfq;

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace triad;
  static fuzz::input_file file("dataset.json"), split("split.json");
  split.write(R"({"trainIdxs": [2, 0], "devIdxs": [], "testIdxs": [1]})");
  file.write(fuzz::text_of(data, size));
  fuzz::read_or_refuse(file.path(), [&] {
    auto const read = cfq::read_dataset(file.path(), split.path());
    fuzz::expect(read.train.size() == 2 && read.tests.size() == 1, "what the split names is there");
    for (auto const& pair : read.train) fuzz::expect(!pair.source.empty() && !pair.target.empty(), "no pair is empty");
  });
  return 0;
}
