// Golden files of kinds dtm_full and train_dtm: the whole Differentiable Tree Machine, and its training.
// SPDX-License-Identifier: Apache-2.0
//
// A whole machine runs in two ways: with matrices for the file's roles R and, if its operations are not learned, with
// canonical roles. If X has the fillers of a tree, X is the tree over canonical roles, and X' R is the tree over the
// file's roles. So for canonical roles, W_shrink is converted from the file's roles, and its gradient is converted
// back.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "training.hpp"
#include "tree_machine_parts.hpp"

namespace triad::golden {

namespace detail {

/// Converts W_shrink (f, r), which a file has for its own roles.
template <class T, backend Ex>
struct shrink_columns {
  machine_case<T, Ex> const& of;
  bool canonical;

  /// Converts param/dtm.ctrl_net.weight to our machine's form.
  std::vector<double> in(std::vector<double> const& theirs) const {
    return canonical ? of.to_positions(of.by_role(theirs)) : of.by_role(theirs);
  }
  /// Converts our gradient to the file's form.
  std::vector<double> out(std::vector<double> const& ours) const {
    return of.by_filler(canonical ? of.to_roles(ours) : ours);
  }
  static bool is(std::string const& path) { return path == "shrink.weight"; }
};

template <class T, backend Ex, class Set>
void load_machine(workbench<Ex>& bench, Set& params, golden_file const& file, shrink_columns<T, Ex> const& columns) {
  packed_attention{}(params.mutable_values(), [&](std::string const& path, auto view) {
    auto const values = file.values("param/" + machine_names()(path));
    bench.write(view, columns.is(path) ? columns.in(values) : values);
  });
}

/// Returns whether a file has Gumbel noise on its operations ("op") or arguments ("arg"). If the file has the key
/// op_dist_fn or arg_dist_fn, the key decides. Otherwise noise is used if the file has noise. Noise that no
/// distribution reads is ignored.
inline bool is_noisy(golden_file const& file, std::string const& what) {
  auto const key = what + "_dist_fn", noise = "in/gumbel_" + what + "_0";
  if (!file.config.contains(key)) return file.has(noise);
  auto const named = file.config[key].get<std::string>();
  if (named != "softmax" && named != "gumbel")
    throw data_error(file.path().string() + ": expected " + key + " to be softmax or gumbel, found " + named);
  if (named == "gumbel" && !file.has(noise))
    throw data_error(file.path().string() + ": " + key + " is gumbel, and there is no " + noise + " to compute with");
  return named == "gumbel";
}

/// Returns the number by which logits are divided if there is noise.
inline double gumbel_temperature(golden_file const& file) {
  auto const found = file.config.find("gumbel_temp");
  if (found == file.config.end() || !found->is_number())
    throw data_error(file.path().string() + ": there is noise, but no number as gumbel_temp in the configuration");
  return found->get<double>();
}

/// Returns the axis over which the weights of arguments add up to one. In a file of our own, the key arg_dist_axis has
/// the axis. Without this key, it is the axis of the released program: over the arguments if there is Gumbel noise,
/// otherwise over the trees.
inline choice_over arguments_over(golden_file const& file) {
  std::string const key = "arg_dist_axis";
  if (!file.config.contains(key)) return is_noisy(file, "arg") ? choice_over::arguments : choice_over::trees;
  auto const named = file.config[key].get<std::string>();
  if (named != "trees" && named != "arguments")
    throw data_error(file.path().string() + ": expected " + key + " to be trees or arguments, found " + named);
  return named == "trees" ? choice_over::trees : choice_over::arguments;
}

inline tree_root root_of(golden_file const& file) {
  std::string const key = "root_dist";
  if (!file.config.contains(key)) return tree_root::scores;
  auto const named = file.config[key].get<std::string>();
  if (named != "softmax")
    throw data_error(file.path().string() + ": expected " + key + " to be softmax, found " + named);
  return tree_root::distribution;
}

/// Reads in/gumbel_WHAT_K of all steps into (steps, batch, columns). Step k has of_step(k) columns; all other columns
/// are 0.
template <class Count>
std::vector<double> noise_of(golden_file const& file, std::string const& what, index_t steps, index_t batch,
                             index_t columns, Count of_step) {
  std::vector<double> all;
  for (index_t k = 0; k < steps; ++k) {
    auto const name = "in/gumbel_" + what + "_" + std::to_string(k);
    auto const values = file.values(name);
    if (static_cast<index_t>(values.size()) != batch * of_step(k))
      throw data_error(file.path().string() + ": expected " + std::to_string(batch * of_step(k)) + " numbers as " +
                       name + ", found " + std::to_string(values.size()));
    for (index_t b = 0; b < batch; ++b)
      for (index_t i = 0; i < columns; ++i)
        all.push_back(i < of_step(k) ? values[static_cast<std::size_t>(b * of_step(k) + i)] : 0);
  }
  return all;
}

/// Returns the options of a file's machine. Throws data_error if roots are distributions and the number of fillers is
/// not the number of symbols.
template <class T, backend Ex>
tree_machine_options machine_options(golden_file const& file, machine_case<T, Ex> const& of) {
  auto const agent = agent_options(file);
  auto const root = root_of(file);
  bool const unit_fillers = root == tree_root::distribution;
  if (unit_fillers && agent.fillers != of.symbols)
    throw data_error(file.path().string() +
                     ": a root that is a distribution is over unit fillers, one a symbol, found " +
                     std::to_string(agent.fillers) + " of " + std::to_string(of.symbols) + " symbols");
  return {file.size("steps"), of.symbols, unit_fillers, agent, root, file.config.value("empty_tree", false)};
}

template <class T, backend Ex>
tree_batch<T> load_trees(workbench<Ex>& bench, golden_file const& file, machine_case<T, Ex> const& of, index_t steps,
                         std::string const& at) {
  auto const shape = file.shape(at, 2);
  index_t const batch = shape[0];
  bool const empty_tree = file.config.value("empty_tree", false);
  std::vector<index_t> sample, zero(static_cast<std::size_t>(batch)), size, first;
  for (index_t b = 0; b < batch; ++b) sample.push_back(b);
  for (index_t k = 0; k < steps; ++k)
    for (index_t b = 0; b < batch; ++b) {
      index_t const tokens = tree_tokens_at(k, empty_tree);
      size.push_back(tokens), first.push_back(b * tokens);
    }
  tree_batch<T> in{{batch},
                   of.positions.count(),
                   bench.make_vec(file.integers(at)),
                   of.table,
                   {},
                   nullptr,
                   bench.make_vec(sample),
                   bench.make_vec(zero),
                   bench.make_vec(size),
                   bench.make_vec(first)};
  using noise = tensor<T const, dyn, dyn, dyn>;
  in.empty_tree = empty_tree;
  in.recency = file.config.value("recency", 0.0);
  in.over = arguments_over(file);
  if (is_noisy(file, "op")) {
    in.operation_temperature = gumbel_temperature(file);
    auto const all = noise_of(file, "op", steps, batch, 3, [](index_t) { return index_t{3}; });
    in.operation_noise = bench.template make_from<noise>(all, steps, batch, index_t{3});
  }
  if (is_noisy(file, "arg")) {
    in.argument_temperature = gumbel_temperature(file);
    auto const columns = [&](index_t k) { return in.choices_at(k) * 4; };
    auto const all = noise_of(file, "arg", steps, batch, columns(steps - 1), columns);
    in.argument_noise = bench.template make_from<noise>(all, steps, batch, columns(steps - 1));
  }
  return in;
}

}  // namespace detail

struct dtm_full {
  static constexpr std::string_view kind = "dtm_full";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    workbench<Ex> bench(ex);
    machine_case<T, Ex> const of(bench, file);
    auto const sizes = detail::machine_options(file, of);
    check_way<T>(bench, file, r, "by matrices", of, false,
                 tree_machine<T, matrix_interpreter<T>>(of.by_matrices, of.positions.count(), sizes));
    if (!file.flag("learned_D_E"))
      check_way<T>(bench, file, r, "canonical", of, true,
                   tree_machine<T>(tree_interpreter<T>(of.positions), of.positions.count(), sizes));
  }

