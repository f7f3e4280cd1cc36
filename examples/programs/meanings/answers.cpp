// Reads the data of a run, converts the model's answers to graphs, and scores them.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "program.hpp"
#include "shared/report/refuse.hpp"

namespace triad::programs::meanings {
data_set data_of(options const& o, bool needs_train) {
  if (o.data.empty())
    refuse(
        "this program needs sentences: give a folder with train, dev and test .jsonl, .tsv, .conllu or .sdp with "
        "--data; docs/data.md has the formats");
  auto data = read_data(o.data, needs_train, !o.dev_only);
  if (o.dev_only && data.dev.empty())
    refuse("--dev-only: {} has no dev file; give one, or leave the option out", o.data);
  return data;
}

sentence_graph_dims dims_of(std::vector<std::string> const& tokens, vocabulary const& v, int slots) {
  auto const queried = std::count_if(tokens.begin(), tokens.end(), [&](auto const& t) { return v.queries(v.word(t)); });
  return sentence_graph_of(static_cast<index_t>(tokens.size()), slots, static_cast<index_t>(queried) + slots);
}

sentence_graph_tables tables_of(vocabulary const& v, options const& o) {
  return {.tokens = v.words().size(),
          .slots = o.slots,
          .reach = o.max_offset,
          .labels = {.edge = std::max<index_t>(1, static_cast<index_t>(v.relations().size())),
                     .node = v.label_count(),
                     .graph = static_cast<index_t>(v.graph_labels().size())}};
}

meaning answer_of(std::vector<std::string> const& tokens, found_graph const& found, vocabulary const& v) {
  auto e = question_of(tokens, v);
  for (std::size_t i = 0; i + 2 < found.edges.size(); i += 3)
    e.edges.push_back({found.edges[i], found.edges[i + 1], found.edges[i + 2]});
  for (std::size_t i = 0; i + 1 < found.labels.size(); i += 2)
    e.labels.push_back({found.labels[i], found.labels[i + 1]});
  e.graph_label = found.graph_label;
  return graph_of(tokens, e, v);
}

graph_tally score(network& net, data_format format, std::vector<given_row> const& rows, vocabulary const& v) {
  graph_tally t;
  predict_all(net, rows, v, [&](given_row const& row, meaning const& predicted, found_graph const&) {
    t.add(row, predicted, is_right(format, row, predicted));
  });
  return t;
}

}  // namespace triad::programs::meanings
