// Fuzzes the readers of sentences with graphs, in every format. The beginning of the input decides its format. Graphs
// that were read come back from their numbers, and from the text in which they are written.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "meanings/data.hpp"
#include "meanings/drawn.hpp"
#include "meanings/numbered.hpp"
#include "reader.hpp"
#include "shared/data/data_folder.cpp"  // sources and not object files, so that libFuzzer sees their branches
#include "shared/data/json_lines.cpp"

namespace meanings = triad::programs::meanings;

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace triad;
  using meanings::data_format;
  static fuzz::input_file json("input.jsonl"), columns("input.tsv"), words("input.conllu"), semantic("input.sdp"),
      json_again("again.jsonl"), words_again("again.conllu"), semantic_again("again.sdp");
  auto const text = fuzz::text_of(data, size);
  bool const numbers = !text.empty() && (text[0] == '1' || text.starts_with("# "));
  auto& file = text.starts_with('{') ? json : text.starts_with("#SDP") ? semantic : numbers ? words : columns;
  file.write(text);
  fuzz::read_or_refuse(file.path(), [&] {
    auto const rows = meanings::read_rows(file.path());
    auto const format = meanings::format_of(file.path());
    auto const v = meanings::vocabulary::of(rows, 1, meanings::patterns_of(format));
    for (auto const& row : rows) {
      if (!row.left_out.empty()) continue;
      auto const& m = row.graph;
      (void)meanings::text_of(m), (void)meanings::dot_of(m);
      (void)meanings::query_of(m), (void)meanings::form_of_graph(m), (void)meanings::variable_free_form(m);
      std::string reason;
      if (auto const e = meanings::numbered(m, v, meanings::most_slots, reason))
        fuzz::expect(meanings::same_graph(meanings::graph_of(m.tokens, *e, v), m), "a graph comes back from numbers");
      else
        fuzz::expect(reason == "two nodes end with the same token", "a graph has numbers");
      auto const written = meanings::written_as(format, row, m);
      auto const back = [&](fuzz::input_file& again, std::string const& header) {
        auto const read = meanings::read_rows(again.write(header + written).path());
        fuzz::expect(read.size() == 1 && read[0].graph == m, "a graph is read as it was written");
      };
      if (format == data_format::json_lines) back(json_again, "");
      if (format == data_format::conllu) back(words_again, "");
      if (format == data_format::sdp) back(semantic_again, std::string(meanings::sdp_header) + "\n");
      if (format == data_format::queries)
        fuzz::expect(meanings::is_right(format, row, m), "a query has the conjuncts of the row");
    }
  });
  return 0;
}
