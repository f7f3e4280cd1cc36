// Fuzzes the readers of pairs of texts (SCAN's lines, and columns, gzipped or not), of dictionaries and of merges.
// SPDX-License-Identifier: Apache-2.0
#include "reader.hpp"
#include "shared/data/text_pairs.hpp"
#include "triad/io/text/bpe.hpp"
#include "triad/io/text/dictionary.hpp"

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace triad;
  static fuzz::input_file file("pairs.tsv"), other("pairs.zh");
  file.write(fuzz::text_of(data, size));
  fuzz::read_or_refuse(file.path(), [&] {
    for (auto const& pair : programs::read_pairs(file.path()))
      fuzz::expect(!pair.source.empty() && !pair.target.empty(), "no pair is empty");
  });
  fuzz::read_or_refuse(file.path(), [&] { (void)text::dictionary::read(file.path()); });
  fuzz::read_or_refuse(file.path(), [&] {
    auto merges = text::bpe::read(file.path());
    for (std::string const words : {"ab abc b", "@@ a@@ @ a@@@b", "a\u3000b \t"})
      fuzz::expect(text::bpe::undo(merges.apply(words)) == words, "words come back");
  });
  other.write("one line\nanother\n");
  fuzz::read_or_refuse(file.path(), [&] {
    fuzz::expect(programs::read_parallel(file.path(), other.path()).size() == 2, "a pair a line");
  });
  return 0;
}
