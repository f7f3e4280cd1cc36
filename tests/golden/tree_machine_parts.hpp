// Golden files of kinds dtm_interp and dtm_nta: the parts of the Differentiable Tree Machine. Also converts the trees
// and parameters of a machine between our form and that of the files.
// SPDX-License-Identifier: Apache-2.0
//
// A tree in a file is a matrix (f, r) over roles R (N, r). Our tree has one row for each role: (r, f).
#pragma once

#include <algorithm>

#include "edge_layer.hpp"
#include "trees.hpp"
#include "triad/models/tree_machine.hpp"

namespace triad::golden {

/// Renames agents.K.layers.J.attention.output.weight to PREFIXlayers.K.layers.J.self_attn.out_proj.weight, and so on.
struct agent_names {
  std::string prefix;

  std::string operator()(std::string const& path) const {
    static renaming const layer{{{"attention.in_proj_weight", "self_attn.in_proj_weight"},
                                 {"attention.in_proj_bias", "self_attn.in_proj_bias"},
                                 {"attention.output", "self_attn.out_proj"},
                                 {"norm1.gain", "norm1.weight"},
                                 {"norm2.gain", "norm2.weight"},
                                 {"norm.gain", "norm.weight"},
                                 {"feed_forward.inner", "linear1"},
                                 {"feed_forward.outer", "linear2"}}};
    auto const begin = path.find('.') + 1, end = path.find('.', begin);  // agents.K.
    auto const step = path.substr(begin, end - begin), rest = path.substr(end + 1);
    for (auto const& [ours, theirs] : {std::pair("operation.", "op_logits_list."),
                                       {"root.", "root_filler_list."},
                                       {"arguments.", "arg_logits_list."}})
      if (rest.starts_with(ours)) return prefix + theirs + step + "." + rest.substr(std::string(ours).size());
    return prefix + "layers." + step + "." + layer(rest);
  }
};

struct machine_names {
  std::string operator()(std::string const& path) const {
    if (path.starts_with("agents.")) return agent_names{"dtm.nta."}(path);
    return renaming{{{"operation_token", "dtm.op_logits_token"},
                     {"root_token", "dtm.root_filler_token"},
                     {"empty_token", "dtm.empty_token"},
                     {"shrink", "dtm.ctrl_net"},
                     {"interpreter.child0", "dtm.interpreter.car_net.car_weight"},
                     {"interpreter.child1", "dtm.interpreter.cdr_net.cdr_weight"},
                     {"interpreter.cons0", "dtm.interpreter.cons_net.cons_l"},
                     {"interpreter.cons1", "dtm.interpreter.cons_net.cons_r"}}}(path);
  }
};

/// The roles, fillers and shifts of a file in the backend's memory, and conversions between the two forms of a tree.
template <class T, backend Ex>
class machine_case {
 public:
  using numbers = std::vector<double>;

  machine_case(workbench<Ex>& bench, golden_file const& file)
      : positions(2, file.size("max_depth")),
        fillers(file.shape("param/tpr.filler_emb.weight", 2)[1]),
        symbols(file.shape("param/tpr.filler_emb.weight", 2)[0]),
        width(file.shape("param/tpr.role_emb.weight", 2)[1]),
        roles(file.values("param/tpr.role_emb.weight")) {
    table = bench.template make_from<tensor<T const, dyn, dyn>>(file.values("param/tpr.filler_emb.weight"), symbols,
                                                                fillers);
    detail::tree_case<T> const on_host(file);
    std::vector<T> all(static_cast<std::size_t>(4 * width * width));
    make_shifts_both_ways(positions, read_only(on_host.maps().roles),
                          tensor<T, dyn, dyn, dyn>(all.data(), 4, width, width));
    by_matrices = {2,
                   positions.count(),
                   width,
                   file.flag("learned_D_E"),
                   bench.template make_from<tensor<T const, dyn, dyn>>(roles, positions.count(), width),
                   bench.template make_from<tensor<T const, dyn, dyn, dyn>>(all, index_t{4}, width, width)};
  }

  /// Converts the file's (n, f, r) to (n, r, f).
  numbers by_role(numbers const& x) const { return swapped(x, fillers, width); }
  /// Converts (n, r, f) to the file's (n, f, r).
  numbers by_filler(numbers const& x) const { return swapped(x, width, fillers); }
  /// Converts (n, N, f) over canonical roles to (n, r, f) over the file's roles.
  numbers to_roles(numbers const& x) const {
    return rotated(x, positions.count(), width, [&](index_t p, index_t r) { return role(p, r); });
  }
  numbers to_positions(numbers const& x) const {
    return rotated(x, width, positions.count(), [&](index_t r, index_t p) { return role(p, r); });
  }

