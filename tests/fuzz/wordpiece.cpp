// Fuzzes the readers of a WordPiece vocabulary and of its options, and the encoding of a text.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/wordpiece.hpp"

#include <fstream>

#include "reader.hpp"

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace triad;
  auto const input = fuzz::text_of(data, size);
  static std::string const tokens = "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n##a\nb\n";
  static fuzz::input_file tokenizer("tokenizer.json"), config("tokenizer_config.json"), list("vocab.txt");
  std::ofstream(config.folder() + "/vocab.txt") << tokens;
  for (auto* const file : {&tokenizer, &config, &list}) {
    file->write(input);
    fuzz::read_or_refuse(file->folder(), [&] {
      auto const read = text::wordpiece::read(file->folder());
      fuzz::expect(read.size() > 3 && read.end() < read.size(), "there are special tokens");
      fuzz::expect(text::wordpiece::of(read.tokens(), read.options(), "copy").size() == read.size(),
                   "it can be copied");
    });
  }
  list.write(tokens);
  auto vocabulary = text::wordpiece::read(list.folder());
  for (auto const& word : text::bert_words(input, vocabulary.options()))
    fuzz::expect(!word.empty() && text::words(word).size() <= 1, "a word has no white space");
  auto const numbers = vocabulary.numbers(input);
  for (auto const n : numbers) fuzz::expect(n > 0 && n < vocabulary.size(), "every part is a token");
  (void)vocabulary.decode(numbers);
  return 0;
}
