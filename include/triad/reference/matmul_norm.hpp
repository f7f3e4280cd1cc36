// Matrix products with a norm, one after the other, by the hooks of the backend Ex, which may be derived.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/ops/matmul_norm.hpp"
#include "triad/reference/layer_norm.hpp"
#include "triad/reference/matmul.hpp"

namespace triad::TRIAD_REFERENCE {

template <class Ex, class T>
void do_matmul_norm(Ex& ex, matrix<T const> a, matrix<T const> b, matrix<T> c, epilogue<T> const& e,
                    following_norm<T> const& n) {
  matmul_norm_by_parts(ex, a, b, c, e, n);
}

}  // namespace triad::TRIAD_REFERENCE
