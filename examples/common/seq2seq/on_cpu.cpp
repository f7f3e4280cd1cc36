// The models on the cpu backend.
// SPDX-License-Identifier: Apache-2.0
#include "../cpu_backend.hpp"
#include "translator_on.hpp"

std::unique_ptr<seq2seq::translator> seq2seq::make_on_cpu(options const& o, translator_options const& z) {
  return translator_with(triad::examples::cpu_backend(o.threads), o, z);
}
