// Defines the index type, the extents and the views that all other headers use.  Only this header includes an
// implementation of mdspan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/contracts.hpp"

#if !__has_include(<cuda/std/mdspan>)
#error "triad needs the headers of CCCL, which have cuda::std::mdspan: see README.md, or add -isystem PATH_OF_CCCL"
#endif
#include <cstddef>
#include <cstdint>
#include <cuda/std/mdspan>
#include <type_traits>

namespace triad {

/// Thrown if a loop uses an element of a view that has no memory.  Views have no memory while a program measures how
/// much memory it needs.
struct element_without_memory : contract_violation {
  using contract_violation::contract_violation;
};

// This macro of CCCL turns on index checks.  Here it also turns on the check that a view has memory.
#if defined(CCCL_ENABLE_HOST_ASSERTIONS)
namespace detail {
[[noreturn]] inline void no_memory_here() {
  throw element_without_memory(
      "a loop uses an element of a view that has no memory, as in the pass that measures scratch memory; "
      "say on_host(ex, [&] { the loop }), which that pass leaves out");
}

template <class T>
struct checked_elements {
  using offset_policy = checked_elements;
  using element_type = T;
  using reference = T&;
  using data_handle_type = T*;

  constexpr checked_elements() noexcept = default;
  template <class U>
    requires std::is_convertible_v<U (*)[], T (*)[]>
  TRIAD_HOST_DEVICE constexpr checked_elements(checked_elements<U>) noexcept {}
  template <class U>
    requires std::is_convertible_v<U (*)[], T (*)[]>
  TRIAD_HOST_DEVICE constexpr checked_elements(::cuda::std::default_accessor<U>) noexcept {}
  template <class U>
    requires std::is_convertible_v<T (*)[], U (*)[]>
  TRIAD_HOST_DEVICE constexpr operator ::cuda::std::default_accessor<U>() const noexcept {
    return {};
  }

  TRIAD_HOST_DEVICE constexpr reference access(data_handle_type p, std::size_t i) const {
#if !defined(__CUDA_ARCH__)
    if (p == nullptr) no_memory_here();
#endif
    return p[i];
  }
  TRIAD_HOST_DEVICE constexpr data_handle_type offset(data_handle_type p, std::size_t i) const { return p + i; }
};
}  // namespace detail
template <class T>
using element_access = detail::checked_elements<T>;
#else
template <class T>
using element_access = ::cuda::std::default_accessor<T>;
#endif

/// The type of indices and sizes.  Offsets need 64 bits: with n = 1024, d = 256 and b = 8, they exceed 2^31 elements.
using index_t = std::int64_t;

/// A size that is known only at run time.
inline constexpr index_t dyn = -1;

/// The sizes of a view.  Each size is a constant, or dyn if it is known only at run time.
template <index_t... E>
using extents = ::cuda::std::extents<index_t, static_cast<std::size_t>(E)...>;

/// A contiguous view in row-major order: `tensor<float const, dyn, 64> x;  // (rows, 64)`
template <class T, index_t... E>
using tensor = ::cuda::std::mdspan<T, extents<E...>, ::cuda::std::layout_right, element_access<T>>;

/// A contiguous row of values.  The functions of backends take arguments of this type.
template <class T>
using vec = tensor<T, dyn>;

/// A matrix with any strides.  The functions of backends take arguments of this type.  A transpose or a block of
/// columns of a matrix is another view of the same memory.
template <class T>
using matrix = ::cuda::std::mdspan<T, extents<dyn, dyn>, ::cuda::std::layout_stride, element_access<T>>;

/// The element type of a view, without const.
template <class View>
using element_t = std::remove_cv_t<typename View::element_type>;

/// The type of a view with read-only elements.
template <class View>
using const_view = ::cuda::std::mdspan<typename View::element_type const, typename View::extents_type,
                                       typename View::layout_type, element_access<typename View::element_type const>>;

}  // namespace triad
