// A backend as a user derives it, which counts its products.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cpu/matmul.hpp"

namespace triad::test {

struct counting_backend : cpu::backend {
  explicit counting_backend(cpu::product_engine const& by) : cpu::backend(1, &by) {}
  int products = 0;
};
inline void do_matmul(counting_backend& ex, matrix<float const> a, matrix<float const> b, matrix<float> c, bool add,
                      epilogue<float> const& e) {
  ++ex.products;
  cpu::do_matmul<float>(ex, a, b, c, add, e);
}

}  // namespace triad::test
