// Fuzzes the readers of a published encoder's config.json and of its vocabulary.
// SPDX-License-Identifier: Apache-2.0
#include "reader.hpp"
#include "triad/io/encoder.hpp"
#include "triad/io/text/byte_bpe.hpp"

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace triad;
  static fuzz::input_file file("config.json"), merges("merges.txt");
  file.write(fuzz::text_of(data, size));
  merges.write("#version: 0.2\na b\n");
  fuzz::read_or_refuse(file.path(), [&] {
    auto const c = read_encoder_config(file.folder());
    fuzz::expect(
        c.width > 0 && c.layers > 0 && c.layers < 64 && c.heads > 0 && c.hidden > 0 && c.tokens > 0 && c.epsilon > 0,
        "sizes are positive");
    fuzz::expect(c.first() >= 0 && c.first() < c.positions, "the first token has a position");
  });
  fuzz::read_or_refuse(file.path(), [&] {
    fuzz::expect(text::byte_bpe::read(file.path(), merges.path()).size() > 3, "there are special tokens");
  });
  return 0;
}
