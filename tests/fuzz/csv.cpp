// Fuzzes the reader of comma-separated values, gzipped or not. Rows must be the same after all values are written in
// quotes and read again.
// SPDX-License-Identifier: Apache-2.0
#include "shared/data/csv.hpp"

#include <string>
#include <vector>

#include "reader.hpp"

namespace {

using namespace triad;
using row = std::vector<std::string>;

/// Reads the rows after the header.
std::vector<row> read(std::string const& path, std::size_t columns) {
  programs::csv_file csv(path);
  std::vector<row> rows;
  while (csv.next()) {
    auto& fields = rows.emplace_back();
    for (std::size_t c = 0; c < columns; ++c) {
      fields.emplace_back(csv[c]);
      auto const first = csv.position(c, 0), last = csv.position(c, fields.back().size());
      fuzz::expect(first.line >= 1 && first.column >= 1 && last.line >= first.line, "a field is in the file");
    }
  }
  return rows;
}

std::string quoted(row const& fields) {
  std::string line;
  for (auto const& field : fields) {
    line += line.empty() ? "\"" : ",\"";
    for (char const c : field) line.append(c == '"' ? 2 : 1, c);
    line += '"';
  }
  return line + "\n";
}

std::size_t columns_of(std::string const& path) {
  programs::csv_file csv(path);
  std::size_t columns = 0;
  for (; csv.find_column(std::to_string(columns)); ++columns) {
  }
  return columns;
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static fuzz::input_file file("input.csv"), again("again.csv");
  file.write(fuzz::text_of(data, size));
  fuzz::read_or_refuse(file.path(), [&] {
    auto const columns =
        columns_of(file.path());  // compares rows if the header is 0, 1, 2, ...; otherwise tests next()
    auto const rows = read(file.path(), columns);
    if (columns == 0) return;
    programs::csv_file csv(file.path());
    while (csv.next())
      if (columns < programs::csv_file::most_columns && csv.find_column(std::to_string(columns))) return;
    row header;
    for (std::size_t c = 0; c < columns; ++c) header.push_back(std::to_string(c));
    std::string text = quoted(header);
    for (auto const& fields : rows) text += quoted(fields);
    fuzz::expect(read(again.write(text).path(), columns) == rows, "rows are read as they were written");
  });
  return 0;
}
