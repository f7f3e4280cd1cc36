// Tests the data of tree-transforms: the published folder, --one-way, presets, and the options that a resumed run must
// share.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tree_files.hpp"
#include "trees/training_data.hpp"
#include "trees/transforms/data.hpp"

namespace programs_tree_transforms_data_tests {

namespace trees = triad::programs::trees;

using namespace triad::programs::transforms;
using triad::test::contains, triad::test::folder_of, triad::test::line_of;

/// Returns settled options with this folder as their data.
options on(folder_of const& files, int depth = 12) {
  options o;
  o.data = files.path();
  o.depth = depth;
  o.settle();
  return o;
}

trees::training_data work_of(options const& o) { return {o, load_data(o)}; }

TEST_CASE("a folder needs train and validation; other splits may be missing") {
  auto const line = line_of("( A b )", "( B a )");
  folder_of const files{{"train.jsonl", line}};
  CHECK_THROWS_WITH(read_data(files.path()), contains(files.path() + ": there is no validation.jsonl"));
  files.write("validation.jsonl", line + line);
  files.write("test.json", line);
  auto const data = read_data(files.path());
  CHECK(part_of(data, split::test).rows.size() == 1);
  CHECK(part_of(data, split::train).rows.size() == 1);
  CHECK(part_of(data, split::dev).rows.size() == 2);
  CHECK(part_of(data, split::ood_long).rows.empty());
  CHECK_THROWS_WITH(read_data(files.path() + "/nowhere"), contains("nowhere: a folder with train, validation"));
}

TEST_CASE("a deeper row is refused with its place, or left out and counted, before it gives labels") {
  folder_of const files{
      {"train.jsonl", line_of("( A b )", "( B )") + line_of("( A )", "( D ( E f ) )") + line_of("( C )", "( A )")},
      {"validation.jsonl", line_of("( D )", "( A )")},
      {"ood_long.jsonl", line_of("( A )", "( A ( B ( C g ) ) )") + line_of("( A ( B c ) )", "( A )")}};
  auto o = on(files, 2);
  CHECK_THROWS_WITH(
      work_of(o),
      contains(
          "train.jsonl:2: a tree of depth 3, where the model's trees have 2: take a larger --depth, or --skip-deeper"));
  o.skip_deeper = true;
  CHECK_THROWS_WITH(work_of(o), contains("ood_long.jsonl: each of the 2 rows that count has a tree deeper than 2"));
  o.depth = 3;
  auto const work = work_of(o);
  CHECK(work.skipped() == 1);
  CHECK(work.depth() == 3);
  o.depth = 12;
  auto const whole = work_of(o);
  CHECK(whole.skipped() == 0);
  CHECK(whole.depth() == 4);
  CHECK(whole.labels().labels() == std::vector<std::string>{"<empty>", "A", "b", "B", "D", "E", "f", "C", "g", "c"});
  CHECK(work.labels().labels() == std::vector<std::string>{"<empty>", "A", "b", "B", "D", "E", "f", "C", "c"});
}

TEST_CASE("with --one-way, rows that go back are left out of a folder") {
  auto const to = line_of("( S a )", "( LF b )"), back = line_of("( LF b )", "( S a )");
  folder_of const files{{"train.jsonl", back + to + back}, {"validation.jsonl", to}, {"test.jsonl", back}};
  auto o = on(files);
  CHECK(work_of(o).train().size() == 3);
  o.one_way = true;
  auto const work = work_of(o);
  CHECK(work.train().size() == 1);
  CHECK(work.placed(2).size() == 0);
  files.write("train.jsonl", back);
  CHECK_THROWS_WITH(work_of(o), contains("there is no row to a logical form"));
}

TEST_CASE("the paper's settings are the defaults, by task, and given ones stay") {
  struct expected {
    char const* task;
    int steps, batch;
  };
  for (auto const& e : {expected{"car-cdr-seq", 12, 16}, expected{"active-logical", 16, 16},
                        expected{"passive-logical", 28, 8}, expected{"active-passive-logical", 20, 16}}) {
    options o;
    o.preset = "paper", o.task = e.task;
    apply_preset(o);
    o.settle();
    CHECK(o.steps == e.steps);
    CHECK(o.batch == e.batch);
    CHECK(o.depth == 12);
  }
  options o;
  o.preset = "small", o.batch = 3;
  apply_preset(o);
  o.settle();
  CHECK(o.steps == 8);
  CHECK(o.depth == 10);
  CHECK(o.one_way);
  CHECK(o.temperature == 10);
  CHECK(o.cooling == 8000);
  CHECK(o.updates == 12000);
  CHECK(o.seed == 3);
  CHECK(o.batch == 3);
  o.task = "active";
  CHECK_THROWS_WITH(o.settle(), contains("there is no task 'active': it is one of car-cdr-seq, active-logical, "
                                         "passive-logical, active-passive-logical"));
}

TEST_CASE("what a resumed run must agree in is what decides its numbers") {
  options a, b;
  b.data = "elsewhere", b.threads = 3, b.test_size = 7, b.seeds = 2;
  CHECK(training_settings(a) == training_settings(b));
  b.data_seed = 2;
  CHECK_FALSE(training_settings(a) == training_settings(b));
  CHECK_THAT(to_toml(b),
             contains("data-seed = 2\n") && contains("task = \"active-logical\"\n") && contains("one-way = false\n"));
}

TEST_CASE("generated rows are those of their seed, whatever the model's") {
  options o;
  o.one_way = true, o.rows = 23, o.test_size = 1;
  o.settle();
  auto const data = load_data(o);
  o.seed = 2;
  CHECK(load_data(o).train().rows == data.train().rows);
}

TEST_CASE("a preset for tests makes a task in no time, with every split") {
  options o;
  o.preset = "smoke";
  apply_preset(o);
  o.settle();
  auto const work = work_of(o);
  for (std::size_t s = 0; s < splits.size(); ++s) CHECK(work.placed(s).size() > 0);
  CHECK(work.depth() <= 10);
  o.depth = 4;
  CHECK_THROWS_WITH(work_of(o), contains("where the model's trees have 4"));
  o.skip_deeper = true;
  CHECK_THROWS_WITH(work_of(o), contains("no row of active-logical has a depth of 4 or less"));
}

}  // namespace programs_tree_transforms_data_tests
