// In place of on_cuda.cu, where programs are not compiled for GPUs.
// SPDX-License-Identifier: Apache-2.0
#include "translator.hpp"

std::unique_ptr<seq2seq::translator> seq2seq::make_on_cuda(options const& o, translator_options const&) {
  triad::examples::built_without_cuda(o.program);
}
