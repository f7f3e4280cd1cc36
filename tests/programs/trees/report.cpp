// Tests the table of scores of all seeds of a command.
// SPDX-License-Identifier: Apache-2.0
#include "trees/report.hpp"

#include <cstdint>
#include <string>

#include "tests/catch.hpp"

namespace programs_report_tests {

TEST_CASE(
    "the table of trees has a diverged run without figures, and next to the mean of all that of those that learned") {
  using namespace triad::programs::trees;
  auto const run = [](std::int64_t right) {
    seed_tallies r;
    for (auto const* title : {"train", "test"}) r.found.push_back({title, {.rows = 10, .whole = right}});
    r.failed = has_failed(r.found);
    return r;
  };
  seed_tallies lost{{{"train"}, {"test"}}};
  lost.diverged = lost.failed = true;
  auto const text = table_of({run(10), lost, run(2)}, 1);
  auto const line = [&](std::string const& begin) {
    auto const at = text.find("\n" + begin);
    return at == std::string::npos ? std::string() : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  };
  CHECK(line("1 ").find("100.0") != std::string::npos);
  CHECK(line("2 ").find("0.0") == std::string::npos);
  CHECK(line("2 ").find("diverged") != std::string::npos);
  CHECK(line("mean  ").find("60.0 ±") != std::string::npos);
  CHECK(line("mean  ").find("2 of 3") != std::string::npos);
  CHECK(line("mean of those that learned").find("100.0 ±") != std::string::npos);
  CHECK(text.find("mean of 2 of 3 seeds; seed 2 diverged; seed 3 did not learn and is in it\n") != std::string::npos);
  CHECK(table_of({run(10), run(9)}, 1).find("those that learned") == std::string::npos);
}

}  // namespace programs_report_tests
