// Text tables with aligned columns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "printed.hpp"

namespace triad::programs {

/// A table of cells.  Each cell is printed in one line, whatever characters it has.  The first column is aligned to the
/// left.  All other columns, which mostly have numbers, are aligned to the right.
class text_table {
 public:
  explicit text_table(std::vector<std::string> header) { row(std::move(header)); }

  text_table& row(std::vector<std::string> cells) {
    for (auto& cell : cells) cell = printable_name(cell);
    rows_.push_back(std::move(cells));
    return *this;
  }

  /// Returns the table with a line under its header.  Each row ends with a line end and has no trailing spaces.
  [[nodiscard]] std::string text() const {
    std::vector<std::size_t> widths;
    for (auto const& cells : rows_)
      for (std::size_t c = 0; c < cells.size(); ++c) {
        if (c == widths.size()) widths.push_back(0);
        widths[c] = std::max(widths[c], letters(cells[c]));
      }
    std::string result;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      std::string line;
      for (std::size_t c = 0; c < rows_[r].size(); ++c) {
        std::string const space(widths[c] - letters(rows_[r][c]), ' ');
        line += (c == 0 ? "" : "  ") + (c == 0 ? rows_[r][c] + space : space + rows_[r][c]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      result += line + '\n';
      if (r != 0) continue;
      std::size_t total = widths.empty() ? 0 : 2 * (widths.size() - 1);
      for (std::size_t const w : widths) total += w;
      result += std::string(total, '-') + '\n';
    }
    return result;
  }

 private:
  // Returns the number of characters, not of bytes. "±" counts once.
  static std::size_t letters(std::string const& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
  }

  std::vector<std::vector<std::string>> rows_;
};

}  // namespace triad::programs
