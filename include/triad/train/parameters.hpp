// A model's parameters in a backend's memory, with their gradients and Adam's moments.  The values, the gradients and
// each of the two moments have one contiguous buffer.
// SPDX-License-Identifier: Apache-2.0
//
// The model's plan_params gives all four buffers the same layout.  So an optimiser step is a loop over all elements of
// the four buffers, without regard to tensors.  The padding between two tensors is zero in each buffer, and stays zero.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "triad/core/buffer.hpp"
#include "triad/core/fields.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/elementwise.hpp"

namespace triad {

/// The contents of a parameter_set.  Each enumerator includes the contents of the enumerators before it.
enum class holding {
  values,     // for inference
  gradients,  // for finite differences, or your own optimiser
  moments,    // for training with Adam
};

namespace detail {
/// A tensor that each() lists, and the range of its bytes in a buffer.
struct listed_bytes {
  std::string path;
  std::size_t begin, end;
};

/// Returns the tensors that each() lists and that lie in the `bytes` bytes at `base`, in the order of their addresses.
template <class Fields>
std::vector<listed_bytes> listed_in(Fields fields, void const* base, std::size_t bytes) {
  std::vector<listed_bytes> all;
  auto const* const first = static_cast<std::byte const*>(base);
  walk_all(fields, [&](std::string const& path, auto view) {
    auto const* const at = reinterpret_cast<std::byte const*>(view.data_handle());
    if (at < first || at >= first + bytes) return;  // a tensor that the model does not have, without memory
    auto const begin = static_cast<std::size_t>(at - first);
    all.push_back({path, begin, begin + static_cast<std::size_t>(view.size()) * sizeof(*view.data_handle())});
  });
  std::stable_sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.begin < b.begin; });
  return all;
}

/// If plan_params places bytes that each() does not list, returns a sentence about these bytes.  Otherwise returns an
/// empty text.  One empty view that is not listed is accepted.  Two empty views take as many bytes as a small tensor,
/// so they are reported.
template <class Fields>
std::string unlisted(Fields fields, void const* base, std::size_t bytes) {
  auto const least = arena_stride(1);  // more bytes than an empty view takes
  std::size_t end = 0;
  std::string last;
  auto const message = [&](std::size_t next, std::string const& before) {
    return "each() of the parameters does not list " + std::to_string(next - end) + " bytes that plan_params places" +
           (last.empty() ? "" : " after " + last) + (before.empty() ? "" : " before " + before) +
           ": they would be neither initialised nor saved; say f(\"name\", view) there for every view, empty ones too";
  };
  for (auto const& view : listed_in(fields, base, bytes)) {
    if (view.begin >= end + least) return message(view.begin, view.path);
    end = std::max(end, arena_stride(view.end));
    last = view.path;
  }
  return bytes >= end + least ? message(bytes, "") : std::string();
}

/// Checks a model, with its parameters in a temporary buffer.
template <class T, class Model>
std::string unlisted_parameters(Model const& model) {
  buffer<host_memory> const held(planned_bytes([&](arena& a) { (void)triad::plan<T>(model, a); }));
  auto place = held.place();
  return unlisted(triad::plan<T>(model, place), held.data(), held.bytes());
}
}  // namespace detail

/// The parameters of a model.  They are zero until initialize() or a function that loads parameters is called.
template <class Model, backend Ex>
class parameter_set {
 public:
  using memory = typename Ex::memory;
  using value_type = scalar_t<Model>;
  template <class S>
  using fields = decltype(triad::plan<S>(std::declval<Model const&>(), std::declval<arena&>()));

  /// `where` is memory_of(ex) if the backend computes on a device.  On a host it is not needed.  Throws
  /// contract_violation if each() of the fields leaves out a tensor that plan_params places.
  explicit parameter_set(Model const& model, holding what = holding::moments, memory where = {})
      : model_(model), what_(what) {
    auto const bytes = planned_bytes([&](arena& a) { (void)triad::plan<value_type>(model_, a); });
    values_ = buffer<memory>(bytes, where);
    if (auto const fault = detail::unlisted(values(), values_.data(), values_.bytes()); !fault.empty())
      throw contract_violation("parameter_set: " + fault);
    if (what >= holding::gradients) gradients_ = buffer<memory>(bytes, where);
    if (what >= holding::moments) {
      first_ = buffer<memory>(bytes, where);
      second_ = buffer<memory>(bytes, where);
    }
  }

