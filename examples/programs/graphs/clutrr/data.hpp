// Reads and writes CLUTRR data sets in the published CSV format, and converts their words to numbers.
// SPDX-License-Identifier: Apache-2.0
//
// Columns: story_edges "[(0, 1), (1, 2)]", edge_types "['wife', 'daughter']", query_edge "(0, 2)", target "daughter".
// The optional column task_name, such as "task_1.2", has k after its last point. In the exports of the Hugging Face
// hub, target is a number, and target_text is its word. Other columns are ignored. The vocabulary has the words of the
// training file, in alphabetical order. A word that occurs only in another file is an error, because the model has not
// seen it.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "graph.hpp"
#include "python_list.hpp"
#include "shared/data/csv.hpp"
#include "shared/data/data_folder.hpp"
#include "shared/report/refuse.hpp"

namespace triad::programs::clutrr {

/// The data for training and evaluating a model.
struct data_set {
  vocabulary words;
  std::vector<kinship_graph> train, dev;
  std::map<int, std::vector<kinship_graph>> test;  // by k
};

/// Reads the rows of one CSV file in order.  Makes all checks that need no vocabulary.
class row_reader {
 public:
  struct row {
    kinship_graph graph;              // its labels and target are not set
    std::vector<placed_word> labels;  // one for each edge, with its place in the field
    std::string target;
  };

  explicit row_reader(std::string path)
      : file_(std::move(path)),
        edges_(file_.column("story_edges")),
        labels_(file_.column("edge_types")),
        query_(file_.column("query_edge")),
        target_(file_.column("target")),
        target_text_(file_.find_column("target_text")),
        task_(file_.find_column("task_name")) {}

  /// Reads the next row.  Returns false at the end of the file.
  bool next(row& r) {
    if (!file_.next()) return false;
    auto const pairs = python_list(file_, edges_).pairs();
    r.labels = python_list(file_, labels_).words();
    if (pairs.empty()) file_.fail(edges_, 0, "the story has no edges", "a row needs at least one fact");
    if (pairs.size() != r.labels.size())
      file_.fail(labels_, 0, count(r.labels.size(), "label") + " for " + count(pairs.size(), "edge"),
                 "each edge needs one label");
    r.graph = {};
    for (auto const& [people, offset] : pairs) {
      if (people.from == people.to)
        file_.fail(edges_, offset, "an edge from person " + std::to_string(people.from) + " to the same person",
                   "facts relate two people");
      r.graph.edges.push_back({people.from, people.to, 0});
      r.graph.nodes = std::max({r.graph.nodes, people.from + 1, people.to + 1});
    }
    r.graph.query = python_list(file_, query_).only_pair();
    for (int const person : {r.graph.query.from, r.graph.query.to})
      if (person >= r.graph.nodes)
        file_.fail(query_, 0, "the question is about person " + std::to_string(person),
                   "the story has people 0 to " + std::to_string(r.graph.nodes - 1));
    if (r.graph.query.from == r.graph.query.to)
      file_.fail(query_, 0, "the question is about one person", "it needs two");
    bool const numbered = is_number(file_[target_]);
    if (numbered && !target_text_)
      file_.fail(target_, 0, "the target is the number " + csv_file::shortened(file_[target_]),
                 "expected the relation's word, or a column target_text that has it");
    target_read_ = numbered ? *target_text_ : target_;
    r.target = file_[target_read_];
    if (r.target.empty()) file_.fail(target_read_, 0, "the target is empty", "name the relation");
    if (is_number(r.target))
      file_.fail(target_read_, 0, "the target is the number " + csv_file::shortened(r.target),
                 "expected the relation's word");
    r.graph.k = chain_length(pairs.size());
    return true;
  }

  [[noreturn]] void unknown_label(placed_word const& label) const {
    file_.fail(labels_, label.offset, unknown("edge label", label.text), training_advice);
  }
  [[noreturn]] void unknown_target(std::string_view target) const {
    file_.fail(target_read_, 0, unknown("target", target), training_advice);
  }

 private:
  static constexpr char const* training_advice = "only words of the training file can be used";

  static bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  }

  static std::string unknown(char const* kind, std::string_view word) {
    return std::string(kind) + " \"" + csv_file::shortened(word) + "\" does not occur in the training file";
  }

  static std::string count(std::size_t n, char const* noun) {
    return std::to_string(n) + ' ' + noun + (n == 1 ? "" : "s");
  }

  [[nodiscard]] int chain_length(std::size_t edges) const {
    if (!task_ || file_[*task_].empty()) return static_cast<int>(edges);
    std::string_view const task = file_[*task_];
    std::size_t const begin = task.rfind('.') + 1;  // 0 if there is no point
    int k = 0;
    auto const [rest, error] = std::from_chars(task.data() + begin, task.data() + task.size(), k);
    if (begin == 0 || error != std::errc() || rest != task.data() + task.size() || k < 1 || k > 9999)
      file_.fail(*task_, begin, "\"" + csv_file::shortened(task) + "\" does not tell k",
                 "expected task_1.k, such as task_1.10, or an empty field");
    return k;
  }

  csv_file file_;
  std::size_t edges_, labels_, query_, target_, target_read_ = 0;  // target_read_: of this row
  std::optional<std::size_t> target_text_, task_;
};

/// Calls use(reader, row) for each row of a file. Throws data_error if a row is wrong, or if the file has no row.
template <class Use>
void each_row(std::string const& path, Use const& use) {
  row_reader reader(path);
  bool any = false;
  for (row_reader::row r; reader.next(r); any = true) use(reader, r);
  if (!any) refuse("{}:2: the file has a header and no rows; expected one row per graph", path);
}

