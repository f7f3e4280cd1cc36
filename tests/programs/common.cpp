// What the examples share: CSV fields and their positions, tables, plots, progress.
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "shared/data/csv.hpp"
#include "shared/processes/first_writes.hpp"
#include "shared/report/printed.hpp"
#include "shared/report/svg_bars.hpp"
#include "shared/report/svg_plot.hpp"
#include "shared/report/table.hpp"
#include "shared/run/progress.hpp"
#include "shared/run/run_folder.hpp"
#include "shared/run/training_run.hpp"
#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "triad/core/errors.hpp"
#include "triad/core/random.hpp"

namespace programs_common_tests {

struct scratch_file {
  std::string path;

  explicit scratch_file(std::string const& content = {}) {
    static int number = 0;
    path = (std::filesystem::temp_directory_path() /
            ("triad-common-" + std::to_string(getpid()) + "-" + std::to_string(number++) + ".txt"))
               .string();
    std::ofstream(path, std::ios::binary) << content;
  }
  scratch_file(scratch_file const&) = delete;
  scratch_file& operator=(scratch_file const&) = delete;
  ~scratch_file() { std::remove(path.c_str()); }

  [[nodiscard]] std::string content() const {
    triad::text::gz_lines lines(path);
    std::string all;
    for (std::string line; lines.next(line);) all += line + '\n';
    return all;
  }
};

std::size_t count(std::string const& text, std::string const& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

TEST_CASE("a bar chart has a bar for every value, each as long as it says, and none for what was not measured") {
  double const none = std::numeric_limits<double>::quiet_NaN();
  auto const svg = triad::programs::to_svg(triad::programs::bar_chart{
      "a < b", {"one", "two"}, {{"first", {{"x", {1, 0.5}}, {"y", {none, 2}}}}, {"second", {}}}});
  CHECK(count(svg, "<rect") == 1 + 3 + 2);  // the paper, bars, the legend
  CHECK(count(svg, "width=\"396\"") == 2);  // 1, and what is more than 1
  CHECK(count(svg, "width=\"198\"") == 1);
  CHECK(count(svg, "a &lt; b") == 1);
  CHECK(count(svg, "nan") == 0);
}

TEST_CASE("quoted fields hold commas, quotes and line ends, and know where each of their characters is") {
  scratch_file const file(
      "\xef\xbb\xbf"
      "a,b,c\r\n1,\"x,\"\"y\"\"\nzw\",\n\n,,\"\"\n\"1\r\n2\n\r\n\",\"\r\",3\r\n");
  triad::programs::csv_file csv(file.path);
  auto const b = csv.column("b");
  CHECK(csv.column("a") == 0);
  CHECK_FALSE(csv.find_column("d").has_value());
  CHECK_THROWS_AS(csv.column("d"), triad::data_error);
  REQUIRE(csv.next());
  CHECK(csv[0] == "1");
  CHECK(csv[b] == "x,\"y\"\nzw");
  CHECK(csv[2].empty());
  CHECK(csv.position(b, 0).line == 2);
  CHECK(csv.position(b, 0).column == 4);
  CHECK(csv.position(b, 3).column == 8);  // the y, after a doubled quote
  CHECK(csv.position(b, 7).line == 3);
  CHECK(csv.position(b, 7).column == 2);
  REQUIRE(csv.next());
  CHECK((csv[0].empty() && csv[1].empty() && csv[2].empty()));
  CHECK(csv.position(0, 0).line == 5);
  REQUIRE(csv.next());
  CHECK(csv[0] == "1\r\n2\n\r\n");  // what is quoted keeps its line ends as they are
  CHECK(csv[1] == "\r");
  CHECK(csv[2] == "3");
  CHECK(csv.position(0, 3).line == 7);
  CHECK_FALSE(csv.next());
}

TEST_CASE("an earlier run that cannot be set aside is told with its file and what to do") {
  triad::test::scratch_folder const folder;
  std::ofstream(folder / "model.safetensors") << "x";
  using std::filesystem::perms;
  std::filesystem::permissions(folder / "", perms::owner_exec | perms::group_exec | perms::others_exec);
  auto const user = geteuid();
  if (user == 0) REQUIRE(seteuid(65534) == 0);  // whom permissions concern
  std::string message;
  try {
    triad::programs::set_aside(folder / "");
  } catch (std::exception const& e) {
    message = e.what();
  }
  if (user == 0) REQUIRE(seteuid(0) == 0);
  std::filesystem::permissions(folder / "", perms::owner_all);
  CHECK(message.starts_with(folder / ""));
  CHECK(message.find("model.safetensors: an earlier run's file cannot be renamed to ") != std::string::npos);
}

TEST_CASE("what others wrote is printed without control characters") {
  CHECK(triad::programs::printable("a\x1b[31m\tb\n\x7f\r\xc3\xa9") == "a?[31m\tb\n??\xc3\xa9");
}

TEST_CASE("the end of training says what is there, and not that metrics are that were removed") {
  using triad::programs::where_it_lies;
  scratch_file const taken;
  auto const& run = taken.path;
  std::filesystem::remove(run);
  auto const save = [&](std::string const& name) {
    std::filesystem::create_directories(std::filesystem::path(run + name).parent_path());
    std::ofstream(run + name) << "x";
  };
  save("/config.toml");
  CHECK(where_it_lies(run, 1, 1) ==
        "no epoch came to its end, so there is no checkpoint; the options are in " + run + "\n");
  save("/model.safetensors");
  CHECK(where_it_lies(run, 1, 1) == "checkpoint and plots are in " + run + "\n");
  CHECK(where_it_lies(run, 1, 1, "scores") == "checkpoint, scores and plots are in " + run + "\n");
  save("/metrics.csv");
  CHECK(where_it_lies(run, 1, 1) == "metrics, checkpoint and plots are in " + run + "\n");
  CHECK(where_it_lies(run, 1, 1, "scores") == "metrics, checkpoint, scores and plots are in " + run + "\n");
  save("/seed-2/model.safetensors");
  CHECK(where_it_lies(run, 1, 2) == "plots are in " + run + ", checkpoints in " + run + "/seed-*\n");
  save("/seed-2/metrics.csv");
  CHECK(where_it_lies(run, 1, 2) == "plots are in " + run + ", metrics and checkpoints in " + run + "/seed-*\n");
  std::filesystem::remove_all(run);
}

TEST_CASE("writing replaces a file whole") {
  scratch_file const file("old\n");
  triad::programs::first_writes(file.path, "new\n");
  CHECK(file.content() == "new\n");
  CHECK_THROWS_AS(triad::programs::first_writes("/proc/no-such-folder/a", "x"), triad::data_error);
}

TEST_CASE("a run's checkpoint and options are found by its folder and by the checkpoint") {
  using triad::programs::checkpoint_of, triad::programs::config_of;
  scratch_file const taken;
  std::filesystem::remove(taken.path);
  triad::programs::make_folder(taken.path);
  CHECK(checkpoint_of(taken.path) == taken.path + "/model.safetensors");
  for (auto const& run : {taken.path, taken.path + "/model.safetensors"})
    CHECK(config_of(run) == taken.path + "/config.toml");
  CHECK(config_of(taken.path + "/model.safetensors.old2") == taken.path + "/config.toml.old2");
  CHECK(config_of("Did M0 marry M1").empty());
  std::filesystem::remove_all(taken.path);
}

TEST_CASE(
    "a seed's run has the folder itself where there is one seed, one below it where there are several, and none "
    "without a folder") {
  scratch_file const taken;
  std::filesystem::remove(taken.path);
  using triad::programs::seed_folder;
  CHECK(seed_folder(taken.path, 1, 7) == taken.path);
  CHECK(std::filesystem::is_directory(taken.path));
  CHECK(seed_folder(taken.path, 2, 8) == taken.path + "/seed-8");
  CHECK(std::filesystem::is_directory(taken.path + "/seed-8"));
  CHECK(seed_folder("", 2, 8).empty());
  std::filesystem::remove_all(taken.path);
}

TEST_CASE("random numbers are the same on every platform and cover their range evenly") {
  triad::counter_random random(1, 2);
  triad::counter_random again(1, 2);
  triad::counter_random other(1, 3);
  int counts[7] = {};
  int equal = 0;
  for (int i = 0; i < 70000; ++i) {
    int const x = random.below(7);
    REQUIRE((x >= 0 && x < 7));
    REQUIRE(x == again.below(7));
    equal += x == other.below(7) ? 1 : 0;
    ++counts[x];
  }
  for (int const n : counts) CHECK(std::abs(n - 10000) < 500);
  CHECK(std::abs(equal - 10000) < 500);
  CHECK(triad::counter_random(42, 7)() == 0xe4e28608b50ef46dU);
}

TEST_CASE("a table aligns its columns by characters") {
  auto const text = triad::programs::text_table({"k", "ours"}).row({"6", "0.98 ± 0.01"}).row({"10", "0.9"}).text();
  CHECK(text ==
        "k          ours\n"
        "---------------\n"
        "6   0.98 ± 0.01\n"
        "10          0.9\n");
}

TEST_CASE("a plot shows each point once and escapes what it is given") {
  triad::programs::plot p{"a < b & c", "k", "accuracy", {}, 0.0, 1.0};
  p.lines.push_back({"ours", {2, 3, 4}, {1.0, 0.5, 0.25}, {0, 0.1, 0.1}});
  p.lines.push_back({"paper", {2, 3, 4}, {0.9, std::numeric_limits<double>::quiet_NaN(), 0.7}, {}, true});
  auto const svg = triad::programs::to_svg(p);
  CHECK(count(svg, "<circle") == 5);
  CHECK(count(svg, "stroke-dasharray") == 2);  // the line and its legend
  CHECK(count(svg, "a &lt; b &amp; c") == 1);
  CHECK(count(svg, "nan") == 0);
  CHECK(count(svg, ">0.6<") == 1);
  CHECK(svg.ends_with("</svg>\n"));
}

TEST_CASE("plots of nothing, of one point and of huge values have finite coordinates") {
  for (double const y : {0.0, 3.0, -7e-12, 1e300}) {
    triad::programs::plot p{"", "", "", {{"", {5}, {y}}}};
    auto const svg = triad::programs::to_svg(p);
    CHECK(count(svg, "nan") == 0);
    CHECK(count(svg, "inf") == 0);
    CHECK(svg.size() < 10000);
  }
  CHECK(count(triad::programs::to_svg(triad::programs::plot{}), "nan") == 0);
}

TEST_CASE("progress is a line for each tenth where there is no terminal") {
  scratch_file const file;
  std::FILE* const out = std::fopen(file.path.c_str(), "w");
  REQUIRE(out != nullptr);
  {
    triad::programs::progress progress("epoch 3", 500, "examples", 100, out);
    for (int i = 100; i <= 500; ++i) progress.update(i, "loss 0.5");
  }
  std::fclose(out);
  auto const text = file.content();
  CHECK(count(text, "\n") == 8);
  CHECK(count(text, "epoch 3") == 8);
  CHECK(count(text, "examples/s") == 8);
  CHECK(count(text, "100%") == 1);
  CHECK(triad::programs::duration(59.96) == "1 min 00 s");
  CHECK(triad::programs::duration(7320) == "2 h 02 min");
}

}  // namespace programs_common_tests
