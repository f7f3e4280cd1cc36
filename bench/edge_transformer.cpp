// Whole training steps of the Edge Transformer: CLUTRR and COGS with the papers' settings, and one graph of 512 nodes
// with recomputation.
// SPDX-License-Identifier: Apache-2.0

#include "run_training.hpp"
#include "training_tasks.hpp"

namespace bench {
namespace {

[[maybe_unused]] bool const registered = [] {
  register_training("clutrr_step", "/b:400/l:8/d:200/h:4", clutrr(400), clutrr(100));
  register_training("cogs_step", "/b:100/l:3/d:64/h:4", cogs(), cogs());
  register_training("edge_transformer", "/train/l:8/b:1/n:512/d:128/h:4", large(512), large(40), {.warm = false});
  return true;
}();

}  // namespace
}  // namespace bench
