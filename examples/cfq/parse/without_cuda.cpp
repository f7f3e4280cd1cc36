// In place of on_cuda.cu, where programs are not compiled for GPUs.
// SPDX-License-Identifier: Apache-2.0
#include "parser.hpp"

std::unique_ptr<dependency::parser> dependency::make_on_cuda(options const&, parser_options const&) {
  triad::examples::built_without_cuda("cfq");
}
