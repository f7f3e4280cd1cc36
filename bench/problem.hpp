// A layer together with graphs of equal size, inputs, parameters and memory.  The numbers are the same in every element
// type.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "triad/core/backend.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/scratch.hpp"
#include "triad/layers/layer.hpp"
#include "triad/train/initialize.hpp"
#include "work.hpp"

namespace bench {

/// b graphs with n nodes each.  If `sources` is not negative, the graphs are causal, and their first `sources` nodes
/// are sources.
class equal_graphs {
 public:
  equal_graphs(index_t b, index_t n, index_t sources = -1)
      : dims_{b, b * n * n, b * n, b * n * n * n, n}, sources_(static_cast<std::size_t>(sources < 0 ? 0 : b), sources) {
    for (index_t power = 0, step = 1; power < 4; ++power, step *= n)
      for (index_t g = 0; g < b; ++g) offsets_[power].push_back(power == 0 ? n : g * step);
  }
  triad::graph_batch view() const {
    auto const of = [](std::vector<index_t> const& v) {
      return triad::vec<index_t const>(v.data(), static_cast<index_t>(v.size()));
    };
    return {dims_, of(offsets_[0]), of(offsets_[1]), of(offsets_[2]), of(offsets_[3])};
  }
  triad::graph_dims const& dims() const { return dims_; }
  triad::vec<index_t const> sources() const {
    return triad::vec<index_t const>(sources_.data(), static_cast<index_t>(sources_.size()));
  }

 private:
  triad::graph_dims dims_;
  std::vector<index_t> offsets_[4];  // n; first node; first edge; first triangle
  std::vector<index_t> sources_;     // empty: not causal
};

/// Sets uniform random numbers in (-a, a), the same in float and in double.
template <class View>
void fill_random(View v, std::uint64_t stream, double a = 1.7) {
  triad::random_stream random(7, stream);
  for (index_t i = 0; i < static_cast<index_t>(v.size()); ++i)
    v.data_handle()[i] = static_cast<float>(random.uniform(-a, a));
}

/// Sets initial values by the parameters' names, except for units with relu: half of these units are always active, and
/// the other half never.  To compare gradients, the input of each relu must have the same sign in float and in double.
/// The outer bias subtracts the sum of the active units, so that states still differ.
template <class Fields>
void set_parameters(Fields values) {
  triad::initialize(values, 1, [](std::string const& path) {
    return path.ends_with("token") ? triad::initializer::normal(1) : triad::initializer::by_name();
  });
  double const shift = 4;
  std::vector<double> sums;  // for each row of the outer weight: its sum over active units
  triad::walk(values, [&](std::string const& path, auto view) {
    using T = typename decltype(view)::element_type;
    T* const at = view.data_handle();
    auto const size = static_cast<index_t>(view.size());
    if (path.ends_with("inner.bias"))
      for (index_t i = 0; i < size; ++i) at[i] = T(i % 2 == 0 ? shift : -shift);
    if constexpr (decltype(view)::rank() == 2)
      if (path.ends_with("outer.weight")) {
        sums.assign(static_cast<std::size_t>(view.extent(0)), 0);
        for (index_t i = 0; i < size; ++i)
          if (i % view.extent(1) % 2 == 0)
            sums[static_cast<std::size_t>(i / view.extent(1))] += static_cast<double>(at[i]);
      }
    if (path.ends_with("outer.bias"))
      for (index_t i = 0; i < size; ++i)
        at[i] = static_cast<float>(static_cast<double>(at[i]) - shift * sums[static_cast<std::size_t>(i)]);
  });
}

/// Layer must have an input type edge_input<T, dyn>, and an output as wide as its states.
template <class T, class Layer, class Ex>
class layer_problem {
 public:
  using states = triad::tensor<T, triad::dyn, triad::dyn>;  // (rows, d)
  template <class S>
  using fields = triad::fields_of<Layer, S>;

