// SPDX-License-Identifier: Apache-2.0
#include "questions.hpp"

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "each_line.hpp"
#include "json_lines.hpp"
#include "shared/cli/verbs.hpp"
#include "shared/report/printed.hpp"
#include "shared/report/refuse.hpp"
#include "text_pairs.hpp"
#include "triad/core/errors.hpp"
#include "triad/io/lfs_pointer.hpp"
#include "triad/io/text/gz_lines.hpp"
#include "triad/io/text/line.hpp"

namespace triad::programs {

void expect_one_way(std::vector<way_to_ask> const& ways) {
  std::string taken;
  int count = 0;
  for (auto const& way : ways)
    if (way.taken) taken += (count++ == 0 ? "" : " and ") + way.name;
  if (count > 1) refuse("{} ways to ask, {}: give one", count, taken);
}

void questions::expect_one_way(std::vector<way_to_ask> ways) const {
  ways.push_back({"questions on the command line", !given.empty()});
  ways.push_back({"--file", !file.empty()});
  programs::expect_one_way(ways);
}

void expect_plain_question(std::string const& line) {
  if (is_header(line) || is_header(line, ','))
    refuse("found the names of columns, expected a question: leave the header out");
  if (auto const tab = line.find('\t'); tab != std::string::npos)
    refuse(
        "column {}: found a tab, as between columns of data, expected a question alone: give that column, or a space "
        "in the tab's place",
        tab + 1);
  if (line.starts_with("IN:") && line.find(" OUT:") != std::string::npos)
    refuse("found a line of SCAN, IN: command OUT: actions, expected the command alone");
  bool const as_csv = line.starts_with('"') && line.find("\",\"") != std::string::npos;
  if (as_csv || ((line.starts_with('{') || (line.starts_with('[') && line.find('"') != std::string::npos)) &&
                 nlohmann::json::accept(line)))
    refuse("found {}, expected a question in plain text", as_csv ? "a row of CSV" : "a value of JSON");
}

std::optional<std::string> questions::first_line() {
  std::string line;
  if (!given.empty()) return std::nullopt;
  if (!file.empty()) {
    std::error_code none;  // is set for a pipe, which can be read only once
    if (!std::filesystem::is_regular_file(file, none)) return std::nullopt;
    text::gz_lines lines(file);
    return lines.next(line) ? std::optional(line) : std::nullopt;
  }
  if (!begun) {
    if (!std::getline(std::cin, line)) return std::nullopt;
    begun = line;
  }
  line = *begun;
  text::trim_line(line, true);
  return line;
}

std::string questions::all_of_input() {
  auto text = begun ? *begun + "\n" : std::string();
  if (std::cin) text.append(std::istreambuf_iterator<char>(std::cin), {});
  expect_all_read();
  return text;
}

void questions::ask(std::function<void(std::string const&)> const& answer,
                    std::function<void(refused_question const&)> const& refused) const {
  expect_one_way();
  bool const of_file = given.empty() && !file.empty();
  auto const one = [&](std::string const& question) {
    auto const refuse_it = [&](std::string const& what) {
      refused({number, question, of_file ? told_at(file, number, what) : place() + ": " + what});
    };
    try {
      answer(question);
    } catch (data_error const& e) {
      refuse_it(e.what());
    } catch (nlohmann::json::exception const& e) {  // a value does not have the expected type
      refuse_it(reason_of(e));
    } catch (std::bad_alloc const&) {
      refuse_it("there is not enough memory to answer it: ask about less at once");
    }
    std::fflush(stdout);  // another program may be waiting for the answer
  };
  number = 0;
  if (!given.empty()) {
    for (auto const& question : given) {
      ++number;
      one(question);
    }
  } else if (of_file) {
    text::gz_lines lines(file);
    for (std::string line; lines.next(line);) {
      number = lines.number();
      one(line);
    }
  } else {
    auto const next = [&](std::string& line) {
      if (number > 0 || !begun) return static_cast<bool>(std::getline(std::cin, line));
      line = *begun;
      return true;
    };
    for (std::string line; next(line);) {
      text::trim_line(line, ++number == 1);
      if (number == 1) refuse_lfs_pointer("standard input", line);
      one(line);
    }
    expect_all_read();
  }
}

std::string questions::place() const {
  auto const n = std::to_string(number);
  if (!given.empty()) return "question " + n;
  return file.empty() ? "line " + n + " of standard input" : file + ":" + n;
}

int questions::answer(std::string const& program, std::function<void(std::string const&)> const& answer,
                      bool as_json) const {
  int status = all_well;
  auto const one = [&](std::string const& question) {
    if (is_blank(question))
      std::fputs("\n", stdout);
    else
      answer(question);
  };
  ask(one, [&](refused_question const& q) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), printable(q.what).c_str());
    if (as_json || q.text.starts_with('{'))
      std::fputs(json_text_of({{"error", q.what}, {"line", q.number}}).c_str(), stdout);
    std::fputs("\n", stdout);
    status = refused;
  });
  return status;
}

}  // namespace triad::programs
