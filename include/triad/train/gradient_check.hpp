// Checks backward() of a layer or a model by finite differences, and checks rules that all layers must obey.
// SPDX-License-Identifier: Apache-2.0
//
//   auto report = gradient_check(ex, layer, row_dims(5), x, {5, 3});
//   if (!report) std::cerr << report.text();
//
// train/finite_differences.hpp describes how values and gradients are compared.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "triad/core/backend.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/random.hpp"
#include "triad/core/scratch.hpp"
#include "triad/layers/layer.hpp"
#include "triad/train/finite_differences.hpp"
#include "triad/train/parameters.hpp"

namespace triad {

/// The numbers of rows and columns of a layer's output.
struct output_shape {
  index_t rows = 0, columns = 0;
};

namespace detail {

/// A layer in a backend's memory, with its parameters, its input, its output and its scratch memory.
template <class Ex, class Layer, class Dims>
  requires(expect_layer<Layer>())
class layer_under_check {
  using memory = typename Ex::memory;
  using input = typename Layer::input;
  using output = typename Layer::output;
  static_assert(std::is_same_v<scalar_t<Layer>, double>, "gradient_check: finite differences need a layer in double");

  /// Returns the view that has a gradient: the input, or its member x.  The indices of an embedding and the queries of
  /// a model have no gradient.
  template <class I>
  static auto state_of(I const& in) {
    if constexpr (requires { in.x; })
      return in.x;
    else if constexpr (requires { typename I::element_type; })
      return in;
    else
      return tensor<int const, 0>(nullptr);
  }
  using state = decltype(state_of(std::declval<input const&>()));
  static constexpr bool has_input_gradient = std::is_same_v<element_t<state>, double>;
  using state_gradient = ::cuda::std::mdspan<element_t<state>, typename state::extents_type,
                                             typename state::layout_type, element_access<element_t<state>>>;

 public:
  layer_under_check(Ex& ex, Layer const& layer, Dims const& dims, input const& in, output_shape shape,
                    gradient_check_options const& o)
      : ex_(ex),
        layer_(layer),
        dims_(dims),
        in_(in),
        shape_(shape),
        options_(o),
        where_(memory_of(ex)),
        parameters_(layer, holding::gradients, memory_of(ex)) {
    expect_extent<0>(shape.rows), expect_extent<1>(shape.columns);
    index_t const x_size = static_cast<index_t>(state_of(in).size());
    auto const doubles = [](index_t count) { return static_cast<std::size_t>(count) * sizeof(double) + arena_slack; };
    y_ = buffer<memory>(doubles(shape.rows * shape.columns), memory_of(ex));
    dy_ = buffer<memory>(doubles(shape.rows * shape.columns), memory_of(ex));
    if constexpr (has_input_gradient) {
      x_ = buffer<memory>(doubles(x_size), memory_of(ex));
      dx_ = buffer<memory>(doubles(x_size), memory_of(ex));
      in_ = with_state(in, state(static_cast<double const*>(x_.data()), state_of(in).mapping()));
    }
    saved_ = buffer<memory>(planned_bytes([&](arena& place) { (void)plan_saved(place); }), memory_of(ex));
    step_ = buffer<memory>(sizeof(std::uint64_t), memory_of(ex));
    std::uint64_t const step = 3;
    where_.from_host(step_.data(), &step, sizeof step);
    scratch_ = buffer<memory>(measured_scratch(), memory_of(ex));

    random_stream random(o.key, 0x6c61796572);
    cotangent_.resize(static_cast<std::size_t>(shape.rows * shape.columns));
    for (double& v : cotangent_) v = random.uniform(-1, 1);
    where_.from_host(dy_.data(), cotangent_.data(), cotangent_.size() * sizeof(double));
    walk(parameters_.values(), [&](std::string const& path, auto view) {
      named_values v{path, std::vector<double>(static_cast<std::size_t>(view.size()))};
      for (double& e : v.values) e = random.uniform(-o.range, o.range);
      start_.push_back(std::move(v));
    });
    if constexpr (has_input_gradient) {
      named_values x{"x", std::vector<double>(static_cast<std::size_t>(x_size))};
      where_.to_host(x.values.data(), state_of(in).data_handle(), x.values.size() * sizeof(double));
      start_.push_back(std::move(x));
    }
  }

  variables const& start() const { return start_; }
  /// Returns a sentence about a fault other than a wrong derivative.  Returns an empty text if there is no fault.
  std::string const& fault() const { return fault_; }

