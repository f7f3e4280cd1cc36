// In place of on_cpu.cpp, where there is no BLAS.
// SPDX-License-Identifier: Apache-2.0
#include "translator.hpp"

std::unique_ptr<seq2seq::translator> seq2seq::make_on_cpu(options const& o, translator_options const&) {
  triad::examples::built_without_cpu(o.program);
}