  tree_positions<> positions;
  index_t fillers, symbols, width;
  numbers roles;
  tensor<T const, dyn, dyn> table{};
  matrix_interpreter<T> by_matrices{};

 private:
  double role(index_t p, index_t r) const { return roles[static_cast<std::size_t>(p * width + r)]; }
  static numbers swapped(numbers const& x, index_t rows, index_t columns) {
    numbers y(x.size());
    for (std::size_t first = 0; first < x.size(); first += static_cast<std::size_t>(rows * columns))
      for (index_t i = 0; i < rows; ++i)
        for (index_t j = 0; j < columns; ++j)
          y[first + static_cast<std::size_t>(j * rows + i)] = x[first + static_cast<std::size_t>(i * columns + j)];
    return y;
  }
  template <class Turn>
  numbers rotated(numbers const& x, index_t from, index_t to, Turn&& turn) const {
    auto const count = static_cast<index_t>(x.size()) / (from * fillers);
    numbers y(static_cast<std::size_t>(count * to * fillers));
    for (index_t n = 0; n < count; ++n)
      for (index_t i = 0; i < from; ++i)
        for (index_t j = 0; j < to; ++j)
          for (index_t f = 0; f < fillers; ++f)
            y[static_cast<std::size_t>((n * to + j) * fillers + f)] +=
                turn(i, j) * x[static_cast<std::size_t>((n * from + i) * fillers + f)];
    return y;
  }
};

struct dtm_interp {
  static constexpr std::string_view kind = "dtm_interp";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    workbench<Ex> bench(ex);
    machine_case<T, Ex> const of(bench, file);
    auto const& interpreter = of.by_matrices;
    index_t const batch = file.size("B"), trees = file.size("memory_len"), step = trees - 1;
    auto const chosen = file.values("in/arg_weights"), operations = file.values("in/op_dist");
    auto const operation = [&](index_t b, index_t c) {
      return operations[static_cast<std::size_t>(b * 3 + std::min<index_t>(c, 2))];
    };
    auto const argument = [&](index_t b, index_t l, index_t c) {
      return static_cast<std::size_t>((b * trees + l) * 4 + c);
    };

    // The memory of trees in the file is (batch, l, f, r).
    auto const stored = of.by_role(file.values("in/memory"));
    std::vector<double> memory(stored.size() / static_cast<std::size_t>(trees) * static_cast<std::size_t>(trees + 1));
    auto const tree = static_cast<std::size_t>(of.width * of.fillers);
    auto const at = [&](index_t l, index_t b) { return static_cast<std::size_t>(l * batch + b) * tree; };
    std::vector<double> weights(static_cast<std::size_t>(trees * batch * trees * 4)), root;
    for (index_t b = 0; b < batch; ++b) {
      for (index_t l = 0; l < trees; ++l) {
        std::copy_n(stored.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(b * trees + l) * tree), tree,
                    memory.begin() + static_cast<std::ptrdiff_t>(at(l, b)));
        for (index_t c = 0; c < 4; ++c)
          weights[static_cast<std::size_t>(((step * batch + b) * trees + l) * 4 + c)] =
              operation(b, c) * chosen[argument(b, l, c)];
      }
      for (index_t f = 0; f < of.fillers; ++f)
        root.push_back(operation(b, 2) * file.values("in/root_filler")[static_cast<std::size_t>(b * of.fillers + f)]);
    }
    auto const values = bench.template make_from<tree_memory_view<T>>(memory, trees + 1, batch, of.width, of.fillers);
    tree_pass<T> const pass{
        {}, values, bench.template make_from<tree_weights_view<T>>(weights, trees, batch, trees, index_t{4})};
    auto const s = bench.template make_from<tensor<T, dyn, dyn>>(root, batch, of.fillers);
    auto d_memory = bench.template make<tree_memory_view<T>>(trees + 1, batch, of.width, of.fillers);
    std::vector<double> cotangents(memory.size());
    auto const cotangent = of.by_role(file.values("cotangent/new_tree"));
    std::copy(cotangent.begin(), cotangent.end(), cotangents.end() - static_cast<std::ptrdiff_t>(cotangent.size()));
    bench.write(d_memory, cotangents);
    auto const d_weights = bench.template make<tree_weights_view<T>>(trees, batch, trees, index_t{4});
    auto const d_root = bench.template make<tensor<T, dyn, dyn>>(batch, of.fillers);
    maps_only<T> const layer{interpreter};
    auto const name = [](std::string const& path) {
      return "I." + machine_names()("interpreter." + path).substr(std::string("dtm.interpreter.").size());
    };
    auto params = load_parameters(bench, layer, file, name);
    bench.run([&](auto& backend, call const& c) {
      interpreter.forward(backend, c, params.values(), pass, step, as_matrix(read_only(s)));
      interpreter.begin_backward(backend, d_memory);
      interpreter.backward(backend, c, params.values(), pass, step, d_memory, d_weights, as_matrix(d_root),
                           params.gradients());
    });