 private:
  template <class T, backend Ex, class Model>
  static void check_way(workbench<Ex>& bench, golden_file const& file, report& r, std::string const& label,
                        machine_case<T, Ex> const& of, bool canonical, Model const& model) {
    detail::shrink_columns<T, Ex> const columns{of, canonical};
    parameter_set<Model, Ex> params(model, holding::gradients, memory_of(bench.ex));
    detail::load_machine(bench, params, file, columns);
    auto const in = detail::load_trees(bench, file, of, model.steps, "in/input");
    tree_answers const targets{bench.make_vec(file.integers("in/output"))};
    auto const saved = bench.place([&](arena& a) { return model.plan_saved(a, in.sizes); });
    auto const scores = bench.place([&](arena& a) { return model.plan_output(a, in.sizes); }),
               d = bench.place([&](arena& a) { return model.plan_output(a, in.sizes); });
    auto const loss = bench.template make<vec<T>>(1);
    auto const symbols = bench.template make<vec<index_t>>(in.sizes.batch * in.positions);
    double const threshold = file.config.at("decode_eps").get<double>();
    bench.run([&](auto& backend, call const& c) {
      model.forward(backend, c, params.values(), in, saved, scores);
      model.loss(backend, *c.scratch, in, scores, targets, loss, d);
      decode_rows(backend, as_matrix(read_only(scores)), threshold, symbols);
      model.backward(backend, c, params.values(), in, saved, d, params.gradients());
    });
    auto const slot = [&](index_t k) {
      auto const values = bench.read(tree_slot(saved.memory, k));
      return of.by_filler(canonical ? of.to_roles(values) : values);
    };
    r.output("loss", bench.read(loss), label);
    r.output("decoded", without_empty(bench.read(scores), of.symbols), label);
    r.integers("symbols", bench.read_exact(symbols), label);
    r.output("input_tpr", slot(0), label);
    r.output("output_tpr", slot(model.steps), label);
    scored(file, r, bench.read(scores), bench.read_exact(symbols), of.symbols, threshold, label);
    for (index_t k = 0; k < model.steps; ++k) {
      auto const now = saved.at(k);
      std::string const at = "step" + std::to_string(k) + "/";
      if (!file.has("out/" + at + "new_tree")) continue;
      auto const chosen = bench.read(saved.arguments);
      std::vector<double> weights;
      for (index_t b = 0; b < in.sizes.batch; ++b) {
        auto const begin = chosen.begin() + ((k * in.sizes.batch + b) * saved.arguments.extent(2)) * 4;
        weights.insert(weights.end(), begin, begin + model.choices_at(k) * 4);
      }
      r.output(at + "arg_weights", weights, label);
      r.output(at + "op_dist", bench.read(saved.operation(k)), label);
      r.output(at + "root_filler", bench.read(saved.root(k)), label);
      r.output(at + "encodings", bench.read(now.out), label);
      r.output(at + "new_tree", slot(k + 1), label);
    }
    packed_attention{}(params.gradients(), [&](std::string const& path, auto view) {
      auto const values = bench.read(view);
      r.gradient("param/" + machine_names()(path), columns.is(path) ? columns.out(values) : values, label);
    });
  }

