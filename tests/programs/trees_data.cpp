// Tests the data of trees: how rows are read, every kind of error in a file, the conversion of rows to numbers,
// batches, and data of users.
// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tree_files.hpp"
#include "trees/training_data.hpp"
#include "trees/trees.hpp"

namespace programs_trees_data_tests {

using namespace triad::programs::trees;
using triad::index_t, triad::symbol_tree;
using triad::test::contains, triad::test::folder_of, triad::test::line_of;

/// Returns data with `count` training rows, two rows of dev and one row of a test. All rows differ.
data_set made(int count) {
  data_set data{{part("train"), part("dev"), part("test")}};
  for (int i = 0; i < count + 3; ++i) {
    auto const label = "l" + std::to_string(i), left = "( a " + label + " b )";
    auto const source = triad::parse_tree("( R " + left + " ( c ( d " + label + " ) ) )");
    data.parts[i < count ? 0 : i < count + 2 ? 1 : 2].rows.push_back({source, triad::parse_tree(left)});
  }
  return data;
}

/// Returns the nodes of a tree of symbols in the order of a placed tree. Finds the position of a node from the path
/// from the root.
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
  auto const path_of_one =
      files.write("one", R"_({"count": "s2", "target": "(A(B c))", "class": 3, "source": "( A )"})_");
  CHECK(read_rows(path_of_one).rows ==
        std::vector{row{triad::parse_tree("( A )"), triad::parse_tree("( A ( B c ) )")}});
  auto const path = files.folder / "b.jsonl.gz";
  gzFile const file = gzopen(path.c_str(), "wb");
  auto const line = to_json_line(r) + "\n";
  CHECK(gzwrite(file, line.data(), static_cast<unsigned>(line.size())) > 0);
  gzclose(file);
  CHECK(read_rows(path).rows == std::vector{r});
}

