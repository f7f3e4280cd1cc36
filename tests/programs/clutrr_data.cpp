// Tests reading and writing CLUTRR's files: the published format, and every kind of error in a file.
// SPDX-License-Identifier: Apache-2.0

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "graphs/clutrr/data.hpp"
#include "shared/processes/first_writes.hpp"
#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "triad/core/errors.hpp"
#include "triad/core/random.hpp"

namespace programs_clutrr_data_tests {

namespace clutrr = triad::programs::clutrr;

struct scratch_folder : triad::test::scratch_folder {
  std::string file(std::string const& name, std::string const& content) const {
    return triad::test::saved(*this, content, name);
  }
};

void write_train(std::string const& path, std::vector<clutrr::kinship_graph> const& graphs,
                 clutrr::vocabulary const& words) {
  triad::programs::first_writes(path, clutrr::to_csv(graphs, words, "train"));
}

std::string const header = "story_edges,edge_types,query_edge,target\n";
std::string const good_row = R"_("[(0, 1), (1, 2)]","['wife', 'daughter']","(0, 2)",daughter)_";

// Returns the error message for `content` as training data, without the folder. Returns an empty text if there is no
// error.
std::string refusal(std::string const& content) {
  scratch_folder folder;
  auto const path = folder.file("a.csv", content);
  try {
    clutrr::read_data(path);
  } catch (triad::data_error const& e) {
    std::string message = e.what();
    CHECK(message.starts_with(path));
    return message.substr(path.size() - 5);
  }
  return {};
}

bool says(std::string const& message, std::string const& part) {
  INFO("message: " << message << "\nexpected in it: " << part);
  bool const found = message.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

TEST_CASE("a published row becomes a graph with numbered words") {
  scratch_folder folder;
  auto const path =
      folder.file("a.csv",
                  "id,task_name,story_edges,edge_types,query_edge,query,target\r\n"
                  "7f,task_1.3,\"[(0, 1), (1, 2), (0, 1)]\",\"['wife', 'daughter', \"\"sister\"\"]\",\"(0, 2)\","
                  "\"('A, \"\"B\"\"', 'C')\",son\r\n");
  auto const data = clutrr::read_data(path);
  CHECK(data.words.edge_labels.names() == std::vector<std::string>{"daughter", "sister", "wife"});
  CHECK(data.words.targets.names() == std::vector<std::string>{"son"});
  CHECK(data.words.embedding_rows() == 5);
  REQUIRE(data.train.size() == 1);
  auto const& graph = data.train[0];
  CHECK(graph.nodes == 3);
  CHECK(graph.k == 3);
  CHECK(graph.query == clutrr::node_pair{0, 2});
  CHECK(graph.target == 0);
  CHECK(graph.edges ==
        // in the order of the facts; for a pair with two edges, the last one is used
        std::vector<clutrr::edge>{{0, 1, 3}, {1, 2, 1}, {0, 1, 2}});
}

TEST_CASE("a target that is a number has its word in target_text, or is refused") {
  scratch_folder folder;
  std::string const facts = R"_("[(0, 1), (1, 2)]","['wife', 'daughter']","(0, 2)",)_";
  auto const path = folder.file("a.csv", "story_edges,edge_types,query_edge,target,target_text\n" + facts + "15,son\n" +
                                             facts + "daughter,\n" + facts + "3,aunt\n");
  CHECK(clutrr::read_data(path).words.targets.names() == std::vector<std::string>{"aunt", "daughter", "son"});
  CHECK(says(refusal(header + facts + "15\n"),
             "a.csv:2:52: in column target: the target is the number 15; expected the"));
  auto const numbers = "story_edges,edge_types,query_edge,target_text,target\n" + facts;
  CHECK(says(refusal(numbers + ",15\n"), "in column target_text: the target is empty"));
  CHECK(says(refusal(numbers + "3,15\n"), "in column target_text: the target is the number 3"));
}

TEST_CASE("a folder may have the names of the hub") {
  scratch_folder folder;
  folder.file("train.csv", header + good_row + "\n");
  folder.file("test.csv", header + good_row + "\n" + good_row + "\n");
  auto data = clutrr::read_data(folder / "");
  CHECK(data.train.size() == 1);
  CHECK(data.dev.empty());
  CHECK(data.test.at(2).size() == 2);
  folder.file("validation.csv", header + good_row + "\n");
  CHECK(clutrr::read_data(folder / "").dev.size() == 1);
  folder.file("1.2_train.csv", header + good_row + "\n");
  CHECK_THROWS_WITH(clutrr::read_data(folder / ""), triad::test::contains("more than one training file"));
  scratch_folder other;
  other.file("trains.csv", header);
  CHECK_THROWS_WITH(
      clutrr::read_data(other / ""),
      triad::test::contains("there is no *_train.csv or train.csv, gzipped or not; the folder has trains.csv"));
}

TEST_CASE("k is the number of edges where no task name tells it") {
  scratch_folder folder;
  CHECK(clutrr::read_data(folder.file("a.csv", header + good_row + '\n')).train[0].k == 2);
  auto const with_empty_name = "task_name," + header + "," + good_row;
  CHECK(clutrr::read_data(folder.file("b.csv", with_empty_name)).train[0].k == 2);
}

TEST_CASE("a written file reads back equal, plain and compressed") {
  clutrr::vocabulary const words{{"daughter", "god's \"own\" \\, child", "wife"}, {"a, \"b\"", "son"}};
  std::vector<clutrr::kinship_graph> const graphs{{3, {{0, 1, 3}, {1, 2, 1}}, {0, 2}, 0, 2},
                                                  {4, {{0, 3, 2}, {3, 1, 1}, {1, 2, 3}}, {2, 0}, 1, 17}};
  scratch_folder folder;
  for (char const* name : {"x_train.csv", "x_train.csv.gz"}) {
    auto const path = folder / name;
    write_train(path, graphs, words);
    auto const data = clutrr::read_data(path);
    CHECK(data.words == words);
    CHECK(data.train == graphs);
  }
  CHECK(folder.entries() == 2);  // no temporary file remains
}

TEST_CASE("a folder is one training file and its test files grouped by k") {
  scratch_folder folder;
  folder.file("1.2_train.csv", header + good_row + '\n');
  folder.file("1.2_test.csv", header + good_row + '\n' + good_row + '\n');
  folder.file("1.9_test.csv", "task_name," + header + "task_1.9," + good_row + '\n');
  folder.file("config.json", "{}");
  auto const data = clutrr::read_data(folder / "");
  CHECK(data.train.size() == 1);
  REQUIRE(data.test.size() == 2);
  CHECK(data.test.at(2).size() == 2);
  CHECK(data.test.at(9).size() == 1);

  folder.file("2_train.csv", header + good_row);
  CHECK_THROWS_AS(clutrr::read_data(folder / ""), triad::data_error);
  scratch_folder twice;
  twice.file("1.2_train.csv", header + good_row);
  for (auto const* name : {"1.2_test.csv", "1.2_test.csv.gz"}) twice.file(name, header + good_row);
  CHECK_THROWS_WITH(clutrr::read_data(twice / ""),
                    triad::test::contains("1.2_test.csv.gz are both there; keep one of them"));
  scratch_folder empty;
  CHECK_THROWS_AS(clutrr::read_data(empty / ""), triad::data_error);
  CHECK_THROWS_AS(clutrr::read_data(empty / "missing"), triad::data_error);
}

TEST_CASE("words that the training file does not have are refused with file, line, column and word") {
  scratch_folder folder;
  folder.file("a_train.csv", header + good_row + '\n');
  folder.file("a_test.csv", header + good_row + "\n\"[(0, 1)]\",\"['wizard']\",\"(0, 1)\",daughter\n");
  try {
    clutrr::read_data(folder / "");
    FAIL("was read");
  } catch (triad::data_error const& e) {
    says(e.what(), R"(a_test.csv:3:14: in column edge_types: edge label "wizard" does not occur in the training file)");
  }
  folder.file("a_test.csv", header + R"_("[(0, 1)]","['wife']","(0, 1)",neice)_");
  try {
    clutrr::read_data(folder / "");
    FAIL("was read");
  } catch (triad::data_error const& e) {
    says(e.what(), R"(a_test.csv:2:32: in column target: target "neice" does not occur)");
  }
}

TEST_CASE("a malformed file is refused with line, column and reason") {
  struct mistake {
    std::string content;
    std::string message;
  };
  std::vector<mistake> const mistakes{
      {"", "a.csv:1:1: the file is empty"},
      {header, "a.csv:2: the file has a header and no rows"},
      {"story_edges,target\n", "there is no column edge_types; the header has: story_edges, target"},
      {header + "\"[(0, 1)]\",\"['a']\",\"(0, 1)\"\n", "a.csv:2:21: the row has 3 fields, the header 4"},
      {header + R"_("[(0, 1)]","['a']","(0, 1)",a,b)_", "the row has 5 fields, the header 4"},
      {header + R"_("[(0, 1)]","['a']","(0, 1),a)_", "a.csv:2:20: the quote that opens here is never closed"},
      {header + R"_("[(0, 1)]"x,"['a']","(0, 1)",a)_", "a.csv:2:11: text after the closing quote"},
      {header + R"_([(0" 1)],"['a']","(0, 1)",a)_", "a.csv:2:4: a quote inside a field"},
      {header + R"_("[(0, 1), (1, x)]","['a', 'b']","(0, 1)",a)_", "a.csv:2:15: in column story_edges: found \"x)]\""},
      {header + R"_("[(0, 1), (1, 2)","['a', 'b']","(0, 1)",a)_",
       "a.csv:2:17: in column story_edges: the field ends too early"},
      {header + R"_("[(0, 1) (1, 2)]","['a', 'b']","(0, 1)",a)_", "expected ',' or ']' after an item"},
      {header + R"_("[(0, -1)]","['a']","(0, 1)",a)_", "person number -1 is out of range"},
      {header + R"_("[(0, 512)]","['a']","(0, 1)",a)_", "person number 512 is out of range"},
      {header + R"_("[(0, 99999999999999999999)]","['a']","(0, 1)",a)_", "is out of range"},
      {header + R"_("[(0, 1.5)]","['a']","(0, 1)",a)_", "expected ')' after the second person"},
      {header + R"_("[(0, 1), (1, 1)]","['a', 'b']","(0, 1)",a)_",
       "a.csv:2:11: in column story_edges: an edge from person 1"},
      {header + R"_("[(0, 1)]","['a', 'b']","(0, 1)",a)_", "a.csv:2:13: in column edge_types: 2 labels for 1 edge"},
      {header + R"_("[]","[]","(0, 1)",a)_", "the story has no edges"},
      {header + R"_("[(0, 1)]","['a]","(0, 1)",a)_", "a.csv:2:14: in column edge_types: the quote that opens here"},
      {header + R"_("[(0, 1)]","[a]","(0, 1)",a)_", "expected a quoted word"},
      {header + R"_("[(0, 1)]","['']","(0, 1)",a)_", "the word is empty"},
      {header + R"_("[(0, 1)]","['\x41']","(0, 1)",a)_", "unknown escape \\x"},
      {header + R"_("[(0, 1)]","['a']","(0, 2)",a)_", "in column query_edge: the question is about person 2"},
      {header + R"_("[(0, 1)]","['a']","(1, 1)",a)_", "the question is about one person"},
      {header + R"_("[(0, 1)]","['a']","(0, 1)x",a)_", "expected the end of the field"},
      {header + R"_("[(0, 1)]","['a']","(0, 1)",)_", "a.csv:2:29: in column target: the target is empty"},
      {"task_name," + header + R"_(task_1,"[(0, 1)]","['a']","(0, 1)",a)_", "\"task_1\" does not tell k"},
      {"task_name," + header + R"_(1.2x,"[(0, 1)]","['a']","(0, 1)",a)_", "\"1.2x\" does not tell k"},
      {header + good_row + "\n\n\"[(0, 1)]\nx\",\"['a']\",\"(0, 1)\",a",
       "a.csv:4:10: in column story_edges: found \"?x\""},
      {"a,\"\"\"b\",story_edges\n", "there is no column edge_types"},
      {std::string(5000, ','), "more than 4096 fields"},
  };
  for (auto const& [content, message] : mistakes) says(refusal(content), message);
}

TEST_CASE("a damaged or cut gzip file is refused") {
  scratch_folder folder;
  std::vector<clutrr::kinship_graph> const graphs(300, {3, {{0, 1, 1}, {1, 2, 1}}, {0, 2}, 0, 2});
  auto const path = folder / "a.csv.gz";
  write_train(path, graphs, {{"wife"}, {"son"}});
  std::ifstream in(path, std::ios::binary);
  std::string const whole{std::istreambuf_iterator<char>(in), {}};
  REQUIRE(clutrr::read_data(path).train.size() == 300);
  for (std::size_t const size : {whole.size() - 1, whole.size() - 9, whole.size() / 2, std::size_t{12}})
    CHECK_THROWS_AS(clutrr::read_data(folder.file("b.csv.gz", whole.substr(0, size))), triad::data_error);
  std::string broken = whole;
  broken[broken.size() / 2] = static_cast<char>(broken[broken.size() / 2] ^ 0x55);
  CHECK_THROWS_AS(clutrr::read_data(folder.file("c.csv.gz", broken)), triad::data_error);
}

TEST_CASE("a path that cannot be written is refused and leaves nothing") {
  scratch_folder folder;
  std::vector<clutrr::kinship_graph> const graphs{{2, {{0, 1, 1}}, {0, 1}, 0, 1}};
  clutrr::vocabulary const words{{"wife"}, {"son"}};
  CHECK_THROWS_AS(write_train(folder / "no/such/a.csv", graphs, words), triad::data_error);
  std::filesystem::create_directories(folder / "a.csv/full");
  CHECK_THROWS_AS(write_train(folder / "a.csv", graphs, words), triad::data_error);
  CHECK(folder.entries() == 1);
}

TEST_CASE("a mutated file is read or refused, never worse") {
  scratch_folder folder;
  std::string const valid = "task_name," + header + "task_1.2," + good_row + "\ntask_1.2," + good_row + "\n";
  std::string const alphabet = std::string("\"'[](),\\\n\r 019-.task_wife\xef\xbb\xbf\xff") + '\0';
  auto const pick = [](triad::counter_random& random, std::size_t bound) {
    return static_cast<std::size_t>(random.below(static_cast<int>(bound)));
  };
  int read = 0;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    triad::counter_random random(20240229, seed);
    std::string text = valid;
    for (int change = 1 + random.below(4); change > 0 && !text.empty(); --change) {
      auto const at = pick(random, text.size());
      auto const length = std::min(pick(random, 12), text.size() - at);
      switch (random.below(5)) {
        case 0:
          text[at] = alphabet[pick(random, alphabet.size())];
          break;
        case 1:
          text.insert(at, 1, alphabet[pick(random, alphabet.size())]);
          break;
        case 2:
          text.erase(at, length);
          break;
        case 3:
          text.insert(pick(random, text.size()), text.substr(at, length));
          break;
        default:
          text.resize(at);
          break;
      }
    }
    auto const path = folder.file("a.csv", text);
    INFO("seed " << seed << ":\n" << text);
    try {
      auto const data = clutrr::read_data(path);
      ++read;
      for (auto const& graph : data.train) {  // checks that all graphs that were read are valid
        bool sound = graph.nodes <= clutrr::python_list::most_people && graph.query.from < graph.nodes &&
                     graph.query.to < graph.nodes && graph.target < data.words.targets.end();
        for (auto const& e : graph.edges)
          sound = sound && e.from >= 0 && e.to >= 0 && e.from < graph.nodes && e.to < graph.nodes && e.from != e.to &&
                  e.label > 0 && e.label < data.words.edge_labels.end();
        REQUIRE(sound);
      }
    } catch (triad::data_error const& e) {
      ++refused;
      REQUIRE(std::string(e.what()).starts_with(path));
    }
  }
  CHECK(read > 100);
  CHECK(refused > 1000);
}

}  // namespace programs_clutrr_data_tests