  /// Sets the score of <empty> to 0, as in the file.
  static std::vector<double> without_empty(std::vector<double> scores, index_t symbols) {
    for (std::size_t i = 0; i < scores.size(); i += static_cast<std::size_t>(symbols)) scores[i] = 0;
    return scores;
  }
  static void scored(golden_file const& file, report& r, std::vector<double> const& scores,
                     std::vector<index_t> const& found, index_t symbols, double threshold, std::string const& label) {
    auto const right = file.integers("in/output");
    auto const trees = static_cast<std::size_t>(file.size("B")), positions = right.size() / trees;
    double whole = 0, filled = 0, correct = 0, wrongly = 0, margin = std::numeric_limits<double>::infinity();
    for (std::size_t b = 0; b < trees; ++b) {
      bool all = true;
      for (std::size_t i = b * positions; i < (b + 1) * positions; ++i) {
        double squares = 0;
        for (index_t v = 1; v < symbols; ++v)
          squares += std::pow(scores[i * static_cast<std::size_t>(symbols) + static_cast<std::size_t>(v)], 2);
        margin = std::min(margin, std::abs(std::sqrt(squares) - threshold));
        all = all && found[i] == right[i];
        filled += right[i] != 0, correct += right[i] != 0 && found[i] == right[i],
            wrongly += right[i] == 0 && found[i] != 0;
      }
      whole += all;
    }
    r.output("accuracy", {whole / static_cast<double>(trees)}, label);
    r.output("partial_accuracy", {correct / (filled + wrongly)}, label);
    r.output("min_norm_margin", {margin}, label);
  }
};

