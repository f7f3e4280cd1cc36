// Chooses who computes the products of float matrices on the cpu backend: the linked BLAS or oneDNN.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "triad/cpu/products/engine.hpp"

namespace triad::programs {

/// Returns "blas" or "onednn" for a value of --products.  "auto" means "onednn" if this program was built with oneDNN
/// and the processor has AVX-512, else "blas".  oneDNN's kernels for AVX2 are slower than those of OpenBLAS.  "measure"
/// means the faster of both for a product whose factors fit into the cache, which takes some milliseconds, and oneDNN
/// if `arithmetic` is "bf16", which BLAS does not have.  If there are several processes, all of them take the choice of
/// process 0, so all of them must call this function.
std::string chosen_products(std::string const& products, std::string const& arithmetic = "float32");

/// Returns the engine for a value of --products, or null for BLAS.  "auto" and "measure" are this process's own
/// choice.  Throws data_error if this program was built without the engine, or if the engine does not compute products
/// with factors of precision `arithmetic`: "float32" or "bf16".
cpu::product_engine const* engine_of(std::string const& products, std::string const& arithmetic);

}  // namespace triad::programs
