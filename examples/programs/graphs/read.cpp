// SPDX-License-Identifier: Apache-2.0
#include "read.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "direction.hpp"
#include "shared/cli/say.hpp"
#include "shared/data/data_folder.hpp"
#include "shared/data/json_lines.hpp"
#include "shared/report/printed.hpp"
#include "shared/report/refuse.hpp"

namespace triad::programs::graphs {
namespace {

constexpr auto node_mark = "node: ", several_mark = " + ";

std::string checked(std::string label) {
  if (label.empty() || label.starts_with(node_mark) || label.find(several_mark) != std::string::npos)
    refuse("the label \"{}\" is empty, begins with \"{}\" or has \"{}\" in it; give it another name", shortened(label),
           node_mark, several_mark);
  return label;
}

node_pair pair_of(nlohmann::json const& from, nlohmann::json const& to, int nodes, char const* what) {
  auto const node = [&](nlohmann::json const& value) {
    if (!value.is_number_integer() || value < 0 || value >= nodes)
      refuse("{} names node {}, expected a whole number from 0 to {}", what, value.dump(), nodes - 1);
    return value.get<int>();
  };
  return {node(from), node(to)};
}

/// All labels of each pair of nodes.
using label_sets = std::map<std::pair<int, int>, std::set<std::string>>;

void add(label_sets& labels, node_pair const& p, std::string label) { labels[{p.from, p.to}].insert(std::move(label)); }

/// Adds the label of each node i to the pair (i, i).
void add_node_labels(label_sets& labels, written_graph const& g) {
  for (int i = 0; i < static_cast<int>(g.node_labels.size()); ++i)
    add(labels, {i, i}, node_mark + checked(g.node_labels[static_cast<std::size_t>(i)]));
}

/// Returns one word for each pair of nodes, made of the pair's labels in the order of bytes.
std::vector<std::pair<node_pair, std::string>> words_of_pairs(label_sets const& labels) {
  std::vector<std::pair<node_pair, std::string>> pairs;
  for (auto const& [p, set] : labels)
    pairs.emplace_back(node_pair{p.first, p.second}, fmt::format("{}", fmt::join(set, several_mark)));
  return pairs;
}

/// Converts a graph that was made edge by edge to the form of a graph that was read from a file: all labels of a pair
/// of nodes become one word.
written_graph gathered(written_graph g) {
  label_sets labels;
  for (auto const& [p, label] : g.pairs) add(labels, pair_of(p.from, p.to, g.nodes, "an edge"), checked(label));
  add_node_labels(labels, g);
  g.query = pair_of(g.query.from, g.query.to, g.nodes, "the query");
  g.pairs = words_of_pairs(labels);
  return g;
}

/// Divides graphs into one part for each value of a member of their lines.  Values that are numbers come first, in
/// ascending order, then texts.
class parts_by_value {
 public:
  explicit parts_by_value(std::string name) : name_(std::move(name)) {}

  void add(nlohmann::json const& value, std::string const& by, labelled_graph g, std::string const& place) {
    bool const number = value.is_number();
    if (!number && !value.is_string() && !value.is_boolean()) refuse_member(by.c_str(), kinds_, value);
    auto text = value.is_string() ? value.get<std::string>() : value.dump();
    if (value.is_string() && reads_otherwise(text)) text = value.dump();  // quotes distinguish "1" from 1
    auto& part = parts_[{!number, number ? value.get<double>() : 0, text}];
    part.graphs.push_back(std::move(g));
    if (!place.empty()) part.places.push_back(place);
  }
  void take(std::string const& by, std::vector<test_part>& to) {
    for (auto& [value, part] : parts_) {
      part.name = fmt::format("{} {}={}", name_, by, std::get<2>(value));
      to.push_back(std::move(part));
    }
  }
  static constexpr auto kinds_ = "a text, a number, true or false";

 private:
  /// Returns whether a text without its quotes would be parsed as a number, true or false.
  static bool reads_otherwise(std::string const& text) {
    auto const value = nlohmann::json::parse(text, nullptr, false);
    return value.is_number() || value.is_boolean();
  }

