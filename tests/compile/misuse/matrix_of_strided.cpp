// Reads a view of rank 3 as a matrix.  The view is not contiguous, so its rows have no single stride.
// expect: triad: only contiguous views of rank other than 2 can be read as a matrix
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/views.hpp"

#ifdef MISUSE
using layout = cuda::std::layout_stride;
#else
using layout = cuda::std::layout_right;
#endif

auto rows(cuda::std::mdspan<float, triad::extents<2, 3, 4>, layout> v) { return triad::as_matrix(v); }
