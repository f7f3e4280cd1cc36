// Reads comma-separated values (RFC 4180). Error messages have line and column. Also quotes fields for writing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/report/printed.hpp"
#include "shared/report/refuse.hpp"
#include "triad/io/text/gz_lines.hpp"

namespace triad::programs {

/// Returns a value as a field of a CSV file: in quotes if it contains a comma, a quote or a line end.
inline std::string csv_cell(std::string const& value) {
  if (value.find_first_of(",\"\r\n") == std::string::npos) return value;
  std::string quoted = "\"";
  for (char const c : value) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

/// The position of a character in a file. Lines and columns count from 1. A column is a byte.
struct file_position {
  long line;
  long column;
};

/// Reads a file with a header, one row at a time. Fields may be quoted. A quoted field may contain commas, line ends
/// and doubled quotes. Blank lines between rows are skipped.
class csv_file {
 public:
  static constexpr std::size_t most_columns = 4096;

  explicit csv_file(std::string path) : lines_(std::move(path)) {
    if (!next_record()) fail({1, 1}, "the file is empty", "expected a header with the names of the columns");
    for (auto const& f : fields_) header_.push_back(f.text);
  }

  /// Returns the number of the column called `name`. Returns nothing if there is no such column.
  [[nodiscard]] std::optional<std::size_t> find_column(std::string_view name) const {
    auto const at = std::find(header_.begin(), header_.end(), name);
    if (at == header_.end()) return std::nullopt;
    return static_cast<std::size_t>(at - header_.begin());
  }

  /// Returns the number of the column called `name`. Throws data_error if there is no such column.
  [[nodiscard]] std::size_t column(std::string_view name) const {
    if (auto const at = find_column(name)) return *at;
    std::string present;
    for (auto const& n : header_) present += (present.empty() ? "" : ", ") + shortened(n);
    fail({1, 1}, "there is no column " + std::string(name), "the header has: " + shortened(present, 200));
  }

  /// Reads the next row. Returns false at the end of the file. Throws data_error if the row and the header have
  /// different numbers of fields.
  bool next() {
    if (!next_record()) return false;
    if (fields_.size() == header_.size()) return true;
    fail(fields_.back().start,
         "the row has " + std::to_string(fields_.size()) + " fields, the header " + std::to_string(header_.size()),
         "put fields that contain commas in double quotes");
  }

  [[nodiscard]] std::string_view operator[](std::size_t column) const { return fields_[column].text; }
  [[nodiscard]] std::string const& path() const { return lines_.path(); }

  /// Returns the position in the file of character `offset` of a field of this row.
  [[nodiscard]] file_position position(std::size_t column, std::size_t offset) const {
    auto const& f = fields_[column];
    file_position at = f.start;
    for (std::size_t i = 0; i < offset && i < f.text.size(); ++i) {
      if (f.text[i] == '\n') {
        ++at.line;
        at.column = 1;
      } else {
        at.column += f.quoted && f.text[i] == '"' ? 2 : 1;
      }
    }
    return at;
  }

  /// Throws data_error with the file, the line and the column of character `offset` of a field, and with the reason and
  /// the advice.
  [[noreturn]] void fail(std::size_t column, std::size_t offset, std::string const& reason,
                         std::string const& advice) const {
    fail(position(column, offset), "in column " + header_[column] + ": " + reason, advice);
  }

  /// Returns a text for an error message. Cuts a long text, and replaces unprintable bytes by '?'.
  static std::string shortened(std::string_view text, std::size_t most = 40) { return programs::shortened(text, most); }

 private:
  struct field {
    std::string text;
    file_position start;  // position of the first character, after an opening quote
    bool quoted;
  };

  [[noreturn]] void fail(file_position at, std::string const& reason, std::string const& advice) const {
    refuse("{}:{}:{}: {}; {}", path(), at.line, at.column, reason, advice);
  }

  bool next_record() {
    fields_.clear();
    do {
      if (!lines_.next_text(line_)) return false;
    } while (line_.empty());
    for (std::size_t at = 0;;) {
      if (fields_.size() == most_columns) fail(here(at), "more than 4096 fields in one row", "is this a CSV file?");
      at = at < line_.size() && line_[at] == '"' ? read_quoted(at + 1) : read_plain(at);
      if (at == line_.size()) return true;
      ++at;  // skips the comma
    }
  }

  [[nodiscard]] file_position here(std::size_t at) const { return {lines_.number(), static_cast<long>(at) + 1}; }

  // read_plain() and read_quoted() return the end of the field: the position of a comma, or the end of the line.
  std::size_t read_plain(std::size_t at) {
    std::size_t const end = std::min(line_.find(',', at), line_.size());
    fields_.push_back({line_.substr(at, end - at), here(at), false});
    if (auto const quote = fields_.back().text.find('"'); quote != std::string::npos)
      fail(here(at + quote), "a quote inside a field that does not begin with one",
           "quote the whole field and double this quote");
    return end;
  }

  std::size_t read_quoted(std::size_t at) {
    auto const opening = here(at - 1);
    fields_.push_back({{}, here(at), true});
    for (;;) {
      std::size_t const quote = line_.find('"', at);
      auto& text = fields_.back().text;
      text.append(line_, at, quote == std::string::npos ? std::string::npos : quote - at);
      if (text.size() > text::gz_lines::longest_line)
        fail(opening, "the quoted field is longer than 16 MiB", "is its quote closed?");
      if (quote == std::string::npos) {  // the field continues on the next line
        bool const cut = lines_.had_carriage_return();
        if (!lines_.next_text(line_))
          fail(opening, "the quote that opens here is never closed", "is the file complete?");
        if (cut) text += '\r';
        text += '\n';
        at = 0;
      } else if (quote + 1 < line_.size() && line_[quote + 1] == '"') {
        text += '"';
        at = quote + 2;
      } else if (quote + 1 < line_.size() && line_[quote + 1] != ',') {
        fail(here(quote + 1), "text after the closing quote", "expected a comma or the end of the line");
      } else {
        return quote + 1;
      }
    }
  }

  text::gz_lines lines_;
  std::string line_;
  std::vector<std::string> header_;
  std::vector<field> fields_;
};

}  // namespace triad::programs
