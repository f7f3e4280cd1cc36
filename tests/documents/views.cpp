// The views of docs/guide/3-views.md.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/views.hpp"

#include <cstdio>
#include <vector>

#include "triad/core/buffer.hpp"
#include "triad/cpu/cpu.hpp"

namespace {

bool failed = false;
void expect(bool holds, char const* what) {
  if (!holds) std::printf("not so: %s\n", what);
  failed = failed || !holds;
}

void over_own_memory() {
  using namespace triad;
  std::vector<float> numbers(6 * 4);
  tensor<float, dyn, 4> const x(numbers.data(), 6);  // (6, 4): 6 rows, given here; 4 columns, known at compile time
  x(2, 3) = 1.5F;                                    // row 2, column 3
  tensor<float const, dyn, 4> const seen = x;        // the same memory, read-only
  expect(numbers[2 * 4 + 3] == 1.5F && seen(2, 3) == 1.5F, "views are row-major");
  expect(seen.extent(0) == 6 && x.static_extent(1) == 4, "extents");
}

void parts() {
  using namespace triad;
  std::vector<double> a(4 * 6, 1.0), b(4 * 6, 2.0), c(6 * 3), both(6 * 6);
  tensor<double, dyn, dyn> const x(a.data(), 4, 6), y(b.data(), 4, 6), z(both.data(), 6, 6);
  cpu::backend ex;
  // c = columns 0..2 of y, transposed, times columns 0..2 of x. No matrix is copied.
  matmul(ex, transposed(column_block(y, 0, 3)), column_block(x, 0, 3), make_matrix(c.data(), 3, 3, 3));
  expect(c[0] == 8, "4 rows of 1 times 2");
  matmul(ex, transposed(y), x, column_block(z, 0, 6));
  expect(row_block(z, 2, 2)(1, 5) == 8, "a block of rows");
}

void planned() {
  using namespace triad;
  struct two {
    tensor<float, dyn, 8> states;  // (rows, 8)
    vec<float> norms;              // (rows)
  };
  auto const plan = [](arena& place, index_t rows) {
    auto const states = place.make<tensor<float, dyn, 8>>(rows);
    return two{states, place.make<vec<float>>(rows)};
  };
  auto const bytes = planned_bytes([&](arena& measure) { (void)plan(measure, 100); });
  buffer<host_memory> const memory(bytes);
  auto place = memory.place();
  two const t = plan(place, 100);
  expect(t.states(99, 7) == 0 && t.norms.extent(0) == 100 && place.used() == bytes,
         "what was measured is what is placed");
}

}  // namespace

int main() {
  over_own_memory();
  parts();
  planned();
  return failed ? 1 : 0;
}
