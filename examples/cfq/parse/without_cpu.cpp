// In place of on_cpu.cpp, where there is no BLAS.
// SPDX-License-Identifier: Apache-2.0
#include "parser.hpp"

std::unique_ptr<dependency::parser> dependency::make_on_cpu(options const&, parser_options const&) {
  triad::examples::built_without_cpu("cfq");
}
