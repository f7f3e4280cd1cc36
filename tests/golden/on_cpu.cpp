// The checks of every kind on the cpu backend.
// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"
#include "runner.hpp"
#include "tests/cpu/products/loop_engine.hpp"
#include "triad/cpu/cpu.hpp"
#if defined(TRIAD_GOLDEN_ONEDNN)
#include "triad/cpu/products/onednn.hpp"
#endif

namespace triad::golden {
namespace {

/// Rounds the factors of all products, because the products of golden files are smaller than those that are rounded by
/// default.
void check_in_bf16(cpu::product_engine const& engine, golden_file const& file, report& r) {
  cpu::backend ex(0, &engine, cpu::arithmetic::bf16);
  ex.least_rounded = 1;
  check_file_in<float>(ex, file, r);
}

}  // namespace

void check_on_cpu(golden_file const& file, report& r) {
  cpu::backend ex;
  check_file(ex, file, r);
}
void check_on_cpu_in_bf16(golden_file const& file, report& r) {
  test::loop_engine const engine(true);
  check_in_bf16(engine, file, r);
}

#if defined(TRIAD_GOLDEN_ONEDNN)
bool onednn_computes_bf16() {
  return cpu::onednn_engine::computes_alone() && cpu::onednn_engine::instance().computes(cpu::arithmetic::bf16);
}
void check_on_onednn_in_bf16(golden_file const& file, report& r) {
  check_in_bf16(cpu::onednn_engine::instance(), file, r);
}
#endif

}  // namespace triad::golden
