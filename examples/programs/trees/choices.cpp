// SPDX-License-Identifier: Apache-2.0
#include "choices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "shared/data/json_lines.hpp"
#include "shared/processes/first_writes.hpp"
#include "shared/report/refuse.hpp"
#include "shared/report/svg_heat_map.hpp"
#include "shared/report/table.hpp"

namespace triad::programs::trees {

double doubt(std::vector<double> const& weights) {
  double sum = 0;
  for (double const p : weights) sum -= p > 0 ? p * std::log(p) : 0;
  return weights.size() < 2 ? 0 : sum / std::log(static_cast<double>(weights.size()));
}

namespace {

/// Returns the doubt of one argument of a step.
double doubt_of(traced_step const& s, tree_argument a) {
  std::vector<double> weights;
  for (auto const& of_tree : s.arguments) weights.push_back(of_tree[static_cast<std::size_t>(a)]);
  if (s.empty) weights.push_back((*s.empty)[static_cast<std::size_t>(a)]);
  return doubt(weights);
}

double argument_doubt(traced_step const& s) {
  double sum = 0;
  for (auto const o : {tree_operation::car, tree_operation::cdr, tree_operation::cons}) {
    auto const those = arguments_of(o);
    for (auto const a : those) sum += s.weight(o) * doubt_of(s, a) / static_cast<double>(those.size());
  }
  return sum;
}

}  // namespace

choice_record choices_of(machine& net, placed_rows const& rows, index_t most, vocabulary const& labels,
                         std::vector<double> const& gradients) {
  choice_record r;
  auto const count = std::min(most, rows.size());
  std::vector<tree_trace> traces;
  index_t first = 0;
  auto const& positions = net.positions();
  auto const judge = [&](index_t i, std::span<index_t const>) {
    auto const& trace = traces[static_cast<std::size_t>(i - first)];
    r.steps.resize(trace.size());
    for (std::size_t k = 0; k < trace.size(); ++k) {
      auto& to = r.steps[k];
      double const part = 1 / static_cast<double>(count);
      for (std::size_t j = 0; j < 3; ++j) to.operations[j] += part * trace[k].operations[j];
      to.operation_doubt += part * doubt({trace[k].operations.begin(), trace[k].operations.end()});
      to.argument_doubt += part * argument_doubt(trace[k]);
    }
    auto const p = likeliest(trace);
    auto const source = tree_of(symbols_of(rows[i].source, positions), positions);
    auto const memory = execute(p, source, positions.depth());
    auto const text = to_text(p, labels);
    auto at = std::find_if(r.programs.begin(), r.programs.end(), [&](auto const& x) { return x.program == text; });
    if (at == r.programs.end()) {
      r.programs.push_back({text});
      at = std::prev(r.programs.end());
      at->needed = needed(p);
    }
    ++at->rows;
    at->correct += symbols_of(memory.back(), positions) == symbols_of(rows[i].target, positions) ? 1 : 0;
    at->certainty += certainty(trace, p, memory);
    auto const root = labels.label(source.label(0));
    if (std::find(at->roots.begin(), at->roots.end(), root) == at->roots.end()) at->roots.push_back(root);
  };
  answer_all(net, rows, count, judge, [&](index_t begin, index_t) {
    first = begin;
    traces = net.traced(false);
  });
  for (auto& p : r.programs) p.certainty /= static_cast<double>(p.rows);
  std::stable_sort(r.programs.begin(), r.programs.end(), [](auto const& a, auto const& b) { return a.rows > b.rows; });
  for (std::size_t k = 0; k < std::min(r.steps.size(), gradients.size()); ++k) r.steps[k].gradient = gradients[k];
  return r;
}

std::string to_json_line(choice_record const& r) {
  nlohmann::ordered_json json{{"update", r.update},
                              {"validation", r.validation},
                              {"temperature", r.temperature},
                              {"empty_weight", r.empty_weight},
                              {"steps", nlohmann::ordered_json::array()},
                              {"programs", nlohmann::ordered_json::array()}};
  for (auto const& s : r.steps)
    json["steps"].push_back({{"operations", s.operations},
                             {"operation_doubt", s.operation_doubt},
                             {"argument_doubt", s.argument_doubt},
                             {"gradient", s.gradient}});
  for (auto const& p : r.programs)
    json["programs"].push_back({{"program", p.program},
                                {"rows", p.rows},
                                {"right", p.correct},
                                {"certainty", p.certainty},
                                {"roots", p.roots},
                                {"needed", p.needed}});
  return json_text_of(json);
}

std::vector<choice_record> read_choices(std::string const& path) {
  // JSON has no infinity and no NaN.  If a run diverged, such a number is written as null.
  auto const number = [](nlohmann::json const& of, char const* name) {
    auto const& found = member(of, name, "a number");
    return found.is_null() ? std::numeric_limits<double>::quiet_NaN() : member<double>(of, name, "a number");
  };
  auto const weights = [](nlohmann::json const& of) {
    std::array<double, 3> three{};
    auto const& found = member(of, "operations", "three weights");
    if (!found.is_array() || found.size() != three.size()) refuse_member("operations", "three weights", found);
    for (std::size_t i = 0; i < three.size(); ++i) {
      if (!found[i].is_null() && !found[i].is_number()) refuse_member("operations", "three weights", found);
      three[i] = found[i].is_null() ? std::numeric_limits<double>::quiet_NaN() : found[i].get<double>();
    }
    return three;
  };
  std::vector<choice_record> all;
  read_json_lines(path, [&](nlohmann::json const& line) {
    choice_record r{member<std::int64_t>(line, "update", "a number of updates"), number(line, "validation"),
                    number(line, "temperature"), number(line, "empty_weight")};
    for (auto const& s : member<std::vector<nlohmann::json>>(line, "steps", "a list of steps"))
      r.steps.push_back({weights(s), number(s, "operation_doubt"), number(s, "argument_doubt"), number(s, "gradient")});
    for (auto const& p : member<std::vector<nlohmann::json>>(line, "programs", "a list of programs"))
      r.programs.push_back({member<std::string>(p, "program", "a program as text"),
                            member<std::int64_t>(p, "rows", "a number of rows"),
                            member<std::int64_t>(p, "right", "a number of rows"), number(p, "certainty"),
                            member<std::vector<std::string>>(p, "roots", "a list of labels"),
                            member<std::vector<bool>>(p, "needed", "a list of true and false")});
    if (!all.empty() && all.front().steps.size() != r.steps.size())
      refuse("expected {} steps as in the first line, found {}", all.front().steps.size(), r.steps.size());
    all.push_back(std::move(r));
  });
  return all;
}

namespace {

using step_value = double (*)(step_choices const&);

constexpr std::size_t most_programs = 6;

/// Returns a table with one line for each checkpoint and one column for each step.
template <class Cell>
std::string table_of_steps(std::vector<choice_record> const& all, std::string const& title, Cell&& cell) {
  std::vector<std::string> header{title};
  for (std::size_t k = 1; k <= all.front().steps.size(); ++k) header.push_back(fmt::format("T{}", k));
  text_table table(header);
  for (auto const& r : all) {
    std::vector<std::string> cells{std::to_string(r.update)};
    for (auto const& s : r.steps) cells.push_back(cell(s));
    table.row(cells);
  }
  return table.text() + "\n";
}

/// Returns whether gradients were recorded.  Before its first update, a run has none.
bool has_gradients(std::vector<choice_record> const& all) { return all.back().update > 0; }

double largest_gradient(choice_record const& r) {
  double most = 0;
  for (auto const& s : r.steps) most = std::max(most, s.gradient);
  return most;
}

}  // namespace

std::string to_text(std::vector<choice_record> const& all) {
  auto text = table_of_steps(all, "operation, by update", [](step_choices const& s) {
    auto const at =
        static_cast<std::size_t>(std::max_element(s.operations.begin(), s.operations.end()) - s.operations.begin());
    return fmt::format("{} {:.2f}", name_of(static_cast<tree_operation>(at)), s.operations[at]);
  });
  text += table_of_steps(all, "doubt of operations and of arguments", [](step_choices const& s) {
    return fmt::format("{:.2f} {:.2f}", s.operation_doubt, s.argument_doubt);
  });
  if (has_gradients(all))
    text += table_of_steps(all, "norm of the gradient",
                           [](step_choices const& s) { return fmt::format("{:.1e}", s.gradient); });
  auto const& last = all.back();
  text += fmt::format(
      "after {} updates: temperature {:.2f}, weight of empty positions {:.2f}, {:.1f} % of validation right\n",
      last.update, last.temperature, last.empty_weight, 100 * last.validation);
  std::int64_t rows = 0;
  for (auto const& p : last.programs) rows += p.rows;
  text += fmt::format("likeliest programs of {} rows, {} of them distinct{}\n", rows, last.programs.size(),
                      last.programs.size() > most_programs ? "; the most frequent:" : ":");
  std::vector<bool> used(last.steps.size());
  for (std::size_t i = 0; i < last.programs.size(); ++i) {
    auto const& p = last.programs[i];
    for (std::size_t k = 0; k < std::min(used.size(), p.needed.size()); ++k) used[k] = used[k] || p.needed[k];
    if (i < most_programs)
      text += fmt::format("{:>6}  {} right, certainty {:.2f}, of {}: {}\n", p.rows, p.correct, p.certainty,
                          fmt::join(p.roots, ", "), p.program);
  }
  std::string unused;
  for (std::size_t k = 0; k < used.size(); ++k)
    if (!used[k]) unused += fmt::format("{}T{}", unused.empty() ? "" : ", ", k + 1);
  if (unused.empty()) return text + "every step is needed by one of them\n";
  text += "needed by none of them: " + unused;
  if (!has_gradients(all)) return text + "\n";
  double of_unused = 0;
  for (std::size_t k = 0; k < used.size(); ++k)
    if (!used[k]) of_unused = std::max(of_unused, last.steps[k].gradient);
  auto const most = largest_gradient(last);
  return text +
         fmt::format("; the largest gradient there is {:.2g} of the largest of all\n", most > 0 ? of_unused / most : 0);
}

namespace {

/// Returns a heat map for each kind of value.  Its rows are updates, and its columns are steps.
std::vector<heat_map> maps_of(std::vector<choice_record> const& all) {
  struct map_of {
    char const* title;
    step_value value;
    bool relative;
  };
  static constexpr std::array<map_of, 3> parts{
      {{"Doubt of operations", [](step_choices const& s) { return s.operation_doubt; }, false},
       {"Doubt of arguments", [](step_choices const& s) { return s.argument_doubt; }, false},
       {"Gradient, over the largest of its line", [](step_choices const& s) { return s.gradient; }, true}}};
  std::vector<heat_map> maps;
  for (auto const& p : parts) {
    if (p.relative && !has_gradients(all)) continue;
    auto& map = maps.emplace_back(heat_map{p.title, "update", "step", {}, {}, {}});
    for (std::size_t k = 1; k <= all.front().steps.size(); ++k) map.columns.push_back(fmt::format("T{}", k));
    for (auto const& r : all) {
      map.rows.push_back(std::to_string(r.update));
      auto& row = map.values.emplace_back();
      double const over = p.relative ? std::max(largest_gradient(r), std::numeric_limits<double>::min()) : 1;
      for (auto const& s : r.steps) row.push_back(p.value(s) / over);
    }
  }
  return maps;
}

}  // namespace

std::string to_svg(std::vector<choice_record> const& all) {
  std::string content;
  double y = 0, width = 0;
  for (auto const& map : maps_of(all)) {
    auto const [w, h] = size_of(map);
    content += fmt::format("<svg y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\">{}</svg>\n", y, w, h, to_svg(map));
    y += h;
    width = std::max(width, w);
  }
  return programs::detail::picture(width, y, content);
}

nlohmann::ordered_json training_page(std::vector<choice_record> const& all) {
  using json = nlohmann::ordered_json;
  json maps = json::array();
  for (auto const& map : maps_of(all))
    maps.push_back({{"name", map.title},
                    {"rows", map.rows},
                    {"columns", map.columns},
                    {"choices", json::array({{{"name", map.title}, {"values", map.values}}})}});
  auto const& last = all.back();
  return {{"title", "How the choices of a tree machine went in training"},
          {"lead",
           json::array({fmt::format("{} updates, {:.1f} % of validation right", last.update, 100 * last.validation)})},
          {"views", json::array({{{"kind", "maps"},
                                  {"title", "Training"},
                                  {"row", "update"},
                                  {"column", "step"},
                                  {"step", "map"},
                                  {"says", "At this update, of each step"},
                                  {"maps", std::move(maps)}}})}};
}

choices_file::choices_file(std::string path, std::int64_t update) : path_(std::move(path)) {
  if (path_.empty() || update == 0 || !std::filesystem::exists(path_)) return;
  for (auto const& r : read_choices(path_))
    if (r.update <= update) text_ += to_json_line(r) + "\n", last_ = r.update;
}

void choices_file::add(choice_record const& r) {
  if (r.update <= last_) return;
  last_ = r.update;
  text_ += to_json_line(r) + "\n";
  if (!path_.empty()) first_writes(path_, text_);
}

}  // namespace triad::programs::trees