struct train_dtm {
  static constexpr std::string_view kind = "train_dtm";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    workbench<Ex> bench(ex);
    machine_case<T, Ex> const of(bench, file);
    using machine = tree_machine<T, matrix_interpreter<T>>;  // matrices: AdamW's result depends on the coordinates
    machine const model(of.by_matrices, of.positions.count(), detail::machine_options(file, of));
    std::vector<tree_batch<T>> batches;
    std::vector<tree_answers> answers;
    for (index_t k = 0; file.has("in/batch" + std::to_string(k) + "/input"); ++k) {
      std::string const at = "in/batch" + std::to_string(k) + "/";
      batches.push_back(detail::load_trees(bench, file, of, model.steps, at + "input"));
      answers.push_back({bench.make_vec(file.integers(at + "output"))});
    }
    typename trainer<machine, Ex>::options_type options;
    options.capacity.batch = file.size("batch");
    options.adam = detail::adam_of("AdamW", file.config);
    options.max_norm = file.config.at("gclip").get<double>();
    auto const iterations = static_cast<std::uint64_t>(file.size("iters_per_epoch"));
    dtm_main_cosine const schedule{file.config.at("lr").get<double>(),
                                   static_cast<std::uint64_t>(file.size("num_warmup_steps")), iterations,
                                   static_cast<std::uint64_t>(file.size("epochs"))};
    trainer<machine, Ex> run(bench.ex, model, options);
    detail::shrink_columns<T, Ex> const columns{of, false};
    detail::load_machine(bench, run.parameters(), file, columns);

    std::vector<double> accuracy;
    auto const updates = iterations * static_cast<std::uint64_t>(file.size("epochs"));
    auto const first = compare_updates(
        bench, r, run, updates, schedule,
        [&](std::uint64_t step, double rate) {
          auto const k = static_cast<std::size_t>(step % batches.size());
          accuracy.push_back(right_trees(bench, run.infer(batches[k]), answers[k], batches[k].sizes.batch));
          run.update(batches[k], answers[k], rate);
        },
        packed_attention{});
    r.tensor("out/accuracy", "accuracy", accuracy, 1e-6);  // the file has a float
    compare_final(bench, file, r, run.parameters(), first, machine_names(), packed_attention{},
                  [&](std::string const& path, std::vector<double> const& values) {
                    return columns.is(path) ? columns.out(values) : values;
                  });
  }

 private:
  /// Returns the fraction of a batch's trees in which every symbol is right.
  template <backend Ex, class Scores>
  static double right_trees(workbench<Ex>& bench, Scores const& scores, tree_answers const& right, index_t trees) {
    auto const symbols = bench.template make<vec<index_t>>(scores.extent(0));
    bench.run([&](auto& backend, call const&) { decode_rows(backend, as_matrix(read_only(scores)), 0.01, symbols); });
    auto const found = bench.read_exact(symbols), expected = bench.read_exact(right.symbols);
    auto const positions = found.size() / static_cast<std::size_t>(trees);
    index_t whole = 0;
    for (std::size_t first = 0; first < found.size(); first += positions)
      whole += std::equal(found.begin() + static_cast<std::ptrdiff_t>(first),
                          found.begin() + static_cast<std::ptrdiff_t>(first + positions),
                          expected.begin() + static_cast<std::ptrdiff_t>(first));
    return static_cast<double>(whole) / static_cast<double>(trees);
  }
};

}  // namespace triad::golden
