// Knows whether this program was built with oneDNN.
// SPDX-License-Identifier: Apache-2.0
#include "shared/backend/products.hpp"

#include "shared/processes/world.hpp"
#include "shared/report/refuse.hpp"
#include "triad/cpu/kernels/processor.hpp"
#if defined(TRIAD_PROGRAMS_ONEDNN)
#include "triad/cpu/products/onednn.hpp"
#include "triad/cpu/products/speed.hpp"
#endif

namespace triad::programs {

namespace {

/// Returns oneDNN, or null if this program cannot use it.
cpu::product_engine const* onednn() {
#if defined(TRIAD_PROGRAMS_ONEDNN)
  if (cpu::onednn_engine::computes_alone()) return &cpu::onednn_engine::instance();
#endif
  return nullptr;
}

std::string choice_of_this_process(std::string const& products, std::string const& arithmetic) {
  if (products != "auto" && products != "measure") return products;
  if (onednn() == nullptr) return "blas";
  if (arithmetic == "bf16") return "onednn";  // BLAS does not have it
#if defined(TRIAD_PROGRAMS_ONEDNN)
  if (products == "measure") {
    double const by_blas = cpu::product_multiply_adds_a_second(cpu::backend(1)),
                 by_onednn = cpu::product_multiply_adds_a_second(cpu::backend(1, onednn()));
    return by_onednn > by_blas ? "onednn" : "blas";
  }
#endif
  return cpu::processor_vectors() == cpu::vector_set::avx512 ? "onednn" : "blas";
}

}  // namespace

std::string chosen_products(std::string const& products, std::string const& arithmetic) {
  auto const own = choice_of_this_process(products, arithmetic);
  return world().size() > 1 ? texts_of_all(own).front() : own;
}

cpu::product_engine const* engine_of(std::string const& products, std::string const& arithmetic) {
  bool const wanted = choice_of_this_process(products, arithmetic) == "onednn";
  auto const* const engine = wanted ? onednn() : nullptr;
  if (wanted && engine == nullptr)
    refuse(
        "--products onednn, and this program was built without oneDNN: install oneDNN (libdnnl-dev) and build it "
        "again, "
        "or give --products blas, whose results differ in the last bits");
  if (arithmetic != "bf16") return engine;
  if (engine == nullptr)
    refuse("--precision bf16 on the cpu backend needs oneDNN, and BLAS would compute the products: {}",
           onednn() != nullptr ? "give --products onednn"
                               : "install oneDNN (libdnnl-dev) and build again, or give --precision float32");
  if (!engine->computes(cpu::arithmetic::bf16))
    refuse(
        "--precision bf16, and this processor computes products of bf16 no faster than those of float32 ({} has {} "
        "kernels here): give --precision float32",
        engine->name(), engine->kernels());
  return engine;
}

}  // namespace triad::programs
