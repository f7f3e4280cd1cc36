// Wraps PyTorch's tensors, and the arguments and results of an operator. Uses PyTorch's stable interface.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "stable_abi.h"

namespace triad_torch {

inline constexpr std::uint64_t built_for = (std::uint64_t{2} << 56) | (std::uint64_t{10} << 48);  // PyTorch 2.10

inline void check(AOTITorchError error, char const* what) {
  if (error != 0) throw std::runtime_error(std::string("triad: PyTorch could not ") + what);
}

/// A tensor of PyTorch. Owns the handle of the tensor.
class tensor {
 public:
  tensor() = default;
  explicit tensor(AtenTensorHandle owned) : handle_(owned) {}
  tensor(tensor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  tensor& operator=(tensor&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~tensor() {
    if (handle_) aoti_torch_delete_tensor_object(handle_);
  }

  AtenTensorHandle release() { return std::exchange(handle_, nullptr); }

  std::int64_t axes() const {
    std::int64_t n = 0;
    check(aoti_torch_get_dim(handle_, &n), "say how many axes a tensor has");
    return n;
  }
  std::int64_t size(std::int64_t axis) const {
    std::int64_t* sizes = nullptr;
    check(aoti_torch_get_sizes(handle_, &sizes), "say how large a tensor is");
    return sizes[axis];
  }
  std::int64_t stride(std::int64_t axis) const {
    std::int64_t* strides = nullptr;
    check(aoti_torch_get_strides(handle_, &strides), "say which strides a tensor has");
    return strides[axis];
  }
  std::int64_t count() const {
    std::int64_t n = 1;
    for (std::int64_t a = 0, all = axes(); a < all; ++a) n *= size(a);
    return n;
  }
  std::int32_t type() const {
    std::int32_t t = 0;
    check(aoti_torch_get_dtype(handle_, &t), "say of which type a tensor is");
    return t;
  }
  std::int32_t device_type() const {
    std::int32_t t = 0;
    check(aoti_torch_get_device_type(handle_, &t), "say where a tensor lies");
    return t;
  }
  std::int32_t device_index() const {
    std::int32_t i = 0;
    check(aoti_torch_get_device_index(handle_, &i), "say where a tensor lies");
    return i;
  }
  void* data() const {
    void* d = nullptr;
    check(torch_get_mutable_data_ptr(handle_, &d), "say where a tensor's numbers lie");
    return d;
  }

  /// Returns an uninitialised, contiguous tensor with the type and device of this one.
  tensor like(std::vector<std::int64_t> const& sizes) const { return like(sizes, type()); }
  /// Returns such a tensor with another type.
  tensor like(std::vector<std::int64_t> const& sizes, std::int32_t of_type) const {
    std::vector<std::int64_t> strides(sizes.size());
    std::int64_t step = 1;
    for (std::size_t a = sizes.size(); a-- > 0; step *= sizes[a] > 0 ? sizes[a] : 1) strides[a] = step;
    AtenTensorHandle made = nullptr;
    check(aoti_torch_empty_strided(static_cast<std::int64_t>(sizes.size()), sizes.data(), strides.data(), of_type,
                                   device_type(), device_index(), &made),
          "make a tensor");
    return tensor(made);
  }

  /// The last `together` axes form a row, and the other axes count the rows. Returns true if each row is contiguous and
  /// no two rows overlap. The rows of expanded tensors overlap.
  bool rows_lie_apart(std::int64_t together) const {
    std::int64_t step = 1, a = axes();
    for (; a-- > axes() - together; step *= size(a))
      if (size(a) != 1 && stride(a) != step) return false;
    return axes() == together || size(0) <= 1 || stride(0) >= step;
  }
  /// Makes the last `axes_together` axes contiguous. Copies the tensor if necessary.
  void put_together(std::int64_t axes_together) {
    if (count() == 0 || rows_lie_apart(axes_together)) return;
    AtenTensorHandle other = nullptr;
    check(aoti_torch_new_tensor_handle(handle_, &other), "share a tensor");
    StableIValue stack[2]{};
    std::memcpy(&stack[0], &other, sizeof other);
    auto const format = aoti_torch_memory_format_contiguous_format();
    std::memcpy(&stack[1], &format, sizeof format);
    check(torch_call_dispatcher("aten::contiguous", "", stack, built_for), "copy a tensor");  // takes `other`
    AtenTensorHandle made = nullptr;
    std::memcpy(&made, &stack[0], sizeof made);
    *this = tensor(made);
  }

 private:
  AtenTensorHandle handle_ = nullptr;
};

/// The arguments of an operator. The first arguments are tensors. The constructor takes ownership of all tensors, so no
/// tensor leaks if an argument is refused.
class arguments {
 public:
  arguments(StableIValue* stack, std::uint64_t inputs, std::uint64_t tensors) : stack_(stack) {
    for (std::uint64_t i = 0; i < tensors; ++i) {
      AtenTensorHandle handle = nullptr;
      std::memcpy(&handle, &stack[i], sizeof handle);
      tensors_.emplace_back(handle);
    }
    for (std::uint64_t i = tensors; i < inputs; ++i) numbers_.push_back(stack[i]);
  }
  tensor next_tensor() { return std::move(tensors_[next_tensor_++]); }
  std::int64_t next_int() { return next<std::int64_t>(); }
  double next_float() { return next<double>(); }
  /// Stores the results of the operator.
  template <class... Tensors>
  void results(Tensors&&... all) {
    std::size_t i = 0;
    (put(i++, all), ...);
  }

 private:
  template <class T>
  T next() {
    T value{};
    std::memcpy(&value, &numbers_[next_number_++], sizeof value);
    return value;
  }

  void put(std::size_t i, tensor& result) {
    auto const handle = result.release();
    stack_[i] = 0;
    std::memcpy(&stack_[i], &handle, sizeof handle);
  }
  void put(std::size_t, std::vector<tensor>& results) {
    for (std::size_t i = 0; i < results.size(); ++i) put(i, results[i]);
  }

  StableIValue* stack_;
  std::vector<tensor> tensors_;
  std::vector<StableIValue> numbers_;
  std::size_t next_tensor_ = 0, next_number_ = 0;
};

/// Throws if `holds` is false. `sentence` is a text of the form "NAME: GOT, expected WANT", or a function that returns
/// such a text.
inline void expect(bool holds, std::string const& sentence) {
  if (!holds) throw std::runtime_error("triad: " + sentence);
}
template <std::invocable Sentence>
void expect(bool holds, Sentence const& sentence) {
  if (!holds) expect(false, std::string(sentence()));
}
/// Returns a shape as a text, such as "(3, 4)".
inline std::string shape_of(tensor const& x) {
  std::string text = "(";
  for (std::int64_t a = 0; a < x.axes(); ++a) text += (a == 0 ? "" : ", ") + std::to_string(x.size(a));
  return text + ")";
}

}  // namespace triad_torch