/// Moves the graph out of the row and returns it with numbers in place of words. An unknown label becomes 0, and an
/// unknown target becomes -1.
inline kinship_graph numbered(row_reader::row& r, vocabulary const& words) {
  for (std::size_t e = 0; e < r.labels.size(); ++e) r.graph.edges[e].label = words.edge_label(r.labels[e].text);
  r.graph.target = words.target(r.target);
  return std::move(r.graph);
}

/// Reads the graphs of one file. The numbers of words are from the given vocabulary. Throws data_error.
inline std::vector<kinship_graph> read_graphs(std::string const& path, vocabulary const& words) {
  std::vector<kinship_graph> graphs;
  each_row(path, [&](row_reader const& reader, row_reader::row& r) {
    graphs.push_back(numbered(r, words));
    for (std::size_t e = 0; e < r.labels.size(); ++e)
      if (graphs.back().edges[e].label == 0) reader.unknown_label(r.labels[e]);
    if (graphs.back().target < 0) reader.unknown_target(r.target);
  });
  return graphs;
}

/// Reads the graphs of a training file into `data`, and makes the vocabulary of its words, in alphabetical order.
/// Throws data_error.
inline void read_train(std::string const& path, data_set& data) {
  std::vector<row_reader::row> rows;
  std::set<std::string> labels, targets;
  each_row(path, [&](row_reader const&, row_reader::row& r) {
    for (auto const& label : r.labels) labels.insert(label.text);
    targets.insert(r.target);
    rows.push_back(std::move(r));
  });
  data.words = {{labels.begin(), labels.end()}, {targets.begin(), targets.end()}};
  for (auto& r : rows) data.train.push_back(numbered(r, data.words));
}

inline bool is_folder(std::string const& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

/// Returns the files of a folder, gzipped or not, whose names end in `ending`.csv, in alphabetical order. If `alone` is
/// given, includes `alone`.csv.
inline std::vector<std::string> files_of(std::string const& folder, std::string_view ending,
                                         std::string const& alone = {}) {
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().string();
    std::string_view stem = name;
    if (stem.ends_with(".gz")) stem.remove_suffix(3);
    bool const whole = !alone.empty() && std::filesystem::path(stem).filename() == alone + ".csv";
    if (whole || stem.ends_with(std::string(ending) + ".csv")) found.push_back(std::move(name));
  }
  if (error) refuse("{}: cannot be listed: {}", folder, error.message());
  std::sort(found.begin(), found.end());
  for (auto const& name : found)
    if (std::binary_search(found.begin(), found.end(), name + ".gz")) refuse_both(name, name + ".gz");
  return found;
}

/// Reads all test files of a folder, or one file, and groups the graphs by k.  Throws data_error.
inline std::map<int, std::vector<kinship_graph>> read_test(std::string const& path, vocabulary const& words) {
  bool const folder = is_folder(path);
  auto const files = folder ? files_of(path, "_test", "test") : std::vector<std::string>{path};
  if (files.empty())
    refuse("{}: there is no *_test.csv or test.csv, gzipped or not{}; is this a CLUTRR folder?", path,
           files_there(path));
  std::map<int, std::vector<kinship_graph>> test;
  for (auto const& file : files)
    for (auto& graph : read_graphs(file, words)) test[graph.k].push_back(std::move(graph));
  return test;
}

/// Reads the folder of a data set, or a single file of training data. The folder has one training file, *_train.csv or
/// train.csv; any number of test files, *_test.csv or test.csv; and optionally validation.csv. The files may be
/// gzipped.
inline data_set read_data(std::string const& path) {
  bool const folder = is_folder(path);
  auto const files = folder ? files_of(path, "_train", "train") : std::vector<std::string>{path};
  if (files.empty())
    refuse("{}: there is no *_train.csv or train.csv, gzipped or not{}; the vocabulary is that of the training file",
           path, files_there(path));
  if (files.size() > 1)
    refuse("{}: more than one training file: {}, {}; keep one in the folder", path, files[0], files[1]);
  data_set data;
  read_train(files[0], data);
  if (folder && !files_of(path, "_test", "test").empty()) data.test = read_test(path, data.words);
  if (auto const dev = folder ? find_dev(path, {".csv"}) : std::string(); !dev.empty())
    data.dev = read_graphs(dev, data.words);
  return data;
}

/// Returns the rows of `graphs` as CSV with a header; `split` is "train" or "test".
inline std::string to_csv(std::span<kinship_graph const> graphs, vocabulary const& words, std::string_view split) {
  std::string csv = "id,task_name,task_split,story_edges,edge_types,query_edge,target\n";
  auto const pair = [](int from, int to) { return '(' + std::to_string(from) + ", " + std::to_string(to) + ')'; };
  auto const quoted = [](std::string const& word, char quote) {  // quotes a word for a CSV field or for a Python string
    std::string result(1, quote);
    for (char const c : word) {
      if (quote == '\'' && (c == '\'' || c == '\\')) result += '\\';
      result += c == '"' ? "\"\"" : std::string(1, c);
    }
    return result + quote;
  };
  std::size_t id = 0;
  for (auto const& graph : graphs) {
    std::string edges;
    std::string labels;
    for (auto const& e : graph.edges) {
      edges += (edges.empty() ? "" : ", ") + pair(e.from, e.to);
      labels += (labels.empty() ? "" : ", ") + quoted(words.edge_name(e.label), '\'');
    }
    csv += std::to_string(id++) + ",task_1." + std::to_string(graph.k) + ',' + std::string(split) + ",\"[" + edges +
           "]\",\"[" + labels + "]\",\"" + pair(graph.query.from, graph.query.to) + "\"," +
           quoted(words.target_name(graph.target), '"') + '\n';
  }
  return csv;
}

}  // namespace triad::programs::clutrr
