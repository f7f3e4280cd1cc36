// Inference without a trainer.  A runner has a layer or a model, its parameters, and the memory of a forward pass.
// SPDX-License-Identifier: Apache-2.0
//
//   runner run(ex, layer, row_dims(100));                   at most 100 rows
//   load_weights(file, run.parameters(), names);
//   auto const y = run({x, sequences});                     valid until the next call
//
// A pass saves nothing for a backward pass.  The constructor allocates memory for the parameters, for the states
// between layers and for the results.  If the model has measured_input(dims), the constructor also allocates the
// scratch memory.  Otherwise the scratch memory is allocated by the first call, and by each later call that needs more.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "triad/core/backend.hpp"
#include "triad/core/batch_sizes.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/call.hpp"
#include "triad/core/scratch.hpp"
#include "triad/layers/layer.hpp"
#include "triad/train/parameters.hpp"
#include "triad/train/row_classes.hpp"

namespace triad {

namespace detail {
/// Returns the sizes for `rows` rows, for a layer that works on rows.  Such a layer does not read the other members of
/// a graph_dims.
template <class Dims>
constexpr Dims dims_of_rows(index_t rows) {
  if constexpr (std::is_same_v<Dims, row_dims>)
    return row_dims(rows);
  else
    return {0, rows, rows, 0, rows};
}

/// Returns the sizes of an input, from its dims(), from its graphs, or from the number of rows of its state.
template <class Layer>
layer_dims<Layer> dims_of_input(typename Layer::input const& in) {
  using dims = layer_dims<Layer>;
  if constexpr (has_dims<typename Layer::input> || has_graphs<typename Layer::input>) {
    return dims_of_batch(in);
  } else {
    static_assert(std::is_same_v<dims, row_dims> || std::is_same_v<dims, graph_dims>,
                  "runner: this layer's input does not say its sizes; give them: run(in, dims)");
    index_t const rows = state_of(in).extent(0);
    return dims_of_rows<dims>(rows);
  }
}

/// Returns the number of wanted edges, or the number of wanted pairs of nodes.
template <class Wanted>
constexpr index_t count_of(Wanted const& wanted) {
  if constexpr (requires { wanted.count(); })
    return wanted.count();
  else
    return wanted.extent(0);
}

/// Plans the memory of the result with the model's plan_output() or the layer's plan_state().  If there is neither, the
/// result is (rows, columns of the layer's result).
template <class Layer>
typename Layer::output place_output(Layer const& layer, arena& place, layer_dims<Layer> const& dims) {
  if constexpr (requires { layer.plan_output(place, dims); }) {
    return layer.plan_output(place, dims);
  } else if constexpr (requires { layer.plan_state(place, dims); }) {
    return layer.plan_state(place, dims);
  } else {
    return place.make<typename Layer::output>(dims.rows, columns_out(layer));
  }
}
}  // namespace detail

template <class Layer, backend Ex>
  requires(detail::expect_layer<Layer>())
class runner {
 public:
  using memory = typename Ex::memory;
  using input = typename Layer::input;
  using output = typename Layer::output;
  using dims = layer_dims<Layer>;

  /// `largest` has the sizes of the largest input.
  runner(Ex& ex, Layer const& layer, dims const& largest)
      : ex_(ex),
        layer_(layer),
        largest_(largest),
        parameters_(layer, holding::values, memory_of(ex)),
        memory_(planned_bytes([&](arena& place) { (void)plan_all(place, largest); }), memory_of(ex)),
        classes_(ex) {
    if constexpr (requires { layer.measured_input(largest); }) {
      arena nowhere;
      auto const at = plan_all(nowhere, largest);
      auto const in = layer.measured_input(largest);
      measure_scratch(in, at);
    }
  }
  /// Takes the largest number of rows.  This constructor is for a layer that works on rows, but whose memory is planned
  /// with graph_dims.
  runner(Ex& ex, Layer const& layer, row_dims largest)
    requires std::is_same_v<layer_dims<Layer>, graph_dims> && (!detail::has_graphs<typename Layer::input>)
      : runner(ex, layer, detail::dims_of_rows<graph_dims>(largest.rows)) {}
  runner(runner const&) = delete;
  runner& operator=(runner const&) = delete;