    auto const found = bench.read(values);
    std::vector<double> const fresh(found.end() - static_cast<std::ptrdiff_t>(cotangent.size()), found.end());
    r.output("new_tree", of.by_filler(fresh));
    double loss = 0;
    for (std::size_t i = 0; i < fresh.size(); ++i) loss += fresh[i] * cotangent[i];
    r.output("loss", {loss});
    auto const dm = bench.read(d_memory), dw = bench.read(d_weights), dr = bench.read(d_root);
    std::vector<double> of_memory, of_root, of_chosen(chosen.size()), of_operations(operations.size());
    for (index_t b = 0; b < batch; ++b) {
      for (index_t l = 0; l < trees; ++l) {
        auto const begin = dm.begin() + static_cast<std::ptrdiff_t>(at(l, b));
        of_memory.insert(of_memory.end(), begin, begin + static_cast<std::ptrdiff_t>(tree));
        for (index_t c = 0; c < 4; ++c) {
          double const d = dw[static_cast<std::size_t>(((step * batch + b) * trees + l) * 4 + c)];
          of_chosen[argument(b, l, c)] = operation(b, c) * d;
          of_operations[static_cast<std::size_t>(b * 3 + std::min<index_t>(c, 2))] += chosen[argument(b, l, c)] * d;
        }
      }
      for (index_t f = 0; f < of.fillers; ++f) {
        double const d = dr[static_cast<std::size_t>(b * of.fillers + f)];
        of_root.push_back(operation(b, 2) * d);
        of_operations[static_cast<std::size_t>(b * 3 + 2)] +=
            file.values("in/root_filler")[static_cast<std::size_t>(b * of.fillers + f)] * d;
      }
    }
    r.gradient("in/memory", of.by_filler(of_memory));
    r.gradient("in/arg_weights", of_chosen);
    r.gradient("in/op_dist", of_operations);
    r.gradient("in/root_filler", of_root);
    compare_gradients(bench, params, r, name);
  }

 private:
  /// The parameters of the interpreter, with the members that a layer must have.
  template <class T>
  struct maps_only {
    using output = tensor<T, dyn, dyn>;
    matrix_interpreter<T> of;
    template <class S>
    using fields = fields_of<matrix_interpreter<T>, S>;
    template <class S = T>
    fields<S> plan_params(arena& place) const {
      return plan<S>(of, place);
    }
  };
};

namespace detail {

/// Returns the options of the agent, from a file of any kind with an agent.
inline tree_agent_options agent_options(golden_file const& file) {
  tree_agent_options o;
  o.layer = {.width = file.size("d_model"), .heads = file.size("nhead"), .hidden = file.size("dim_feedforward")};
  o.layer.norms = file.config.at("norm_first") == true || file.config.at("norm_first") == 1 ? norm_position::before
                                                                                            : norm_position::after;
  o.layer.between =
      file.config.value("activation", std::string("gelu")) == "relu" ? activation::relu : activation::gelu;
  o.layers = file.config.value("layers_per_step", index_t{1});
  o.fillers = file.size("d_filler");
  return o;
}

/// Returns the gradient of the logits of a softmax. `y` has the values of the softmax, and `dy` has their gradient. The
/// softmax is over `count` numbers. Consecutive numbers are `step` apart in memory.
inline std::vector<double> through_softmax(std::vector<double> const& y, std::vector<double> const& dy,
                                           std::size_t count, std::size_t step) {
  std::vector<double> dx(y.size());
  for (std::size_t first = 0; first < y.size(); ++first) {
    if (first / step % count != 0) continue;
    double dot = 0;
    for (std::size_t i = 0; i < count; ++i) dot += y[first + i * step] * dy[first + i * step];
    for (std::size_t i = 0; i < count; ++i) dx[first + i * step] = y[first + i * step] * (dy[first + i * step] - dot);
  }
  return dx;
}

}  // namespace detail