  Model const& model() const { return model_; }
  /// The memory of the tensors.  It has functions that copy to and from the host.
  memory const& where() const { return values_.memory(); }
  bool holds_gradients() const { return what_ >= holding::gradients; }
  bool holds_moments() const { return what_ >= holding::moments; }
  /// The number of bytes of all buffers together.
  std::size_t bytes() const { return values_.bytes() + gradients_.bytes() + first_.bytes() + second_.bytes(); }

  fields<value_type const> values() const { return plan<value_type const>(values_); }
  /// Returns the parameters for writing.  The caller must initialise them.  Throws contract_violation if averages
  /// replace the parameters, because the caller would overwrite the averages.
  fields<value_type> mutable_values() {
    expect_weights("parameter_set");
    initialized_ = true;
    return plan<value_type>(values_);
  }
  /// Returns true if the parameters were initialised or loaded.  This is the case if mutable_values() was called, or if
  /// a value is not zero.
  bool initialized() const {
    if (initialized_) return true;
    std::array<value_type, 1024> some;
    auto const all = flat(values_);
    for (index_t first = 0; first < all.extent(0); first += static_cast<index_t>(some.size())) {
      auto const count = static_cast<std::size_t>(std::min(static_cast<index_t>(some.size()), all.extent(0) - first));
      where().to_host(some.data(), all.data_handle() + first, count * sizeof(value_type));
      for (std::size_t i = 0; i < count; ++i)
        if (some[i] != value_type(0)) return true;
    }
    return all.extent(0) == 0;
  }
  /// Throws contract_violation with the owner's name if the parameters are not initialised.  Reads the values at most
  /// once.
  void expect_initialized(char const* owner) {
    initialized_ = initialized();
    TRIAD_EXPECTS(initialized_, std::string(owner) +
                                    ": every parameter is zero, expected values; load a checkpoint or weights into "
                                    "parameters(), or call initialize(parameters(), seed)");
  }
  /// Whether averages replace the parameters (train/averages.hpp).  While this is true, the parameters cannot be
  /// trained, saved or overwritten.
  bool replaced() const { return replaced_; }
  void set_replaced(bool now) { replaced_ = now; }
  /// Throws contract_violation with the owner's name if averages replace the parameters.
  void expect_weights(char const* owner) const {
    TRIAD_EXPECTS(!replaced_,
                  std::string(owner) +
                      ": averages are in the place of the parameters, expected the parameters: averages are neither "
                      "trained, saved nor written; exchange() them first, or do it outside of in_use()");
  }
  fields<value_type> gradients() { return plan<value_type>(expected(gradients_, holding::gradients)); }
  /// Adam's running mean of the gradient, and Adam's running mean of the square of the gradient.
  fields<value_type> first_moments() { return plan<value_type>(expected(first_, holding::moments)); }
  fields<value_type> second_moments() { return plan<value_type>(expected(second_, holding::moments)); }
  fields<value_type const> first_moments() const { return plan<value_type const>(expected(first_, holding::moments)); }
  fields<value_type const> second_moments() const {
    return plan<value_type const>(expected(second_, holding::moments));
  }

  // Each of the following functions returns one buffer as a vector, including the padding between tensors.
  vec<value_type> flat_values() { return flat(values_); }
  vec<value_type> flat_gradients() { return flat(expected(gradients_, holding::gradients)); }
  vec<value_type> flat_first_moments() { return flat(expected(first_, holding::moments)); }
  vec<value_type> flat_second_moments() { return flat(expected(second_, holding::moments)); }
  vec<value_type const> flat_values() const { return flat(values_); }
  vec<value_type const> flat_first_moments() const { return flat(expected(first_, holding::moments)); }
  vec<value_type const> flat_second_moments() const { return flat(expected(second_, holding::moments)); }

  void zero_gradients(Ex& ex) { fill(ex, value_type(0), flat_gradients()); }

 private:
  template <class S>
  fields<S> plan(buffer<memory> const& b) const {
    auto place = b.place();
    return triad::plan<S>(model_, place);
  }
  static vec<value_type> flat(buffer<memory> const& b) {
    return make_vec(static_cast<value_type*>(b.data()), static_cast<index_t>(b.bytes() / sizeof(value_type)));
  }
  buffer<memory> const& expected(buffer<memory> const& b, holding needed) const {
    TRIAD_EXPECTS(
        what_ >= needed,
        "parameter_set: it holds less than this needs, expected more memory; make it with holding::moments to train");
    return b;
  }

  Model model_;
  holding what_;
  bool replaced_ = false;
  bool initialized_ = false;  // whether mutable_values() was called, or a value was found that is not zero
  buffer<memory> values_, gradients_, first_, second_;
};

}  // namespace triad