  /// Returns the result, computed without dropout.  The result is in the backend's memory and is valid until the next
  /// call.  Only the first call waits for a device.  Throws contract_violation if the input is larger than `largest`,
  /// if the input lists `wanted` rows of a layer, or if the parameters are not initialised.
  output operator()(input const& in) { return (*this)(in, detail::dims_of_input<Layer>(in)); }
  /// Takes an input and its sizes, for an input that does not contain the sizes.
  output operator()(input const& in, dims const& sizes) {
    if constexpr (requires { in.wanted; } && !requires(arena& a) { layer_.plan_output(a, sizes); })
      TRIAD_EXPECTS(detail::count_of(in.wanted) == 0,
                    "runner: " + std::to_string(detail::count_of(in.wanted)) +
                        " `wanted` rows, expected none: a layer computes all of its rows; take those rows from the "
                        "result, or give the layer to a model that plans for them");
    auto place = memory_.place();
    auto const at = detail::within_capacity("runner", "that it was made with", sizes, largest_,
                                            [&] { return plan_all(place, sizes); });
    parameters_.expect_initialized("runner");
    if (!scratch_) measure_scratch(in, at);
    try {
      pass(in, at);
    } catch (arena_too_small const&) {  // scratch was measured for a smaller input; a pass overwrites all results
      measure_scratch(in, at);
      pass(in, at);
    }
    return at.result;
  }

  /// Returns the class of each row of a result (rows, classes).  The classes are in host memory and valid until the
  /// next call.  Waits for the device.  Allocates if the input has more rows than every earlier input.  bytes() does
  /// not count the memory of the classes.
  std::vector<index_t> const& classes(input const& in) {
    static_assert(detail::has_classes<output>(), "runner: this result is not (rows, classes)");
    return classes_((*this)(in));
  }

  /// The parameters.  They are zero until initialize() or a function that loads parameters is called.
  parameter_set<Layer, Ex>& parameters() { return parameters_; }
  parameter_set<Layer, Ex> const& parameters() const { return parameters_; }
  Layer const& model() const { return layer_; }
  /// The backend that was given at construction.
  Ex& context() const { return ex_; }
  /// The number of bytes of all memory except the memory of classes().
  std::size_t bytes() const { return parameters_.bytes() + memory_.bytes() + (scratch_ ? scratch_->bytes() : 0); }

 private:
  struct input_memory {
    typename Layer::saved saved;
    output result;
  };
  input_memory plan_all(arena& place, dims const& sizes) const {
    auto const saved = layer_.plan_saved(place, sizes, keep::nothing);
    return {saved, detail::place_output(layer_, place, sizes)};
  }
  void measure_scratch(input const& in, input_memory const& at) {
    auto const values = parameters_.values();
    auto const bytes = detail::measured_for<Layer>([&] {
      return planned_scratch(
          ex_, call{}, [&](auto& dry, call const& c) { layer_.forward(dry, c, values, in, at.saved, at.result); });
    });
    scratch_.emplace(bytes, memory_of(ex_));
  }
  void pass(input const& in, input_memory const& at) {
    auto scratch = scratch_->place();
    layer_.forward(ex_, call{&scratch}, parameters_.values(), in, at.saved, at.result);
  }

  Ex& ex_;
  Layer layer_;
  dims largest_;
  parameter_set<Layer, Ex> parameters_;
  buffer<memory> memory_;  // the states between layers, and the result
  std::optional<buffer<memory>> scratch_;
  row_classes<Ex> classes_;
};

}  // namespace triad