struct dtm_nta {
  static constexpr std::string_view kind = "dtm_nta";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    workbench<Ex> bench(ex);
    auto const options = detail::agent_options(file);
    neural_tree_agent<T> const agent(options);
    index_t const batch = file.size("B"), tokens = file.size("tokens"), d = agent.width(), rows = batch * tokens,
                  trees = tokens - 2, step = trees - 1;
    std::string const at = "agents." + std::to_string(file.size("step")) + ".";
    auto const name = [&](std::string const& path) { return agent_names{""}(at + path); };
    auto params = load_parameters(bench, agent, file, name, packed_attention{});

    std::vector<index_t> size(static_cast<std::size_t>(batch), tokens), first;
    for (index_t b = 0; b < batch; ++b) first.push_back(b * tokens);
    using table = tensor<T, dyn, dyn>;
    auto const x = bench.template make_from<tensor<T const, dyn, dyn>>(file.values("in/encodings"), rows, d);
    sequence_input<T, dyn> const in{x, {batch, rows, tokens, bench.make_vec(size), bench.make_vec(first)}};
    auto const saved = bench.place([&](arena& a) { return agent.plan_saved(a, row_dims(rows)); });
    auto const y = bench.template make<table>(rows, d), dx = bench.template make<table>(rows, d);
    auto const operation = bench.template make<table>(batch, index_t{3}),
               root = bench.template make<table>(batch, options.fillers);
    auto const arguments = bench.template make<table>(rows, index_t{4}),
               weighted_root = bench.template make<table>(batch, options.fillers);
    auto const chosen_operation = bench.template make<table>(batch, index_t{3});
    auto const chosen = bench.template make<tree_weights_view<T>>(trees, batch, trees, index_t{4}),
               weights = bench.template make<tree_weights_view<T>>(trees, batch, trees, index_t{4});
    bench.run([&](auto& backend, call const& c) {
      agent.forward(backend, c, params.values(), in, tokens, saved, y, as_matrix(operation), as_matrix(root),
                    as_matrix(arguments));
      tree_choice(
          backend, tree_choice_options<T>{}, step,
          tree_logits<T const>{as_matrix(read_only(operation)), agent.of_trees(as_matrix(read_only(arguments)), tokens),
                               as_matrix(read_only(root))},
          tree_choices<T>{as_matrix(chosen_operation), chosen}, weights, as_matrix(weighted_root));
    });
    auto const all_weights = bench.read(chosen);
    std::vector<double> const op_dist = bench.read(chosen_operation),
                              arg_weights(all_weights.end() - batch * trees * 4, all_weights.end());
    r.output("encodings", bench.read(y));
    r.output("op_dist", op_dist);
    r.output("root_filler", bench.read(root));
    r.output("arg_weights", arg_weights);
    double loss = 0;
    for (auto const* one : {"encodings", "op_dist", "root_filler", "arg_weights"}) {
      auto const a = file.values(std::string("out/") + one), b = file.values(std::string("cotangent/") + one);
      for (std::size_t i = 0; i < a.size(); ++i) loss += a[i] * b[i];
    }
    r.output("loss", {loss});

    auto const d_operation = detail::through_softmax(op_dist, file.values("cotangent/op_dist"), 3, 1);
    auto const of_trees =
        detail::through_softmax(arg_weights, file.values("cotangent/arg_weights"), static_cast<std::size_t>(trees), 4);
    std::vector<double> d_arguments;
    for (index_t b = 0; b < batch; ++b) {
      d_arguments.insert(d_arguments.end(), 8, 0.0);
      d_arguments.insert(d_arguments.end(), of_trees.begin() + b * trees * 4, of_trees.begin() + (b + 1) * trees * 4);
    }
    auto const dy = bench.template make_from<table>(file.values("cotangent/encodings"), rows, d);
    auto const d_root = bench.template make_from<tensor<T const, dyn, dyn>>(file.values("cotangent/root_filler"), batch,
                                                                            options.fillers);
    auto const d_op = bench.template make_from<tensor<T const, dyn, dyn>>(d_operation, batch, index_t{3});
    auto const d_args = bench.template make_from<tensor<T const, dyn, dyn>>(d_arguments, rows, index_t{4});
    bench.run([&](auto& backend, call const& c) {
      agent.backward(backend, c, params.values(), in, tokens, saved, y, dy, as_matrix(d_op), as_matrix(d_root),
                     as_matrix(d_args), dx, params.gradients());
    });
    r.gradient("in/encodings", bench.read(dx));
    compare_gradients(bench, params, r, name, "", packed_attention{});
  }
};

}  // namespace triad::golden