  layer_problem(Ex& ex, Layer const& layer, equal_graphs const& graphs, bool train, bool planned_only = false)
      : ex_(ex),
        layer_(layer),
        given_(graphs.view()),
        graphs_(given_),
        given_sources_(graphs.sources()),
        sources_(given_sources_) {
    auto const own = triad::planned_bytes([&](triad::arena& a) { at_ = plan(a); });
    saved_bytes_ = triad::planned_bytes([&](triad::arena& a) { saved_ = layer.plan_saved(a, graphs_.dims); });
    scratch_bytes_ =
        triad::planned_scratch(ex, {}, [&](auto& planner, triad::call const& c) { run(planner, c, train); });
    bytes_ = own + saved_bytes_ + scratch_bytes_;
    if (planned_only) return;
    memory_ = triad::buffer<memory>(own, triad::memory_of(ex));
    saved_memory_ = triad::buffer<memory>(saved_bytes_, triad::memory_of(ex));
    scratch_memory_ = triad::buffer<memory>(scratch_bytes_, triad::memory_of(ex));
    auto place = memory_.place(), saved_place = saved_memory_.place();
    at_ = plan(place);
    saved_ = layer.plan_saved(saved_place, graphs_.dims);
    if constexpr (on_host) {
      set_values(at_);
    } else {
      triad::buffer<> const host(own);
      auto host_place = host.place();
      set_values(plan(host_place));
      memory_.memory().from_host(memory_.data(), host.data(), own);
    }
    auto const offsets = [&](int i) { return triad::vec<index_t const>(at_.offsets[i], graphs_.dims.graphs); };
    graphs_ = {graphs_.dims, offsets(0), offsets(1), offsets(2), offsets(3)};
    sources_ = triad::vec<index_t const>(at_.sources, given_sources_.extent(0));
  }

  /// Computes y.  If `train`, also overwrites dx, and adds to the gradients of the parameters.
  void run(bool train) {
    auto scratch = scratch_memory_.place();
    run(ex_, triad::call{&scratch}, train);
  }

  struct results {
    states y, dx;
    fields<T> gradient;
  };
  /// Returns the results of run() in host memory.  They are valid until the next call.
  results fetch() {
    if constexpr (on_host) return {at_.y, at_.dx, at_.gradient};
    fetched_ = triad::buffer<>(memory_.bytes());
    memory_.memory().to_host(fetched_.data(), memory_.data(), memory_.bytes());
    auto place = fetched_.place();
    auto const here = plan(place);
    return {here.y, here.dx, here.gradient};
  }

  /// Returns the output in the backend's memory.
  states y() const { return at_.y; }
  auto const& saved() const { return saved_; }
  triad::graph_batch const& graphs() const { return graphs_; }
  triad::vec<index_t const> sources() const { return sources_; }

  /// Returns the number of bytes for saved values and scratch memory.
  std::size_t planned_bytes() const { return saved_bytes_ + scratch_bytes_; }
  /// Returns the number of all bytes, including inputs, outputs and parameters.
  std::size_t bytes() const { return bytes_; }

 private:
  using memory = typename Ex::memory;
  static constexpr bool on_host = std::is_same_v<memory, triad::host_memory>;

  struct placed {
    fields<T> values, gradient;
    states x{nullptr, 0, 0}, y{nullptr, 0, 0}, dy{nullptr, 0, 0}, dx{nullptr, 0, 0};
    index_t* offsets[4] = {};    // (b) each, as in equal_graphs
    index_t* sources = nullptr;  // (b), or null
  };
  placed plan(triad::arena& place) const {
    placed p{triad::plan<T>(layer_, place), triad::plan<T>(layer_, place)};
    for (auto* s : {&p.x, &p.y, &p.dy, &p.dx}) *s = place.make<states>(graphs_.dims.rows, layer_.width());
    for (auto& o : p.offsets) o = place.make<triad::vec<index_t>>(graphs_.dims.graphs).data_handle();
    p.sources = place.make<triad::vec<index_t>>(given_sources_.extent(0)).data_handle();
    return p;
  }
  void set_values(placed const& p) const {
    triad::vec<index_t const> const from[4] = {given_.size, given_.node_begin, given_.edge_begin,
                                               given_.triangle_begin};
    for (int i = 0; i < 4; ++i) std::copy_n(from[i].data_handle(), from[i].extent(0), p.offsets[i]);
    std::copy_n(given_sources_.data_handle(), given_sources_.extent(0), p.sources);
    set_parameters(p.values);
    fill_random(p.x, 1);
    fill_random(p.dy, 2);
  }

  template <class Any>
  void run(Any& ex, triad::call const& c, bool train) {
    triad::arena again(memory_.data(), memory_.bytes());
    auto const w = triad::plan<T const>(layer_, again);
    triad::edge_input<T, triad::dyn> in{at_.x, graphs_};
    in.sources = sources_;
    layer_.forward(ex, c, w, in, saved_, at_.y);
    if (train) layer_.backward(ex, c, w, in, saved_, at_.dy, at_.dx, at_.gradient);
  }

  Ex& ex_;
  Layer layer_;
  triad::graph_batch given_, graphs_;                  // sizes and offsets, in host memory and in the backend's memory
  triad::vec<index_t const> given_sources_, sources_;  // the sources, likewise
  triad::buffer<memory> memory_, saved_memory_, scratch_memory_;
  triad::buffer<> fetched_;
  placed at_{};
  typename Layer::saved saved_{};
  std::size_t saved_bytes_ = 0, scratch_bytes_ = 0, bytes_ = 0;
};

}  // namespace bench
