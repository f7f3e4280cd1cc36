// Tests the choices file of a training on trees: its lines, how it is read back, and the messages about it.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "trees/choices.hpp"
#include "triad/core/errors.hpp"

namespace programs_trees_choices_tests {

using namespace triad::programs::trees;
using triad::test::contains, triad::test::WithinAbs;

choice_record sample(std::int64_t update) {
  choice_record r{update, 0.25, 3, 0.5};
  r.steps = {{{0.7, 0.2, 0.1}, 0.5, 0.25, 1e-3}, {{0, 0, 1}, 0, 1, 0.1}, {{0.25, 0.5, 0.25}, 0.75, 0.125, 5e-3}};
  r.programs = {{"T1 = CONS X T0 T0", 60, 3, 0.5, {"S", "LF"}, {false, true, false}},
                {"T1 = CDR T0", 4, 0, 0.25, {"S"}, {false, true, false}}};
  return r;
}

TEST_CASE("the doubt of a choice is 0 where it is sure and 1 where all are alike") {
  CHECK(doubt({1}) == 0);
  CHECK(doubt({0, 1, 0}) == 0);
  CHECK_THAT(doubt({0.25, 0.25, 0.25, 0.25}), WithinAbs(1, 1e-15));
  CHECK_THAT(doubt({0.5, 0.5, 0}), WithinAbs(std::log(2.0) / std::log(3.0), 1e-15));
}

TEST_CASE("a record of choices is one line of JSON, and read back is the same") {
  triad::test::scratch_folder const folder;
  std::string const path = folder / "choices.jsonl";
  auto const write = [&](std::string const& text) { std::ofstream(path, std::ios::binary) << text; };
  choices_file file(path, 0);
  file.add(sample(10)), file.add(sample(20)), file.add(sample(20));
  auto const all = read_choices(path);
  REQUIRE(all.size() == 2);
  CHECK(to_json_line(all[0]) == to_json_line(sample(10)));
  CHECK(to_json_line(all[1]) == to_json_line(sample(20)));
  CHECK(all[1].steps[1].operations == std::array<double, 3>{0, 0, 1});
  CHECK(all[1].programs[0].needed == std::vector<bool>{false, true, false});

  choices_file resumed(path, 15);  // the records after the checkpoint are made again
  resumed.add(sample(10)), resumed.add(sample(30));
  auto const again = read_choices(path);
  REQUIRE(again.size() == 2);
  CHECK(again[0].update == 10);
  CHECK(again[1].update == 30);

  auto lost = sample(40);  // the last record of a run that has diverged
  lost.steps[0].operations = {NAN, NAN, NAN}, lost.steps[0].gradient = NAN, lost.programs[0].certainty = NAN;
  write(to_json_line(lost) + "\n");
  auto const found = read_choices(path);
  REQUIRE(found.size() == 1);
  CHECK(std::isnan(found[0].steps[0].operations[1]));
  CHECK(found[0].steps[1].operations == lost.steps[1].operations);
  CHECK(to_json_line(found[0]) == to_json_line(lost));

  write(to_json_line(sample(10)) + "\n{\"update\": 20}\n");
  CHECK_THROWS_WITH(read_choices(path), contains("choices.jsonl:2: expected \"validation\", a number"));
  auto other = sample(20);
  other.steps.pop_back();
  write(to_json_line(sample(10)) + "\n" + to_json_line(other) + "\n");
  CHECK_THROWS_WITH(read_choices(path), contains("expected 3 steps as in the first line, found 2"));
  write("\n");
  CHECK_THROWS_WITH(read_choices(path), contains("choices.jsonl: expected a line or more, found none"));
}

TEST_CASE("of a run without an update nothing is said of gradients") {
  auto const text = to_text({sample(0)});
  CHECK(text.find("radient") == std::string::npos);
  CHECK(text.find("\nneeded by none of them: T1, T3\n") != std::string::npos);
  CHECK(to_svg({sample(0)}).find("radient") == std::string::npos);
  CHECK(to_svg({sample(10)}).find("Gradient, over") != std::string::npos);
}

TEST_CASE("of a training it is said which steps no likeliest program needs, and what their gradient is") {
  auto const text = to_text({sample(10), sample(20)});
  auto const says = [&](char const* what) {
    CAPTURE(text, what);
    CHECK(text.find(what) != std::string::npos);
  };
  says("operation, by update        T1         T2        T3\n");
  says("\n20                    CAR 0.70  CONS 1.00  CDR 0.50\n");
  says("after 20 updates: temperature 3.00, weight of empty positions 0.50, 25.0 % of validation right\n");
  says("likeliest programs of 64 rows, 2 of them distinct:\n    60  3 right, certainty 0.50, of S, LF: T1 = CONS X");
  says("needed by none of them: T1, T3; the largest gradient there is 0.05 of the largest of all\n");
  auto one = sample(10);
  one.programs[1].needed = {true, true, true};
  CHECK(to_text({one}).find("every step is needed by one of them\n") != std::string::npos);
  auto const svg = to_svg({one});
  for (auto const* title :
       {">Doubt of operations<", ">Doubt of arguments<", ">Gradient, over the largest of its line<"})
    CHECK(svg.find(title) != std::string::npos);
}

}  // namespace programs_trees_choices_tests
