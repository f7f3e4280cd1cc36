// The program of "A layer by itself" in docs/guide/4-layers.md: three encoder layers without a model and a trainer.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "triad/cpu/cpu.hpp"
#include "triad/layers/repeat.hpp"
#include "triad/layers/transformer_layer.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/runner.hpp"

using namespace triad;

int main() {
  cpu::backend ex;
  index_t const rows = 7, sizes[] = {3, 4}, first[] = {0, 3};  // two sequences
  std::vector<float> const numbers(7 * 8, 0.5F);
  tensor<float const, dyn, dyn> const x(numbers.data(), rows, 8);
  sequence_batch const sequences{2, rows, 4, make_vec(sizes, 2), make_vec(first, 2)};

  using encoder = repeat<float, transformer_layer<float>>;
  encoder const layer{transformer_layer<float>({.width = 8, .heads = 2, .hidden = 16}), extents<dyn>(3), false};
  runner encode(ex, layer, row_dims(rows));
  initialize(encode.parameters(), 1);  // or load_weights
  auto const y = encode({x, sequences});

  float largest = 0;
  on_host(ex, [&] {
    for (index_t r = 0; r < rows; ++r) largest = std::max(largest, y(r, 0));
  });
  if (largest < y(6, 0)) return 1;

  // Rows of one sequence with equal states still have equal states. Each layer ends with a norm, so a row has mean 0
  // and variance 1.
  for (index_t r = 0; r < rows; ++r) {
    float sum = 0, squares = 0;
    for (index_t c = 0; c < 8; ++c) sum += y(r, c), squares += y(r, c) * y(r, c);
    if (std::abs(sum) > 1e-4F || std::abs(squares - 8) > 1e-2F) {
      std::fprintf(stderr, "docs/guide/4-layers.md: row %d has sum %g and squares %g\n", static_cast<int>(r),
                   static_cast<double>(sum), static_cast<double>(squares));
      return 1;
    }
  }
}
