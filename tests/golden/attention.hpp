// Golden files of kinds tri_attn and tri_attn_flat: triangular attention alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "family.hpp"
#include "triad/layers/triangular_attention.hpp"

namespace triad::golden {

inline triangle_form form_of(golden_file const& file) {
  if (file.flag("flat")) return triangle_form::flat;
  bool const value = file.flag("value_ablation"), attention = file.flag("attention_ablation");
  if (value && attention) return triangle_form::both_ablations;
  return value ? triangle_form::value_ablation : attention ? triangle_form::attention_ablation : triangle_form::full;
}

/// Returns the released program that a file is from. The three programs have different maps for the output, and
/// different fill values for masked scores.
inline std::string variant_of(golden_file const& file) { return file.config.value("variant", std::string("clutrr")); }

inline renaming attention_names(golden_file const& file) {
  if (form_of(file) == triangle_form::flat)
    return {{{"key", "linears.0"}, {"left_value", "linears.1"}, {"query", "linears.2"}, {"output", "linears.3"}}};
  return {{{"query", "linears.0"},
           {"key", "linears.1"},
           {"left_value", "linears.2"},
           {"right_value", "linears.3"},
           {"output", variant_of(file) == "cfq" ? "linears.4" : "linears.5"}}};
}

inline double fill_of(golden_file const& file) {
  bool const clutrr = variant_of(file) == "clutrr";
  if (!file.config.contains("mask_fill"))
    return clutrr ? -1e9 : form_of(file) == triangle_form::flat ? -std::numeric_limits<double>::infinity() : -1e3;
  auto const& fill = file.config["mask_fill"];
  return fill.is_string() ? std::stod(fill.get<std::string>()) : fill.get<double>();
}

/// Reads the mask in/mask4 (graphs, n, n, n), if the file has it.
template <backend Ex>
triangle_mask mask_of(workbench<Ex>& bench, golden_file const& file, index_t graphs, index_t n) {
  if (!file.has("in/mask4")) return {};
  return bench.mask_of(file.integers("in/mask4"), graphs, n, form_of(file) == triangle_form::flat, fill_of(file));
}

/// Reads the cotangent of y, which has random values. No other output of the file has a cotangent.
inline std::vector<double> cotangent_of_y(golden_file const& file) {
  if (file.names("cotangent/") != std::vector<std::string>{"cotangent/y"})
    throw data_error(file.path().string() + ": expected one cotangent, that of y");
  return file.values("cotangent/y");
}

struct tri_attn {
  static constexpr std::string_view kind = "tri_attn";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    workbench<Ex> bench(ex);
    auto const shape = file.shape("in/x", 4);  // (b, n, n, d)
    index_t const graphs = shape[0], n = shape[1], rows = graphs * n * n, d = shape[3];
    using layer_type = triangular_attention<T>;
    layer_type const layer{extents<dyn, dyn>(d, file.size("heads")), form_of(file), file.has("param/linears.0.bias")};
    auto params = load_parameters(bench, layer, file, attention_names(file));

    using state = tensor<T, dyn, dyn>;
    auto const batch = bench.complete_graphs(graphs, n);
    edge_input<T, dyn> const in{bench.template make_from<state>(file.values("in/x"), rows, d), batch,
                                mask_of(bench, file, graphs, n)};
    auto const cotangent = cotangent_of_y(file);
    auto const dy = bench.template make_from<state>(cotangent, rows, d);
    auto const y = bench.template make<state>(rows, d), dx = bench.template make<state>(rows, d);
    auto const saved = bench.place([&](arena& a) { return layer.plan_saved(a, batch.dims); });

    bench.run([&](auto& backend, call const& c) {
      layer.forward(backend, c, params.values(), in, saved, y);
      layer.backward(backend, c, params.values(), in, saved, dy, dx, params.gradients());
    });
    auto const found = bench.read(y);
    r.output("y", found);
    r.output("loss", std::vector<double>(1, inner_product(found, cotangent)));
    r.gradient("in/x", bench.read(dx));
    compare_gradients(bench, params, r, attention_names(file));
  }
};

struct tri_attn_flat {
  static constexpr std::string_view kind = "tri_attn_flat";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    if (!file.flag("flat"))
      throw data_error(file.path().string() + ": kind tri_attn_flat, but the configuration does not say flat");
    tri_attn::check<T>(ex, file, r);
  }
};

}  // namespace triad::golden
