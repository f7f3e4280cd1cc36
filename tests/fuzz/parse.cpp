// Fuzzes the reader of sentences with dependency trees in JSON lines, gzipped or not. Sentences must be valid in
// CoNLL-U, and must be the same after they are written and read again.
// SPDX-License-Identifier: Apache-2.0
#include "dependencies/data.cpp"
#include "reader.hpp"
#include "shared/data/data_folder.cpp"  // sources and not object files, so that libFuzzer sees their branches
#include "shared/data/json_lines.cpp"

namespace {

namespace dependencies = triad::programs::dependencies;

std::string json_line(triad::text::conllu_sentence const& s) {
  auto tokens = nlohmann::ordered_json::array(), heads = tokens, labels = tokens;
  for (auto const& word : s.words)
    tokens.push_back(word.form), heads.push_back(word.head), labels.push_back(word.relation);
  return triad::programs::json_text_of({{"tokens", tokens}, {"heads", heads}, {"labels", labels}}) + "\n";
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace triad;
  static fuzz::input_file file("input.jsonl"), again("again.jsonl"), columns("again.conllu");
  file.write(fuzz::text_of(data, size));
  fuzz::read_or_refuse(file.path(), [&] {
    auto const all = dependencies::read_json_sentences(file.path());
    std::string lines, conllu;
    for (auto const& s : all) {
      fuzz::expect(!s.words.empty(), "a sentence has words");
      lines += json_line(s), conllu += to_conllu(s);
    }
    auto const same = [&](dependencies::sentences const& back, char const* what) {
      fuzz::expect(back.size() == all.size(), what);
      for (std::size_t i = 0; i < back.size(); ++i) fuzz::expect(back[i].words == all[i].words, what);
    };
    same(dependencies::read_json_sentences(again.write(lines).path()), "lines are read as they were written");
    same(text::read_conllu(columns.write(conllu).path()), "CoNLL-U is read as it was written");
    auto const v = dependencies::vocabulary::of(all, 1);
    for (auto const& s : all)
      for (auto const& token : dependencies::numbered(s, v)) {
        auto const n = static_cast<index_t>(s.words.size());
        fuzz::expect(token.relation >= 0 && token.parent >= 0 && token.parent < n, "words have numbers");
      }
  });
  return 0;
}
