// Loads the weights of a PyTorch Transformer in a C++ program, which then gives the same answers.
// SPDX-License-Identifier: Apache-2.0
//
// torch_encoder.py wrote a file with an nn.TransformerEncoder, two sequences, and PyTorch's answers.  To use such a
// model, your own program needs only the part between the two lines below.  The rest compares the answers.  The program
// fails if a number differs from PyTorch's by more than rounding errors in float.
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

  // Sequences are stored one after the other, without padding: here 5 tokens and then 3.  PyTorch padded the second
  // sequence and masked the padding, so both programs compute the same rows.
  index_t const sizes[] = {5, 3}, first[] = {0, 5}, rows = 8, width = 16;
  auto const numbers = file.read_as<float>("example.x"), expected = file.read_as<float>("example.y");
  tensor<float const, dyn, dyn> const x(numbers.data(), rows, width);
  sequence_batch const sequences{2, rows, 5, make_vec(sizes, 2), make_vec(first, 2)};

  // ---- 1.  The same encoder: two layers, each with its own parameters.  Norms come after the sums, as in PyTorch
  // without norm_first.
  cpu::backend ex;
  repeat<float, transformer_layer<float>> const encoder{
      transformer_layer<float>({.width = width, .heads = 4, .hidden = 32}), extents<dyn>(2), false};
  runner encode(ex, encoder, row_dims(rows));

  // 2. Its weights.  Here the whole model is a repeat, so its layers are called 0 and 1.  In PyTorch they are called
  // layers.0 and layers.1.  A tensor without a parameter is an error, and so is a parameter without a tensor, so every
  // weight is loaded.  The tensors for our comparison are left out by name.
  load_weights(file, encode.parameters(), torch_encoder("layers.", ""), {.leave_out = {"example.*"}});

  // 3. The answer.
  auto const y = encode({x, sequences});
  // ----

  // The answers agree to six digits.  PyTorch adds numbers in another order, so the last bits differ.
  float furthest = 0;
  for (index_t r = 0; r < rows; ++r)
    for (index_t c = 0; c < width; ++c)
      furthest = std::max(furthest, std::abs(y(r, c) - expected[static_cast<std::size_t>(r * width + c)]));
  std::printf("%d states of width %d, PyTorch's to within %.1e\n", static_cast<int>(rows), static_cast<int>(width),
              static_cast<double>(furthest));

  // Checks that a wrong weight would be noticed: every parameter must affect the answer.  Only the bias of the keys
  // does not, because it shifts all scores of a token equally, and softmax ignores such a shift.
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
    encode({x, sequences});  // y is unchanged
  });
  return furthest < 1e-5F && all_seen ? 0 : 1;
} catch (std::exception const& e) {
  std::fprintf(stderr, "torch_encoder: %s\n", e.what());
  return 1;
}
