// What must hold at compile time: sizes of views and shapes, and that static shapes cost nothing.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/views.hpp"

#include "triad/core/mdspan.hpp"
#include "triad/layers/linear.hpp"

namespace {

using namespace triad;

static_assert(sizeof(index_t) == 8, "offsets pass 2^31");
static_assert(std::is_signed_v<index_t>);

// A view with a static shape is a pointer; each dynamic extent adds one index.
static_assert(sizeof(tensor<float, 4, 8>) == sizeof(void*));
static_assert(sizeof(tensor<float, dyn, 8>) == sizeof(void*) + sizeof(index_t));
static_assert(std::is_trivially_copyable_v<tensor<float, dyn, 8>>);
static_assert(std::is_trivially_copyable_v<matrix<float>>);

static_assert(std::is_same_v<const_view<tensor<float, dyn, 8>>, tensor<float const, dyn, 8>>);
static_assert(std::is_convertible_v<tensor<float, dyn, 8>, tensor<float const, dyn, 8>>);
static_assert(!std::is_convertible_v<tensor<float const, dyn, 8>, tensor<float, dyn, 8>>, "a read-only view stays one");

// A layer whose widths are static holds its hyper-parameters and nothing else.
static_assert(sizeof(linear<float, 4, 8>) < sizeof(linear<float>));
static_assert(std::is_trivially_copyable_v<linear<float>>);

}  // namespace
