// Fuzzes the reader of CoNLL-U, gzipped or not. Sentences that were read are written and read again.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/conllu.hpp"

#include <string>

#include "reader.hpp"

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace triad;
  using text::conllu_heads;
  static fuzz::input_file file("input.conllu"), again("again.conllu");
  file.write(fuzz::text_of(data, size));
  for (auto const heads : {conllu_heads::checked, conllu_heads::ignored})
    fuzz::read_or_refuse(file.path(), [&] {
      auto const sentences = text::read_conllu(file.path(), heads);
      std::string text;
      for (auto const& s : sentences) {
        text += text::to_conllu(s);
        text::attachment_scores scores;
        scores.add(s.words, s.words);
        fuzz::expect(scores.uas() == 1 && scores.exact_match() == 1, "a sentence is its own parse");
      }
      auto const back = text::read_conllu(again.write(text).path(), heads);
      fuzz::expect(back.size() == sentences.size(), "as many sentences are read as were written");
      for (std::size_t i = 0; i < back.size(); ++i)
        fuzz::expect(back[i].words == sentences[i].words, "words are read as they were written");
    });
  return 0;
}
