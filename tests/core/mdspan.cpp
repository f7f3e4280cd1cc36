// Tests the types of views: indices have 64 bits, static extents take no memory, and a view without memory does not
// access elements.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/mdspan.hpp"

#include <type_traits>
#include <vector>

#include "tests/catch.hpp"

namespace core_mdspan_tests {

using namespace triad;

static_assert(std::is_signed_v<index_t> && sizeof(index_t) == 8);
static_assert(std::is_empty_v<extents<3, 4>> && sizeof(extents<dyn, 4>) == sizeof(index_t));
// A view whose extents are all static stores only an address. Each dynamic extent adds one index.
static_assert(sizeof(tensor<float, 3, 4>) == sizeof(float*));
static_assert(sizeof(tensor<float, dyn, 4>) == sizeof(float*) + sizeof(index_t));
static_assert(std::is_trivially_copyable_v<tensor<float, dyn, 4>> && std::is_trivially_copyable_v<matrix<float>>);
static_assert(std::is_same_v<const_view<tensor<float, dyn, 4>>, tensor<float const, dyn, 4>>);
static_assert(std::is_same_v<element_t<tensor<float const, dyn>>, float>);
static_assert(std::is_convertible_v<tensor<float, dyn>, tensor<float const, dyn>>);
static_assert(!std::is_convertible_v<tensor<float const, dyn>, tensor<float, dyn>>);
// A static extent converts to a dynamic one.
static_assert(std::is_convertible_v<tensor<float, dyn, 4>, tensor<float, dyn, dyn>>);
static_assert(!std::is_convertible_v<tensor<float, dyn, 3>, tensor<float, dyn, 4>>);

TEST_CASE("a tensor has its last axis side by side") {
  std::vector<int> values{0, 1, 2, 3, 4, 5};
  tensor<int, dyn, 3> const x(values.data(), 2);
  CHECK((x.stride(0) == 3 && x.stride(1) == 1));
  CHECK((x(0, 2) == 2 && x(1, 0) == 3));
  tensor<int const, dyn, dyn> const forgotten = x;
  CHECK((forgotten.extent(1) == 3 && &forgotten(1, 2) == values.data() + 5));
}

#if defined(CCCL_ENABLE_HOST_ASSERTIONS)
TEST_CASE("a loop over a view without memory throws what to write around it") {
  vec<double> const none(nullptr, 5);
  CHECK_THROWS_AS(none(0), element_without_memory);
  CHECK_THROWS_WITH((const_view<vec<double>>(none)(4)), test::contains("say on_host(ex, [&] { the loop })"));
}
#endif

}  // namespace core_mdspan_tests