  /// Returns sum(y dy).
  double value(variables const& at) {
    place(at);
    spoil(y_);
    spoil(saved_);
    spoil(scratch_);
    with_scratch(false);
    std::vector<double> y(cotangent_.size());
    where_.to_host(y.data(), y_.data(), y.size() * sizeof(double));
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * cotangent_[i];
    return sum;
  }

  /// Computes all gradients.  backward() adds to the gradients of parameters, and overwrites the gradient of the input.
  void gradient(variables const& at, variables& d) {
    place(at);
    spoil(y_);
    spoil(saved_);
    spoil(scratch_);
    spoil(dx_);
    std::size_t t = 0;
    double const before = 0.5;
    walk(parameters_.gradients(), [&](std::string const&, auto view) {
      std::vector<double> const begin(static_cast<std::size_t>(view.size()), before);
      where_.from_host(view.data_handle(), begin.data(), begin.size() * sizeof(double));
    });
    with_scratch(true);
    walk(parameters_.gradients(), [&](std::string const&, auto view) {
      auto& values = d[t++].values;
      where_.to_host(values.data(), view.data_handle(), values.size() * sizeof(double));
      for (double& v : values) v -= before;
    });
    if constexpr (has_input_gradient)
      where_.to_host(d[t].values.data(), dx_.data(), d[t].values.size() * sizeof(double));
  }

  /// Returns a sentence if backward() has written between the tensors of the gradient.  Otherwise returns an empty
  /// text.
  std::string stray() {
    auto const flat = parameters_.flat_gradients();
    std::vector<std::byte> bytes(static_cast<std::size_t>(flat.extent(0)) * sizeof(double));
    where_.to_host(bytes.data(), flat.data_handle(), bytes.size());
    auto const listed = detail::listed_in(parameters_.gradients(), flat.data_handle(), bytes.size());
    auto const place = [&](std::size_t at) { return bytes.begin() + static_cast<std::ptrdiff_t>(at); };
    for (auto const& tensor : listed) std::fill(place(tensor.begin), place(tensor.end), std::byte{0});
    auto const found = std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; });
    if (found == bytes.end()) return {};
    auto const at = static_cast<std::size_t>(found - bytes.begin());
    detail::listed_bytes const* before = nullptr;
    for (auto const& tensor : listed)
      if (tensor.end <= at) before = &tensor;
    return "backward writes after the gradient of " + (before ? before->path : std::string("nothing")) +
           ", into memory that no tensor has; do its loops end where the tensor does?";
  }

 private:
  /// Throws contract_violation if the output's type has a static extent that differs from `given`.
  template <std::size_t Rank>
  static void expect_extent(index_t given) {
    constexpr auto known = output::static_extent(Rank);
    if constexpr (known != ::cuda::std::dynamic_extent)
      TRIAD_EXPECTS(given == static_cast<index_t>(known),
                    "gradient_check: extent " + std::to_string(Rank) + " of the output is " + std::to_string(given) +
                        ", expected " + std::to_string(known) + ", as in the layer's type");
  }
  call make_call() const {
    call c;
    c.train = options_.train;
    c.key = options_.key;
    c.step = static_cast<std::uint64_t const*>(step_.data());
    return c;
  }
  auto plan_saved(arena& place) const {
    if constexpr (std::is_invocable_v<Dims const&, arena&>)
      return dims_(place);
    else
      return layer_.plan_saved(place, dims_, options_.kept);
  }
  template <class Backend>
  void run(Backend& ex, call const& c, bool back) {
    auto at = saved_.place();
    auto const saved = plan_saved(at);
    output const y(static_cast<double*>(y_.data()), typename output::extents_type(shape_.rows, shape_.columns));
    layer_.forward(ex, c, parameters_.values(), in_, saved, y);
    if (!back) return;
    const_view<output> const dy(static_cast<double const*>(dy_.data()), y.mapping());
    if constexpr (has_input_gradient) {
      state_gradient const dx(static_cast<double*>(dx_.data()), state_of(in_).mapping());
      layer_.backward(ex, c, parameters_.values(), in_, saved, dy, dx, parameters_.gradients());
    } else {
      layer_.backward(ex, c, parameters_.values(), in_, saved, dy, parameters_.gradients());
    }
  }
  void with_scratch(bool back) {
    auto scratch = scratch_.place();
    auto c = make_call();
    c.scratch = &scratch;
    run(ex_, c, back);
  }
  void place(variables const& at) {
    std::size_t t = 0;
    walk(parameters_.mutable_values(), [&](std::string const&, auto view) {
      where_.from_host(view.data_handle(), at[t].values.data(), at[t].values.size() * sizeof(double));
      ++t;
    });
    if constexpr (has_input_gradient)
      where_.from_host(x_.data(), at[t].values.data(), at[t].values.size() * sizeof(double));
  }
  /// Returns the scratch memory that a pass needs.  A planning pass measures this memory.  The function also checks
  /// that the planning pass writes no elements.  On a host, the planning pass runs with real memory.  A loop that runs
  /// although it should be skipped changes this memory, and the check detects the change.  On a device, or if the
  /// memory is too small, the planning pass runs without memory.
  std::size_t measured_scratch() {
    auto const pass = [&](auto& planner, call const& c) { run(planner, c, true); };
    if constexpr (std::is_same_v<memory, host_memory>) {
      buffer<memory> room(std::size_t{1} << 20, where_);
      // All elements of the buffers that the pass may read or write get different numbers.  So any addition or copy
      // changes an element.
      buffer<memory>* const all[] = {&y_, &dx_, &saved_, &room, &x_, &dy_};
      for (auto* b : all) fill(*b, marks(b->bytes()));
      auto place = room.place();
      auto c = make_call();
      c.scratch = &place;
      measuring<Ex> planner{&ex_};
      try {
        pass(planner, static_cast<call const&>(c));
      } catch (contract_violation const&) {
        return detail::measured_for<Layer>([&] { return planned_scratch(ex_, make_call(), pass); });
      }
      auto const written = [](void const* data, std::vector<std::byte> const& before) {
        return !std::equal(before.begin(), before.end(), static_cast<std::byte const*>(data));
      };
      auto const gradient = parameters_.flat_gradients();
      std::vector<std::byte> const zeros(static_cast<std::size_t>(gradient.extent(0)) * sizeof(double));
      bool found = written(gradient.data_handle(), zeros);
      for (auto* b : all) found = found || written(b->data(), marks(b == &room ? place.peak() : b->bytes()));
      if (found)
        fault_ = name_of_type<Layer>() +
                 ", or a layer in it, writes elements in the pass that measures scratch memory, where the views "
                 "of a model have none; say on_host(ex, [&] { the loop }), which that pass leaves out";
      return place.peak();
    } else {
      return detail::measured_for<Layer>([&] { return planned_scratch(ex_, make_call(), pass); });
    }
  }