  std::string name_;
  std::map<std::tuple<bool, double, std::string>, test_part> parts_;
};

std::string place_of(std::string const& path, long number) { return path + ":" + std::to_string(number); }

test_part numbered_file(std::string const& name, std::string const& path, vocabulary const& words) {
  test_part all{name, {}};
  read_json_lines(path, [&](nlohmann::json const& line, std::string const&, long number) {
    all.graphs.push_back(numbered(read_graph(line, true), words));
    all.places.push_back(place_of(path, number));
  });
  return all;
}

std::string counted(std::map<std::string, int> const& counts) {
  std::vector<std::pair<int, std::string>> sorted;
  for (auto const& [name, count] : counts) sorted.emplace_back(-count, name);
  std::sort(sorted.begin(), sorted.end());
  std::string text;
  for (std::size_t i = 0; i < sorted.size() && i < 20; ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", printable_name(sorted[i].second), -sorted[i].first);
  return text + (sorted.size() > 20 ? fmt::format(", and {} more", sorted.size() - 20) : "");
}

}  // namespace

written_graph read_graph(nlohmann::json const& line, bool answered) {
  written_graph g;
  label_sets labels;
  constexpr auto nodes_are = "a number of nodes or a list of their labels",
                 edges_are = "a list of [node, \"label\", node]";
  if (member(line, "nodes", nodes_are).is_array()) {
    g.node_labels = member<std::vector<std::string>>(line, "nodes", nodes_are);
    add_node_labels(labels, g);
    g.nodes = static_cast<int>(g.node_labels.size());
  } else {
    g.nodes = member<int>(line, "nodes", nodes_are);
  }
  if (g.nodes < 1 || g.nodes > largest_graph) refuse("a graph of {} nodes, expected 1 to {}", g.nodes, largest_graph);
  auto const& edges = member(line, "edges", edges_are);
  if (!edges.is_array()) refuse_member("edges", edges_are, edges);
  for (auto const& e : edges) {
    if (!e.is_array() || e.size() != 3 || !e[1].is_string())
      refuse("an edge is {}, expected [node, \"label\", node]", e.dump());
    auto const p = pair_of(e[0], e[2], g.nodes, "an edge");
    add(labels, p, checked(e[1].get<std::string>()));
  }
  g.pairs = words_of_pairs(labels);
  auto const& query = member(line, "query", "a pair of nodes");
  if (!query.is_array() || query.size() != 2) refuse_member("query", "a pair of nodes", query);
  g.query = pair_of(query[0], query[1], g.nodes, "the query");
  if (answered || line.contains("target")) g.target = member<std::string>(line, "target", "the answer, a text");
  if (answered && g.target.empty()) refuse("the target is empty; name the answer");
  return g;
}

std::vector<written_graph> read_graphs(std::string const& path, bool answered, std::vector<std::string>* places) {
  std::vector<written_graph> all;
  read_json_lines(path, [&](nlohmann::json const& line, std::string const&, long number) {
    all.push_back(read_graph(line, answered));
    if (places != nullptr) places->push_back(place_of(path, number));
  });
  return all;
}

labelled_graph numbered(written_graph const& g, vocabulary const& words) {
  labelled_graph result{.nodes = g.nodes, .edges = {}, .query = g.query, .target = words.target(g.target), .k = 0};
  for (auto const& [pair, word] : g.pairs) {
    int const label = words.edge_label(word);
    if (label == 0)
      refuse("\"{}\" of nodes {} and {} is on no pair of the training file, so the model does not know it; it knows {}",
             shortened(word), pair.from, pair.to, words.edge_labels.all());
    result.edges.push_back({pair.from, pair.to, label});
  }
  if (result.target < 0 && !g.target.empty())
    refuse("the target \"{}\" is not in the training file, so the model cannot answer it; it knows {}",
           shortened(g.target), words.targets.all());
  return result;
}

namespace {
data_set data_of_written(std::vector<written_graph> const& train, std::vector<written_graph> const& dev,
                         std::vector<std::pair<std::string, std::vector<written_graph>>> const& tests) {
  data_set d;
  std::set<std::string> labels, targets;
  for (auto const& g : train) {
    for (auto const& [pair, word] : g.pairs) labels.insert(word);
    targets.insert(g.target);
  }
  d.words = {{labels.begin(), labels.end()}, {targets.begin(), targets.end()}};
  auto const all = [&](std::vector<written_graph> const& graphs) {
    graph_list list;
    for (auto const& g : graphs) list.push_back(numbered(g, d.words));
    return list;
  };
  d.train = all(train);
  d.dev = all(dev);
  for (auto const& [name, graphs] : tests) d.tests.push_back({name, all(graphs)});
  return d;
}

}  // namespace

data_set data_of(std::vector<written_graph> train, std::vector<written_graph> dev,
                 std::vector<std::pair<std::string, std::vector<written_graph>>> tests) {
  auto const gather = [](std::vector<written_graph>& graphs) {
    for (auto& g : graphs) g = gathered(std::move(g));
  };
  gather(train);
  gather(dev);
  for (auto& [name, graphs] : tests) gather(graphs);
  return data_of_written(train, dev, tests);
}

data_set read_training(std::string const& folder) {
  if (folder.empty())
    refuse(
        "there is nothing to train on: give a folder with train.jsonl and test.jsonl with --data; docs/data.md has the "
        "format");
  auto const files = find_data(folder, {".jsonl"}, true);
  std::vector<std::string> places;
  auto d = data_of_written(read_graphs(files.train, true, &places), {}, {});
  d.train_places = std::move(places);
  if (!files.dev.empty()) {
    auto dev = numbered_file("dev", files.dev, d.words);
    d.dev = std::move(dev.graphs);
    d.dev_places = std::move(dev.places);
  }
  for (auto const& [name, path] : files.tests) d.tests.push_back(numbered_file(name, path, d.words));
  return d;
}

std::vector<test_part> by_path(std::vector<test_part> const& parts) {
  std::vector<test_part> all;
  for (auto const& part : parts) {
    parts_by_value by(part.name);
    for (std::size_t i = 0; i < part.graphs.size(); ++i) {
      int const length = path_length(part.graphs[i], part.graphs[i].query);
      by.add(length < 0 ? nlohmann::json("none") : nlohmann::json(length), "path", part.graphs[i],
             part.places.empty() ? std::string() : part.places[i]);
    }
    by.take("path", all);
  }
  return all;
}

std::vector<test_part> read_tests(std::string const& path, vocabulary const& words, std::string const& by) {
  if (path.empty()) refuse("there is nothing to measure on: give a folder or a file with --data");
  auto const files = find_data(path, {".jsonl"}, false);
  std::vector<test_part> parts;
  auto const read = [&](std::string const& name, std::string const& file) {
    if (by.empty()) return void(parts.push_back(numbered_file(name, file, words)));
    parts_by_value values(name);
    read_json_lines(file, [&](nlohmann::json const& line, std::string const&, long number) {
      auto const& value = member(line, by.c_str(), parts_by_value::kinds_);
      values.add(value, by, numbered(read_graph(line, true), words), place_of(file, number));
    });
    values.take(by, parts);
  };
  for (auto const& [name, file] : files.tests) read(name, file);
  if (files.tests.empty()) read("dev", files.dev);
  return parts;
}

void inspect(std::string const& path) {
  auto const all = read_graphs(path, false);
  int least = all.front().nodes, most = 0;
  double nodes = 0, pairs = 0;
  std::map<std::string, int> labels, targets;
  for (auto const& g : all) {
    least = std::min(least, g.nodes);
    most = std::max(most, g.nodes);
    nodes += g.nodes;
    pairs += static_cast<double>(g.pairs.size());
    for (auto const& [pair, word] : g.pairs) ++labels[word];
    ++targets[g.target.empty() ? "(no target)" : g.target];
  }
  auto const n = static_cast<double>(all.size());
  say("{}: {} graphs of {} to {} nodes, {:.1f} on the average, and {:.1f} labelled pairs\n", path, all.size(), least,
      most, nodes / n, pairs / n);
  fmt::print("{} labels: {}\n{} targets: {}\n", labels.size(), counted(labels), targets.size(), counted(targets));
}

}  // namespace triad::programs::graphs
