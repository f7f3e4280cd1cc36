// The models on the reference backend.
// SPDX-License-Identifier: Apache-2.0
#include "translator_on.hpp"
#include "triad/reference/reference.hpp"

std::unique_ptr<seq2seq::translator> seq2seq::make_on_reference(options const& o, translator_options const& z) {
  return translator_with(triad::reference::backend{}, o, z);
}
