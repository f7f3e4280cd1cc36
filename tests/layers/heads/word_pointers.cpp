// Tests the pointers of coordinated nodes that read words: which words they read, and their gradient.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/heads/word_pointers.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/heads/pointer_run.hpp"

namespace layers_word_pointers_tests {

using namespace triad;

constexpr index_t d = 2, words = 5;

// The tokens 0, 1 and 3 of the first sentence are queried.  It has the words 2 0 4 2.
struct run : test::pointer_run<word_pointers<double>> {
  run() : pointer_run({extents<dyn>(d), words, {.distance = 0.5, .squarings = 2}}) {}
};

TEST_CASE("the three words before a queried token decide whether it points to an earlier one") {
  reference::backend ex;
  run r;
  parameter_set<word_pointers<double>, reference::backend> p(r.layer, holding::values);
  auto const values = test::random_values(p.flat_values().extent(0), 4);
  std::copy(values.begin(), values.end(), p.flat_values().data_handle());
  test::with_scratch(ex, {},
                     [&](auto& backend, call const& c) { r.layer.forward(backend, c, p.values(), r.in, r.saved); });
  auto const w = p.values();
  // The score with which a node keeps its own roles, computed here from the words before it.
  auto const own = [&](std::vector<index_t> const& before) {
    double sum = w.self_score.bias(0);
    for (index_t h = 0; h < d; ++h) {
      double inner = w.self_hidden.bias(h);
      for (index_t k = 0; k < 3; ++k)
        for (index_t j = 0; j < d; ++j)
          inner += w.self_hidden.weight(h, k * d + j) * w.words.table(before[static_cast<std::size_t>(k)], j);
      sum += w.self_score.weight(0, h) * std::fmax(inner, 0);
    }
    return std::exp(sum);
  };
  auto const found = r.layer.pointers(r.saved);
  double const second = own({words, words, 2}), third = own({2, 0, 4});
  CHECK_THAT(found(1 * 4 + 1), test::WithinAbs(second / (second + 1), 1e-12));
  CHECK_THAT(found(1 * 4 + 0), test::WithinAbs(1 / (second + 1), 1e-12));
  double const all = third + 1 + std::exp(-0.5);
  CHECK_THAT(found(2 * 4 + 2), test::WithinAbs(third / all, 1e-12));
  CHECK_THAT(found(2 * 4 + 1), test::WithinAbs(1 / all, 1e-12));
  CHECK_THAT(found(2 * 4 + 0), test::WithinAbs(std::exp(-0.5) / all, 1e-12));
  CHECK((found(0) == 1 && found(2 * 4 + 3) == 0 && found(3 * 4 + 3) == 1 && found(3 * 4 + 0) == 0));
  CHECK_THAT(r.layer.heads(r.saved)(2 * 4 + 2), test::WithinAbs(std::pow(third / all, 4), 1e-12));
}

TEST_CASE("pointers that read words have the gradient of their values") {
  run r;
  auto const dheads = test::random_values(r.pairs, 2), dpointers = test::random_values(r.pairs, 3);
  CHECK_GRADIENT(test::check_use(r.layer, {}, [&](auto& parameters, variables const&, variables* g) {
    reference::backend ex;
    test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
      r.layer.forward(backend, c, parameters.values(), r.in, r.saved);
      if (g == nullptr) return;
      r.layer.backward(backend, c, parameters.values(), r.in, r.saved, make_vec<double const>(dheads.data(), r.pairs),
                       make_vec<double const>(dpointers.data(), r.pairs), parameters.gradients());
    });
    double sum = 0;
    for (index_t p = 0; p < r.pairs; ++p)
      sum += dheads[static_cast<std::size_t>(p)] * r.layer.heads(r.saved)(p) +
             dpointers[static_cast<std::size_t>(p)] * r.layer.pointers(r.saved)(p);
    return sum;
  }));
  CHECK(test::paths_of(r.layer) == std::vector<std::string>{"words", "self_hidden.weight", "self_hidden.bias",
                                                            "self_score.weight", "self_score.bias"});
}

}  // namespace layers_word_pointers_tests
