// The memory for one check on one backend. Copies values between a file and the backend's memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "golden_file.hpp"
#include "report.hpp"
#include "triad/core/backend.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/fields.hpp"
#include "triad/core/graphs.hpp"
#include "triad/core/kept_factor.hpp"
#include "triad/core/scratch.hpp"
#include "triad/core/views.hpp"
#include "triad/train/parameters.hpp"

namespace triad::golden {

template <backend Ex>
class workbench {
 public:
  using memory = typename Ex::memory;

  explicit workbench(Ex& context) : ex(context) {}
  Ex& ex;

  /// Returns memory for plan(arena&), set to zero. Calls the plan twice: first to measure, then with the memory.
  template <class Plan>
  auto place(Plan&& plan) {
    blocks_.emplace_back(planned_bytes([&](arena& a) { (void)plan(a); }, rounds_from(ex)), memory_of(ex));
    auto at = blocks_.back().place();
    at.set_rounds_from(rounds_from(ex));
    return plan(at);
  }
  /// Returns one view, set to zero.
  template <class View, class... Sizes>
  View make(Sizes... sizes) {
    return place([&](arena& a) { return a.make<View>(sizes...); });
  }

  /// Returns one view with these values.
  template <class View, class V, class... Sizes>
  View make_from(std::vector<V> const& values, Sizes... sizes) {
    using value = std::remove_const_t<typename View::element_type>;
    using mutable_view = ::cuda::std::mdspan<value, typename View::extents_type>;
    auto const view = make<mutable_view>(sizes...);
    write(view, values);
    return View(view);
  }
  template <class T>
  vec<T const> make_vec(std::vector<T> const& values) {
    return make_from<vec<T const>>(values, static_cast<index_t>(values.size()));
  }

  template <class View, class V>
  void write(View view, std::vector<V> const& values) {
    using value = element_t<View>;
    if (view.size() != values.size())
      throw data_error("a tensor of the file has " + std::to_string(values.size()) + " elements; the model expects " +
                       std::to_string(view.size()));
    std::vector<value> converted(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) converted[i] = static_cast<value>(values[i]);
    memory_of(ex).from_host(view.data_handle(), converted.data(), converted.size() * sizeof(value));
  }
  template <class View>
  std::vector<element_t<View>> read_exact(View view) const {
    std::vector<element_t<View>> values(view.size());
    memory_of(ex).to_host(values.data(), view.data_handle(), values.size() * sizeof(element_t<View>));
    return values;
  }
  template <class View>
  std::vector<double> read(View view) const {
    auto const values = read_exact(view);
    return {values.begin(), values.end()};
  }
  template <class T, index_t D>
  std::vector<double> read(kept_factor<T, D> const& factor) const {
    if (!factor.is_rounded()) return read(factor.values);
    std::vector<double> values;
    for (auto const& x : read_exact(factor.rounded))
      values.push_back(static_cast<double>(std::bit_cast<float>(std::uint32_t{x.bits} << 16)));
    return values;
  }

  /// Calls work(ex, call) with the scratch memory that it needs. The first call is on a backend that only measures the
  /// memory, the second on the real backend.
  template <class Work>
  void run(Work&& work, bool train = false) {
    call c;
    c.train = train;
    buffer<memory> const block(planned_scratch(ex, c, work), memory_of(ex));
    auto scratch = block.place();
    c.scratch = &scratch;
    work(ex, c);
  }

