// A PyTorch Transformer's weights in a C++ program, and the same answers.
// SPDX-License-Identifier: Apache-2.0
//
// torch_encoder.py made a file of an nn.TransformerEncoder, two sequences, and what PyTorch answers to them.  The part
// between the two lines below is all that a program of yours needs to go on with such a model; what is after it
// compares.  The program fails where a number differs by more than float's rounding explains.
//
//   torch_encoder examples/tour/torch_encoder.safetensors
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

#include "triad/cpu/cpu.hpp"
#include "triad/io/weights.hpp"
#include "triad/layers/repeat.hpp"
#include "triad/layers/transformer_layer.hpp"
#include "triad/train/runner.hpp"

using namespace triad;

int main(int count, char** arguments) try {
  safetensors const file(count > 1 ? arguments[1] : "torch_encoder.safetensors");

  // Sequences lie one after the other, without padding: here 5 tokens and then 3.  PyTorch padded the second one and
  // masked what it had added, so the same rows come out of both.
  index_t const sizes[] = {5, 3}, first[] = {0, 5}, rows = 8, width = 16;
  auto const numbers = file.read_as<float>("example.x"), expected = file.read_as<float>("example.y");
  tensor<float const, dyn, dyn> const x(numbers.data(), rows, width);
  sequence_batch const sequences{2, rows, 5, make_vec(sizes, 2), make_vec(first, 2)};

  // ---- 1. The same encoder: two layers, each with parameters of its own, and norms after the sums, as PyTorch has
  // them unless norm_first is said.
  cpu::backend ex;
  repeat<float, transformer_layer<float>> const encoder{
      transformer_layer<float>({.width = width, .heads = 4, .hidden = 32}), extents<dyn>(2), false};
  runner encode(ex, encoder, row_dims(rows));

  // 2. Its weights.  Here a repeat stands alone, so its layers are called 0 and 1; in PyTorch they are layers.0 and
  // layers.1.  A tensor that nothing takes is an error, and so is a parameter that gets none: no weight is left at zero
  // in silence.  What is in this file for our comparison is left out by name.
  load_weights(file, encode.parameters(), torch_encoder("layers.", ""), {.leave_out = {"example.*"}});

  // 3. The answer.
  auto const y = encode({x, sequences});
  // ----

  // The same to six digits.  Sums are taken in another order than PyTorch's, so the last bits are not the same.
  float furthest = 0;
  for (index_t r = 0; r < rows; ++r)
    for (index_t c = 0; c < width; ++c)
      furthest = std::max(furthest, std::abs(y(r, c) - expected[static_cast<std::size_t>(r * width + c)]));
  std::printf("%d states of width %d, PyTorch's to within %.1e\n", static_cast<int>(rows), static_cast<int>(width),
              static_cast<double>(furthest));

  // Would a wrong weight be seen?  Every parameter has a part in the answer, but the bias of the keys: it moves all
  // scores of a token alike, and the softmax takes no notice.
  bool all_seen = true;
  walk(encode.parameters().mutable_values(), [&](std::string const& path, auto view) {
    std::vector<float> const right(y.data_handle(), y.data_handle() + rows * width);
    auto& number = *view.data_handle();
    number += 0.5F;
    auto const other = encode({x, sequences});
    float moved = 0;
    for (std::size_t i = 0; i < right.size(); ++i) moved = std::max(moved, std::abs(other.data_handle()[i] - right[i]));
    number -= 0.5F;
    if ((moved > 1e-3F) == path.ends_with("key.bias"))
      all_seen = false,
      std::fprintf(stderr, "torch_encoder: %s moves the answer by %g\n", path.c_str(), static_cast<double>(moved));
    encode({x, sequences});  // y is what it was
  });
  return furthest < 1e-5F && all_seen ? 0 : 1;
} catch (std::exception const& e) {
  std::fprintf(stderr, "torch_encoder: %s\n", e.what());
  return 1;
}