  /// Fills a buffer with NaN, so that a read of an element that has not been written is detected.
  static void spoil(buffer<memory>& b) { fill(b, std::vector<std::byte>(b.bytes(), std::byte{0xff})); }
  static void fill(buffer<memory>& b, std::vector<std::byte> const& bytes) {
    b.memory().from_host(b.data(), bytes.data(), bytes.size());
  }
  /// Returns ascending numbers that begin at 0.5.
  static std::vector<std::byte> marks(std::size_t bytes) {
    std::vector<double> numbers((bytes + sizeof(double) - 1) / sizeof(double));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 0.5 + 0x1p-32 * static_cast<double>(i);
    std::vector<std::byte> all(bytes);
    if (bytes > 0) std::memcpy(all.data(), numbers.data(), bytes);
    return all;
  }

  Ex& ex_;
  Layer const& layer_;
  Dims dims_;
  input in_;
  output_shape shape_;
  gradient_check_options options_;
  memory where_;
  parameter_set<Layer, Ex> parameters_;
  buffer<memory> x_, dx_, y_, dy_, saved_, scratch_, step_;
  std::vector<double> cotangent_;
  variables start_;
  std::string fault_;
};

}  // namespace detail

/// Checks backward() of a layer (layers/layer.hpp), or of a model with the same functions, at the input `in`.  The
/// function is f = sum(y dy), with random dy and random parameters.  Checks these rules: backward() adds df/dparameters
/// and overwrites df/dinput; elements are not read before they are written; each() lists all tensors that plan_params
/// places; backward() writes only to the gradients.  `dims` is the argument of the layer's plan_saved(), or a function
/// of an arena that returns the layer's saved memory.
template <backend Ex, class Layer, class Dims>
gradient_report gradient_check(Ex& ex, Layer const& layer, Dims const& dims, typename Layer::input const& in,
                               output_shape shape, gradient_check_options const& options = {}) {
  gradient_report report;
  report.tolerance = options.tolerance;
  report.fault = detail::unlisted_parameters<double>(layer);
  if (!report.fault.empty()) return report;
  detail::layer_under_check<Ex, Layer, Dims> check(ex, layer, dims, in, shape, options);
  report.fault = check.fault();
  if (!report.fault.empty()) return report;
  report = gradient_check(
      check.start(), [&](variables const& at) { return check.value(at); },
      [&](variables const& at, variables& d) { check.gradient(at, d); }, options);
  if (report.fault.empty()) report.fault = check.stray();
  return report;
}

}  // namespace triad
