// The models on the cpu backend.
// SPDX-License-Identifier: Apache-2.0
#include "../../common/cpu_backend.hpp"
#include "parser_on.hpp"

std::unique_ptr<dependency::parser> dependency::make_on_cpu(options const& o, parser_options const& z) {
  return parser_with(triad::examples::cpu_backend(o.threads), o, z);
}
