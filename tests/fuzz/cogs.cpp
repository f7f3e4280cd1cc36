// Fuzzes the readers of COGS, gzipped or not. Inputs that begin like JSON or gzip are read as tagged sentences, others
// as logical forms.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "meanings/cogs/read.hpp"
#include "reader.hpp"
#include "shared/data/json_lines.cpp"  // sources and not object files, so that libFuzzer sees their branches

namespace cogs = triad::programs::cogs;

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace triad;
  static fuzz::input_file tagged("input.jsonl"), forms("input.tsv");
  bool const json = size > 0 && (data[0] == '{' || data[0] == 0x1f);
  auto& file = (json ? tagged : forms).write(fuzz::text_of(data, size));
  fuzz::read_or_refuse(file.path(), [&] {
    auto const sentences = cogs::read_sentences(file.path());
    for (auto const& s : sentences) (void)cogs::to_logical_form(s);
    if (!json) return;
    text::gz_lines lines(file.path());
    std::size_t i = 0;
    for (std::string line; lines.next(line);) {
      if (line.empty()) continue;
      auto const& s = sentences[i++];
      fuzz::expect(cogs::from_json(cogs::to_json_line(s)) == s, "a sentence is read as it was written");
      fuzz::expect(nlohmann::json::parse(line).at("parent") == nlohmann::json(s.parent),
                   "parents are those of the file");
    }
  });
  return 0;
}
