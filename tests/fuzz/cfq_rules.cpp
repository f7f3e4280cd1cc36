// Fuzzes the reader of questions with their derivation rules, one JSON object in each line, gzipped or not.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "cfq/corpus.hpp"
#include "reader.hpp"
#include "shared/data/json_lines.cpp"  // source files instead of object files, so that libFuzzer sees their branches

namespace cfq = triad::programs::cfq;

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace triad;
  static fuzz::input_file file("rules.jsonl"), again("again.jsonl");
  file.write(fuzz::text_of(data, size));
  int repeated = 0;
  fuzz::read_or_refuse(file.path(), [&] {
    auto const read = cfq::read_corpus(file.path(), repeated);
    std::string text;
    for (auto const& q : read.questions) text += cfq::to_line(q, read.names) + "\n";
    auto const back = cfq::read_corpus(again.write(text).path(), repeated);
    fuzz::expect(back.questions.size() == read.questions.size() && repeated == 0,
                 "as many questions are read as were written");
    for (std::size_t i = 0; i < back.questions.size(); ++i)
      fuzz::expect(cfq::to_line(back.questions[i], back.names) == cfq::to_line(read.questions[i], read.names),
                   "questions are read as they were written");
    // Compares the numbers in each line with those that a JSON parser reads.
    text::gz_lines lines(file.path());
    for (std::string line; lines.next(line);) {
      if (line.empty()) continue;
      cfq::rule_names names;
      auto const heads = cfq::question_from(line, names).heads;
      auto const json = nlohmann::json::parse(line);
      if (json.contains("heads"))
        fuzz::expect(json.at("heads") == nlohmann::json(heads), "heads are those of the file");
    }
  });
  return 0;
}
