// Tests views of Thrust's vectors: the shapes and addresses of views, and an operation of the CUDA backend on views.
// Tests cuda/device/thrust_views.cuh.
// SPDX-License-Identifier: Apache-2.0
#include <thrust/device_vector.h>

#include <type_traits>
#include <utility>
#include <vector>

#include "session.hpp"
#include "triad/cuda/device/thrust_views.cuh"
#include "triad/cuda/elementwise.cuh"

namespace cuda_on_host_thrust_tests {

using triad::dyn;
using triad::index_t;
using triad::cuda::view_of;
using triad::test::contains;
using triad::test::device;

TEST_CASE("a view of a device_vector is its memory, and has its size") {
  thrust::device_vector<float> v(6);
  thrust::device_vector<float> const& fixed = v;
  auto const all = view_of(v);
  auto const rows = view_of(fixed, 2, 3);
  static_assert(std::is_same_v<decltype(view_of(fixed)), triad::vec<float const>>);
  static_assert(std::is_same_v<decltype(rows), triad::tensor<float const, dyn, dyn> const>);
  CHECK((all.extent(0) == 6 && rows.extent(0) == 2 && rows.extent(1) == 3));
  CHECK((all.data_handle() == thrust::raw_pointer_cast(v.data()) && rows.data_handle() == all.data_handle()));
  CHECK(view_of(v, 6, 1).extent(0) == 6);
  thrust::device_vector<index_t> const none;
  CHECK((view_of(none).extent(0) == 0 && view_of(none, 5, 0).extent(0) == 5));
  CHECK_THROWS_WITH(view_of(v, 2, 4), contains("a vector of 6 values, expected 2 x 4"));
  CHECK_THROWS_WITH(view_of(v, -2, -3), contains("expected -2 x -3"));
  CHECK_THROWS_WITH(view_of(v, 6, 0), contains("a vector of 6 values, expected 6 x 0"));
}

TEST_CASE("an operation reads and writes the vectors of Thrust, and what comes after them is left alone") {
  std::vector<float> const values{1, 2, 3, 4, 5};
  thrust::device_vector<float> const a(values.begin(), values.end());
  thrust::device_vector<float> y(6, 9.0f);
  auto& ex = device();
  triad::transform(ex, triad::plus(), view_of(a), view_of(a), triad::make_vec(view_of(y).data_handle(), 5));
  ex.synchronize();
  std::vector<float> found(6);
  thrust::copy(y.begin(), y.end(), found.begin());
  CHECK(found == std::vector<float>{2, 4, 6, 8, 10, 9});
}

}  // namespace cuda_on_host_thrust_tests
