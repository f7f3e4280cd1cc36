// Fuzzes the reader of pairs of sequences in JSON lines, gzipped or not. Pairs must be the same after they are written
// and read again.
// SPDX-License-Identifier: Apache-2.0
#include "reader.hpp"
#include "sequences/sequences.hpp"
#include "shared/data/json_lines.cpp"  // the source and not the object file, so that libFuzzer sees its branches

namespace sequences = triad::programs::sequences;

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace triad;
  static fuzz::input_file file("input.jsonl"), again("again.jsonl");
  file.write(fuzz::text_of(data, size));
  fuzz::read_or_refuse(file.path(), [&] {
    auto const all = sequences::read_pair_lines(file.path());
    std::string lines;
    for (auto const& pair : all) {
      fuzz::expect(!text::words(pair.source).empty() && !text::words(pair.target).empty(), "no pair is empty");
      nlohmann::ordered_json line{{"source", pair.source}, {"target", pair.target}};
      if (!pair.kind.empty()) line["kind"] = pair.kind;
      lines += programs::json_text_of(line) + "\n";
    }
    fuzz::expect(sequences::read_pair_lines(again.write(lines).path()) == all, "pairs are read as they were written");
  });
  return 0;
}