TEST_CASE("what is wrong with a file is reported with its line and column") {
  folder_of const files{};
  auto const refused = [&](std::string const& text, char const* reason) {
    CAPTURE(text);
    CHECK_THROWS_WITH(read_rows(files.write("bad.jsonl", line_of("( A )", "( B )") + text)),
                      contains("bad.jsonl:2:" + std::string(reason)));
  };
  refused(R"_({"source": "( A )", "target")_",
          "29: this is not JSON: unexpected end of input; expected ':'; a line is one object");
  refused(R"_({"source": "( A )", "target": "( A )", "x": 1e999})_", " there is a value that cannot be read: ");
  refused(R"_({"x": )_" + std::string(200'000, '['), " expected JSON of at most 64 levels, found more");
  refused(R"_(["( A )", "( B )"])_", " expected an object in braces, found [\"( A )\",\"( B )\"]");
  refused(R"_({"source": "( A )"})_", " expected \"target\", a tree as text, found none");
  refused(R"_({"source": "( A )", "target": null})_", " expected \"target\" to be a tree as text, found null");
  //         1         2         3         4         5
  // 12345678901234567890123456789012345678901234567890
  refused(R"_({"source": "( A )", "target": "( A ( B ) ( C )"})_",
          " target, column 47: expected ')' after the children of 'A', found the end");
  refused(R"_({"source": "( A b c d )", "target": "( A )"})_",
          " source, column 21: expected ')' after 2 children of 'A', found another child");
  refused(R"_({"source": "( A ( ) )", "target": "( A )"})_",
          " source, column 19: expected a label after '(', found ')'");
  refused(R"_({"source": "( A )", "target": "( A ) ( B )"})_", " target, column 38: expected nothing after the tree");
  refused(R"_({"source": "", "target": "( A )"})_", " source, column 13: expected a tree, found nothing");
  refused(R"_({"source": "( A\t(", "target": "( A )"})_", " source without its escapes, column 6: expected a label");
  refused(R"_({"source": "( A <empty> )", "target": "( A )"})_", " source, '<empty>' is a place without a node");
  CHECK_THROWS_WITH(read_rows(files.write("empty.jsonl", "\n")),
                    contains("empty.jsonl: expected a line or more, found none"));
  CHECK_THROWS_WITH(read_rows(files.folder / "none.jsonl"), contains("none.jsonl: cannot be opened"));
}

TEST_CASE("each node stands at its breadth-first position, with the number of its label") {
  auto const data = made(12);
  training_data const work(options(), data);
  for (std::size_t s = 0; s < data.parts.size(); ++s) {
    auto const& rows = data.parts[s].rows;
    REQUIRE(work.placed(s).size() == static_cast<index_t>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      auto const placed = work.placed(s)[static_cast<index_t>(i)];
      CHECK(same(placed.source, expected_nodes(rows[i].source, work.labels())));
      CHECK(same(placed.target, expected_nodes(rows[i].target, work.labels())));
      for (auto const& node : placed.source) CHECK(node.position < (index_t{1} << work.depth()) - 1);
    }
  }
}

TEST_CASE("an epoch has every row once, each epoch in another order, and a batch depends on its number alone") {
  options o;
  o.batch = 5, o.updates = 12;
  training_data const work(o, made(23));
  auto batches = work.batches(o.seed), again = work.batches(o.seed);
  CHECK(work.epoch_updates() == 5);
  CHECK(work.epochs(o.updates) == 3);
  auto const batch = [](triad::programs::epoch_batches& of, std::int64_t update) {
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
  auto others = work.batches(2);
  CHECK_FALSE(batch(others, 0) == batch(batches, 0));
}

TEST_CASE("without dev, checkpoints are measured on training rows, evenly spread") {
  auto data = made(10);
  options o;
  CHECK(training_data(o, data).measured().size() == 2);
  data.parts[1].rows.clear();
  CHECK(training_data(o, data).measured().size() == 10);
  o.train_sample = 5;
  training_data const work(o, data);
  REQUIRE(work.measured().size() == 5);
  for (index_t i = 0; i < 5; ++i) {
    auto const a = work.measured()[i].source, b = work.train()[2 * i].source;
    CHECK(std::equal(a.begin(), a.end(), b.begin(), b.end()));
  }
}

TEST_CASE("own data are train, maybe dev, and tests by their names; labels are those of all of them, in this order") {
  folder_of const files{{"train.jsonl", line_of("( A b )", "b")},
                        {"test_long.jsonl", line_of("( D ( A e ) )", "e") + line_of("A", "b")},
                        {"test_10.jsonl", line_of("( C b )", "b")}};
  own_options o;
  o.data = files.path();
  auto const p = data_of(o, false);
  auto const names = [](data_set const& data) {
    std::vector<std::string> all;
    for (auto const& part : data.parts) all.push_back(part.name);
    return all;
  };
  CHECK(names(p.data) == std::vector<std::string>{"train", "dev", "long", "10"});
  CHECK(p.data.dev().rows.empty());
  CHECK(part_called(p.data, "long").rows.size() == 2);
  CHECK(part_called(p.data, "").name == "long");
  CHECK_THROWS_WITH(part_called(p.data, "test"), contains("there is no part test: the data have train, long, 10"));
  CHECK(training_data(o, p.data).labels().labels() == std::vector<std::string>{"<empty>", "A", "b", "D", "e", "C"});
  o.depth = 2;
  CHECK_THROWS_WITH(data_of(o, false), contains("test_long.jsonl:1: a tree of depth 3, where the model's trees "
                                                "have 2: take a larger --depth, or --skip-deeper"));
  CHECK_THROWS_WITH(data_of(o, true), contains("have 2: --skip-deeper leaves such rows out"));
  o.skip_deeper = true;
  CHECK(part_called(data_of(o, false).data, "long").skipped == 1);
  // A trained machine may have a single file as its data, or a folder without training rows.
  o.depth = 12, o.data += "/test_long.jsonl";
  auto const one = data_of(o, true);
  CHECK(names(one.data) == std::vector<std::string>{"train", "dev", "test"});
  CHECK(part_called(one.data, "").rows.size() == 2);
  CHECK_THROWS_WITH(data_of(o, false), contains("a folder with train, dev and test .jsonl"));
  o.data.clear();
  CHECK_THROWS_WITH(data_of(o, false), contains("give a folder with train.jsonl and test.jsonl with --data"));
}

TEST_CASE("choices of a run cool down in three fifths of its updates, unless an option says how") {
  auto const settled = [](auto const& change) {
    own_options o;
    change(o);
    apply_preset(o);
    o.settle();
    return std::pair(o.temperature, o.cooling);
  };
  using pair = std::pair<double, int>;
  CHECK(settled([](own_options&) {}) == pair(10, 1200));
  CHECK(settled([](own_options& o) { o.updates = 104; }) == pair(10, 60));
  CHECK(settled([](own_options& o) { o.updates = 4; }) == pair(1, 0));
  CHECK(settled([](own_options& o) { o.choice = "gumbel"; }) == pair(1, 0));
  CHECK(settled([](own_options& o) { o.choice = "gumbel", o.argument_choice = "softmax"; }) == pair(10, 1200));
  CHECK(settled([](own_options& o) { o.given = {"cooling"}; }) == pair(1, 0));
  CHECK(settled([](own_options& o) { o.configured = {"temperature"}, o.temperature = 4, o.cooling = 9; }) ==
        pair(4, 9));
  CHECK(settled([](own_options& o) { o.preset = "paper"; }) == pair(1, 0));
  CHECK(settled([](own_options& o) { o.preset = "smoke"; }) == pair(1, 0));
}

}  // namespace programs_trees_data_tests
