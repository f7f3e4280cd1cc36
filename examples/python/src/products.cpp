// Triangular attention with its projections, in one call.  oneDNN computes the products.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstring>
#include <string>

#include "kernels.h"
#include "kernels_attention.hpp"
#include "kernels_calls.hpp"
#include "kernels_host.hpp"
#include "kernels_table.h"
#include "triad/cpu/layer_norm.hpp"
#include "triad/cpu/products/onednn.hpp"
#include "triad/cpu/products/speed.hpp"
#include "triad/cpu/projected_triangle.hpp"
#include "triad/reference/matmul_norm.hpp"

namespace {

using namespace triad_torch;

triad::cpu::onednn_engine const& engine() { return triad::cpu::onednn_engine::instance(); }
bool rounds() {
  static bool const fast = engine().computes(triad::cpu::arithmetic::bf16);
  return fast;
}

/// Calls run(call, backend, arena, graphs).
template <class Run>
void with_attention(triad_attention_call const& c, Run&& run) {
  attention_call const work(c);
  if (work.empty()) return;
  auto ex = host(c.triangle.place);
  ex.engine = &engine();
  if (c.y_type == triad_bfloat16 && rounds()) ex.arithmetic = triad::cpu::arithmetic::bf16;
  auto const graphs = work.sizes().on_host();
  planned_and_run(ex, [&](auto& on, triad::arena& scratch) { run(work, on, scratch, graphs); });
}

}  // namespace

extern "C" {

int triad_attention(triad_attention_call const* call, char* message, int64_t room) {
  return guarded(message, room, [&] {
    with_attention(*call, [](auto const& work, auto& ex, triad::arena& scratch, triad::graph_batch const& graphs) {
      work.value(ex, scratch, graphs);
    });
  });
}

int triad_attention_grad(triad_attention_call const* call, char* message, int64_t room) {
  return guarded(message, room, [&] {
    with_attention(*call, [](auto const& work, auto& ex, triad::arena& scratch, triad::graph_batch const& graphs) {
      work.gradient(ex, scratch, graphs);
    });
  });
}

char const* triad_products_description(void) {
  static std::string const text = engine().name() + ", " + engine().kernels() + " kernels";
  return text.c_str();
}

char const* triad_products_refused(void) {
  static std::string const text = [] {
    if (!triad::cpu::onednn_engine::computes_alone())
      return engine().name() + " was built for threads that are not OpenMP's";
    // oneDNN's kernels for AVX2 are slower than those of PyTorch.
    return engine().rows_are_independent() ? std::string() : "this processor has no AVX-512";
  }();
  return text.c_str();
}

int triad_products_round(void) { return rounds() ? 1 : 0; }

double triad_products_multiply_adds_a_second(void) {
  return triad::cpu::product_multiply_adds_a_second(triad::cpu::backend(1, &engine()));
}

triad_products const* triad_products_table(void) {
  static triad_products const table{triad_attention, triad_attention_grad};
  return &table;
}

}  // extern "C"