  // ---- graphs -------------------------------------------------------------------------------------------------------
  /// Returns a padded batch of `graphs` graphs with n nodes each.
  graph_batch complete_graphs(index_t graphs, index_t n) {
    std::vector<index_t> size, node, edge, triangle;
    for (index_t g = 0; g < graphs; ++g) {
      size.push_back(n);
      node.push_back(g * n);
      edge.push_back(g * n * n);
      triangle.push_back(g * n * n * n);
    }
    return {{graphs, graphs * n * n, graphs * n, graphs * n * n * n, n},
            make_vec(size),
            make_vec(node),
            make_vec(edge),
            make_vec(triangle)};
  }
  /// Returns the rows of the edges (i, i).
  vec<index_t const> self_edges(index_t graphs, index_t n) {
    std::vector<index_t> rows;
    for (index_t i = 0; i < graphs * n; ++i) rows.push_back(i * n + i % n);
    return make_vec(rows);
  }
  /// Converts mask4 to a mask of our triangles: mask4[b, x, a, y] is the triangle (x, a, y). In the flat form, mask4[b,
  /// x, y, z] is the triangle (x, z, y).
  triangle_mask mask_of(std::vector<index_t> const& mask4, index_t graphs, index_t n, bool flat, double fill) {
    std::vector<std::uint8_t> masked(mask4.size());
    auto const at = [n](index_t b, index_t x, index_t a, index_t y) {
      return static_cast<std::size_t>(((b * n + x) * n + a) * n + y);
    };
    for (index_t b = 0; b < graphs; ++b)
      for (index_t x = 0; x < n; ++x)
        for (index_t a = 0; a < n; ++a)
          for (index_t y = 0; y < n; ++y)
            masked[at(b, x, a, y)] = mask4.at(flat ? at(b, x, y, a) : at(b, x, a, y)) != 0;
    return {make_vec(masked), fill};
  }
  /// Returns the mask mask4[b, x, a, y] = pad[b, x] or pad[b, a] or pad[b, y], for every form.
  triangle_mask mask_of_padding(std::vector<index_t> const& pad, index_t graphs, index_t n, double fill) {
    std::vector<std::uint8_t> masked;
    for (index_t b = 0; b < graphs; ++b)
      for (index_t x = 0; x < n; ++x)
        for (index_t a = 0; a < n; ++a)
          for (index_t y = 0; y < n; ++y) {
            auto const is_pad = [&](index_t i) { return pad.at(static_cast<std::size_t>(b * n + i)) != 0; };
            masked.push_back(is_pad(x) || is_pad(a) || is_pad(y));
          }
    return {make_vec(masked), fill};
  }

 private:
  std::vector<buffer<memory>> blocks_;
};

/// Calls a function for all parameters, unchanged.
struct as_listed {
  template <class Fields, class F>
  void operator()(Fields fields, F&& f) const {
    walk(fields, f);
  }
};
/// Calls a function for all parameters. The query, key and value of each attention are joined into one tensor, as in
/// PyTorch's own attention.
struct packed_attention {
  template <class Fields, class F>
  void operator()(Fields fields, F&& f) const {
    walk(fields, [&](std::string const& path, auto view) {
      using S = typename decltype(view)::element_type;
      auto const part = path.find("attention.");
      auto const name = part == std::string::npos ? std::string() : path.substr(part + 10);
      auto const packed = [&](char const* called) { return path.substr(0, part + 10) + called; };
      index_t const d = view.extent(0);
      if (name == "query.weight") return f(packed("in_proj_weight"), tensor<S, dyn, dyn>(view.data_handle(), 3 * d, d));
      if (name == "query.bias") return f(packed("in_proj_bias"), tensor<S, dyn, dyn>(view.data_handle(), 1, 3 * d));
      if (!name.starts_with("key.") && !name.starts_with("value.")) f(path, view);
    });
  }
};

/// Sets a model's parameters to the values of param/<name>.
///   name: std::string(std::string path): `attention.query.weight` to `linears.0.weight`
template <backend Ex, class Layer, class Name, class Pass = as_listed>
void load_values(workbench<Ex>& bench, parameter_set<Layer, Ex>& set, golden_file const& file, Name const& name,
                 Pass const& pass = {}) {
  pass(set.mutable_values(),
       [&](std::string const& path, auto view) { bench.write(view, file.values("param/" + name(path))); });
}

/// A layer's parameters with the values of a file, and with gradients of zero.
template <backend Ex, class Layer, class Name, class Pass = as_listed>
parameter_set<Layer, Ex> load_parameters(workbench<Ex>& bench, Layer const& layer, golden_file const& file,
                                         Name const& name, Pass const& pass = {}) {
  parameter_set<Layer, Ex> set(layer, holding::gradients, memory_of(bench.ex));
  load_values(bench, set, file, name, pass);
  return set;
}

/// Compares the gradient of every parameter with grad/param/<name>.
template <backend Ex, class Layer, class Name, class Pass = as_listed>
void compare_gradients(workbench<Ex>& bench, parameter_set<Layer, Ex>& set, report& r, Name const& name,
                       std::string const& label = {}, Pass const& pass = {}) {
  pass(set.gradients(),
       [&](std::string const& path, auto view) { r.gradient("param/" + name(path), bench.read(view), label); });
}

}  // namespace triad::golden
