// SPDX-License-Identifier: Apache-2.0
#include "questions.hpp"

#include <cstdio>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "triad/core/errors.hpp"
#include "triad/io/text/gz_lines.hpp"
#include "triad/io/text/line.hpp"

namespace triad::apps {

void questions::each(option_list& f, std::string const& what) {
  f("question", &given, what + "; without one, each line of standard input is one").only({"predict"}).positional();
  f("file", &file, "A file of them, one a line, gzipped or not").only({"predict"}).existing_file();
}

void expect_one_way(std::vector<way_to_ask> const& ways) {
  std::string taken;
  int count = 0;
  for (auto const& way : ways)
    if (way.taken) taken += (count++ == 0 ? "" : " and ") + way.name;
  if (count > 1) throw data_error(std::to_string(count) + " ways to ask, " + taken + ": give one");
}

void questions::expect_one_way(std::vector<way_to_ask> ways) const {
  ways.push_back({"questions on the command line", !given.empty()});
  ways.push_back({"--file", !file.empty()});
  apps::expect_one_way(ways);
}

void questions::answer(std::function<void(std::string const&)> const& answer,
                       std::function<void(refused_question const&)> const& refused) const {
  expect_one_way();
  long number = 0;
  auto const ask = [&](std::string const& question, std::string const& place) {
    auto const refuse = [&](std::exception const& e) {
      auto const what = place + ": " + e.what();
      if (!refused) throw data_error(what);
      refused({number, question, what});
    };
    try {
      answer(question);
    } catch (data_error const& e) {
      refuse(e);
    } catch (nlohmann::json::exception const& e) {  // a value of another type than was expected
      refuse(e);
    }
    std::fflush(stdout);  // a program may wait for it
  };
  if (!given.empty()) {
    for (auto const& question : given) ask(question, "question " + std::to_string(++number));
  } else if (!file.empty()) {
    text::gz_lines lines(file);
    for (std::string line; lines.next(line);) ask(line, file + ":" + std::to_string(number = lines.number()));
  } else {
    for (std::string line; std::getline(std::cin, line);) {
      text::trim_line(line, ++number == 1);
      ask(line, "line " + std::to_string(number) + " of standard input");
    }
  }
}

}  // namespace triad::apps
