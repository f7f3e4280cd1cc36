// The models on the reference backend.
// SPDX-License-Identifier: Apache-2.0
#include "parser_on.hpp"
#include "triad/reference/reference.hpp"

std::unique_ptr<dependency::parser> dependency::make_on_reference(options const& o, parser_options const& z) {
  return parser_with(triad::reference::backend{}, o, z);
}
