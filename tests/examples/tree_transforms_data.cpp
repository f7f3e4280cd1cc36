// Tree transforms: reading rows and every way in which a file can be wrong, presets, rows by numbers, batches.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "tree_transforms/task.hpp"

namespace {

using namespace tree_transforms;
using triad::test::contains;

std::string line_of(std::string const& source, std::string const& target) {
  return to_json_line({triad::parse_tree(source), triad::parse_tree(target)}) + "\n";
}

/// A folder of files by name.
struct folder_of {
  triad::test::scratch_folder folder;

  folder_of(std::initializer_list<std::pair<char const*, std::string>> files) {
    for (auto const& [name, text] : files) write(name, text);
  }
  std::string write(std::string const& name, std::string const& text) const {
    std::ofstream(folder / name, std::ios::binary) << text;
    return folder / name;
  }
  std::string path() const { return std::filesystem::path(folder / "x").parent_path().string(); }
};

/// Settled options on a folder.
options on(folder_of const& files, int depth = 12) {
  options o;
  o.data = files.path();
  o.depth = depth;
  settle(o);
  return o;
}

/// The nodes of a symbol tree as a placed tree lists them, found by paths from the root.
std::vector<placed_node> expected_nodes(symbol_tree const& tree, triad::vocabulary const& labels) {
  std::vector<placed_node> nodes;
  auto const visit = [&](auto const& self, index_t at, index_t position) -> void {
    nodes.push_back({position, labels.number(tree.label(at))});
    for (index_t c = 0; c < 2; ++c)
      if (auto const child = tree.child(at, c); child != triad::no_node) self(self, child, 2 * position + 1 + c);
  };
  visit(visit, 0, 0);
  std::sort(nodes.begin(), nodes.end(),
            [](placed_node const& a, placed_node const& b) { return a.position < b.position; });
  return nodes;
}

bool same(placed_tree a, std::vector<placed_node> const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

TEST_CASE("a row is read as it was written, gzipped or not, and other fields do not matter") {
  folder_of const files{};
  row const r{triad::parse_tree("( A ( B c ) ( D ( E f ) ) )"), triad::parse_tree("( \"A\\ )")};
  CHECK(read_rows(files.write("a.jsonl", to_json_line(r) + "\n\n" + to_json_line(r))).rows == std::vector{r, r});
  CHECK(from_json(R"_({"count": "s2", "target": "(A(B c))", "class": 3, "source": "( A )"})_") ==
        row{triad::parse_tree("( A )"), triad::parse_tree("( A ( B c ) )")});
  auto const path = files.folder / "b.jsonl.gz";
  gzFile const file = gzopen(path.c_str(), "wb");
  auto const line = to_json_line(r) + "\n";
  CHECK(gzwrite(file, line.data(), static_cast<unsigned>(line.size())) > 0);
  gzclose(file);
  CHECK(read_rows(path).rows == std::vector{r});
}

TEST_CASE("what is wrong with a file is told with its line and column") {
  folder_of const files{};
  auto const refused = [&](std::string const& text, char const* reason) {
    CAPTURE(text);
    CHECK_THROWS_WITH(read_rows(files.write("bad.jsonl", line_of("( A )", "( B )") + text)),
                      contains("bad.jsonl:2: " + std::string(reason)));
  };
  refused(R"_({"source": "( A )", "target")_", "column 29: expected a JSON object");
  refused(R"_({"source": "( A )", "target": "( A )", "x": 1e999})_", "there is a value that cannot be read: ");
  refused(R"_({"x": )_" + std::string(200'000, '['), "expected JSON of at most 64 levels, found more");
  refused(R"_(["( A )", "( B )"])_",
          "expected a JSON object with \"source\" and \"target\", found a value of type array");
  refused(R"_({"source": "( A )"})_", "expected a tree \"target\", found none");
  refused(R"_({"source": "( A )", "target": null})_",
          "expected a tree as text in \"target\", found a value of type null");
  //         1         2         3         4         5
  // 12345678901234567890123456789012345678901234567890
  refused(R"_({"source": "( A )", "target": "( A ( B ) ( C )"})_",
          "target, column 47: expected ')' after the children of 'A', found the end");
  refused(R"_({"source": "( A b c d )", "target": "( A )"})_",
          "source, column 21: expected ')' after 2 children of 'A', found another child");
  refused(R"_({"source": "( A ( ) )", "target": "( A )"})_",
          "source, column 19: expected a label after '(', found ')'");
  refused(R"_({"source": "( A )", "target": "( A ) ( B )"})_", "target, column 38: expected nothing after the tree");
  refused(R"_({"source": "", "target": "( A )"})_", "source, column 13: expected a tree, found nothing");
  refused(R"_({"source": "( A\t(", "target": "( A )"})_", "source without its escapes, column 6: expected a label");
  refused(R"_({"source": "( A <empty> )", "target": "( A )"})_", "source, '<empty>' is a place without a node");
  CHECK_THROWS_WITH(read_rows(files.write("empty.jsonl", "\n")), contains("empty.jsonl: there is no row in it"));
  CHECK_THROWS_WITH(read_rows(files.folder / "none.jsonl"), contains("none.jsonl: cannot be opened"));
}

TEST_CASE("a folder needs train and validation; other splits may be missing") {
  auto const line = line_of("( A b )", "( B a )");
  folder_of const files{{"train.jsonl", line}};
  CHECK_THROWS_WITH(read_data(files.path()), contains(files.path() + ": there is no validation.jsonl"));
  files.write("validation.jsonl", line + line);
  files.write("test.json", line);
  auto const data = read_data(files.path());
  CHECK(data[split::test].rows.size() == 1);
  CHECK(data[split::train].rows.size() == 1);
  CHECK(data[split::dev].rows.size() == 2);
  CHECK(data[split::ood_long].rows.empty());
  CHECK_THROWS_WITH(read_data(files.path() + "/nowhere"), contains("nowhere: a folder with train, validation"));
}

TEST_CASE("a deeper row is refused with its place, or left out and counted, before it gives labels") {
  folder_of const files{
      {"train.jsonl", line_of("( A b )", "( B )") + line_of("( A )", "( D ( E f ) )") + line_of("( C )", "( A )")},
      {"validation.jsonl", line_of("( D )", "( A )")},
      {"ood_long.jsonl", line_of("( A )", "( A ( B ( C g ) ) )") + line_of("( A ( B c ) )", "( A )")}};
  auto o = on(files, 2);
  CHECK_THROWS_WITH(
      task(o),
      contains(
          "train.jsonl:2: a tree of depth 3, where the model's trees have 2: take a larger --depth, or --skip-deeper"));
  o.skip_deeper = true;
  CHECK_THROWS_WITH(task(o), contains("ood_long.jsonl: each of its 2 rows has a tree deeper than 2"));
  o.depth = 3;
  task const work(o);
  CHECK(work.skipped() == 1);
  CHECK(work.depth() == 3);
  o.depth = 12;
  task const whole(o);
  CHECK(whole.skipped() == 0);
  CHECK(whole.depth() == 4);
  CHECK(whole.labels().labels() == std::vector<std::string>{"<empty>", "A", "b", "B", "D", "E", "f", "C", "g", "c"});
  CHECK(work.labels().labels() == std::vector<std::string>{"<empty>", "A", "b", "B", "D", "E", "f", "C", "c"});
}

TEST_CASE("each node stands at its breadth-first position, with the number of its label") {
  options o;
  o.task = "car-cdr-seq";
  o.rows = 60, o.test_size = 20;
  settle(o);
  task const work(o);
  index_t most = 0;
  for (auto const s : splits) {
    auto const& rows = work.data()[s].rows;
    REQUIRE(work.placed(s).size() == static_cast<index_t>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      auto const placed = work.placed(s)[static_cast<index_t>(i)];
      CHECK(same(placed.source, expected_nodes(rows[i].source, work.labels())));
      CHECK(same(placed.target, expected_nodes(rows[i].target, work.labels())));
      most = std::max({most, rows[i].source.size(), rows[i].target.size()});
      for (auto const& node : placed.source) CHECK(node.position < (index_t{1} << work.depth()) - 1);
    }
  }
  CHECK(work.most_nodes() == most);
}

TEST_CASE("an epoch has every row once, each epoch in another order, and a batch depends on its number alone") {
  options o;
  o.one_way = true;
  o.rows = 23, o.test_size = 1, o.batch = 5, o.updates = 12;
  settle(o);
  task const work(o);
  auto batches = work.batches(o.seed), again = work.batches(o.seed);
  CHECK(work.epoch_updates() == 5);
  CHECK(work.epochs() == 3);
  auto const batch = [](triad::apps::epoch_batches& of, std::int64_t update) {
    auto const rows = of.batch(update);
    return std::vector<std::size_t>(rows.begin(), rows.end());
  };
  std::vector<std::vector<std::size_t>> epochs(2);
  for (std::int64_t update = 0; update < 10; ++update) {
    auto const b = batch(batches, update);
    CHECK(b.size() == (update % 5 == 4 ? 3 : 5));
    auto& epoch = epochs[static_cast<std::size_t>(update / 5)];
    epoch.insert(epoch.end(), b.begin(), b.end());
  }
  CHECK_FALSE(epochs[0] == epochs[1]);
  for (auto const& epoch : epochs) CHECK(std::set<std::size_t>(epoch.begin(), epoch.end()).size() == 23);
  for (std::int64_t const update : {7, 2, 9, 0}) CHECK(batch(again, update) == batch(batches, update));
  o.seed = 2;
  task const other(o);
  auto others = other.batches(o.seed);
  CHECK(other.data()[split::train].rows == work.data()[split::train].rows);  // another model on the same data
  CHECK_FALSE(batch(others, 0) == batch(batches, 0));
}

TEST_CASE("with --one-way, rows that go back are left out of a folder") {
  auto const to = line_of("( S a )", "( LF b )"), back = line_of("( LF b )", "( S a )");
  folder_of const files{{"train.jsonl", back + to + back}, {"validation.jsonl", to}, {"test.jsonl", back}};
  auto o = on(files);
  CHECK(task(o).placed(split::train).size() == 3);
  o.one_way = true;
  task const work(o);
  CHECK(work.placed(split::train).size() == 1);
  CHECK(work.placed(split::test).size() == 0);
  files.write("train.jsonl", back);
  CHECK_THROWS_WITH(task(o), contains("there is no row to a logical form"));
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
    settle(o);
    CHECK(o.steps == e.steps);
    CHECK(o.batch == e.batch);
    CHECK(o.depth == 12);
  }
  options o;
  o.preset = "small", o.batch = 3;
  apply_preset(o);
  settle(o);
  CHECK(o.steps == 8);
  CHECK(o.depth == 10);
  CHECK(o.one_way);
  CHECK(o.temperature == 10);
  CHECK(o.cooling == 8000);
  CHECK(o.updates == 12000);
  CHECK(o.seed == 3);
  CHECK(o.batch == 3);
  o.task = "active";
  CHECK_THROWS_WITH(settle(o), contains("there is no task 'active': it is one of car-cdr-seq, active-logical, "
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

TEST_CASE("a preset for tests makes a task in no time, with every split") {
  options o;
  o.preset = "smoke";
  apply_preset(o);
  settle(o);
  task const work(o);
  for (auto const s : splits) CHECK(work.placed(s).size() > 0);
  CHECK(work.depth() <= 10);
  o.depth = 4;
  CHECK_THROWS_WITH(task(o), contains("where the model's trees have 4"));
  o.skip_deeper = true;
  CHECK_THROWS_WITH(task(o), contains("no row of active-logical has a depth of 4 or less"));
}

}  // namespace
