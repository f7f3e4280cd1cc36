// All operations of the reference backend.
// SPDX-License-Identifier: Apache-2.0
// With TRIAD_KERNELS, those that triad::kernels has compiled are only declared.
#pragma once

#include "triad/reference/adam.hpp"
#include "triad/reference/arc_cross_entropy.hpp"
#include "triad/reference/attention.hpp"
#include "triad/reference/cross_entropy.hpp"
#include "triad/reference/dropout.hpp"
#include "triad/reference/elementwise.hpp"
#include "triad/reference/fuse_attention.hpp"
#include "triad/reference/gather.hpp"
#include "triad/reference/graph_attention.hpp"
#include "triad/reference/head_bias.hpp"
#include "triad/reference/layer_norm.hpp"
#include "triad/reference/log_step.hpp"
#include "triad/reference/matmul.hpp"
#include "triad/reference/pair_product.hpp"
#include "triad/reference/pair_sum.hpp"
#include "triad/reference/reduce.hpp"
#include "triad/reference/relation_attention.hpp"
#include "triad/reference/softmax.hpp"
#include "triad/reference/tree_choice.hpp"
#include "triad/reference/tree_loss.hpp"
#include "triad/reference/tree_shift.hpp"
#include "triad/reference/triangle.hpp"
#include "triad/reference/triangle_step.hpp"
#include "triad/reference/wide_matmul.hpp"

// Every hook that serves a reference::backend, in float and in double.  do_transform is not there: its functions are
// anybody's.  cpu/kernels/compiled_for.hpp says what TRIAD_KERNELS is.
#if defined(TRIAD_KERNELS)
#define TRIAD_KERNEL(hook)                                                        \
  TRIAD_KERNELS template decltype(reference::hook<float>) reference::hook<float>; \
  TRIAD_KERNELS template decltype(reference::hook<double>) reference::hook<double>

namespace triad {

TRIAD_KERNEL(do_adam);
TRIAD_KERNEL(do_clip);
TRIAD_KERNEL(do_arc_cross_entropy);
TRIAD_KERNEL(do_best_arcs);
TRIAD_KERNEL(do_attention_workspace);
TRIAD_KERNEL(do_attention_grad_workspace);
TRIAD_KERNEL(do_attention);
TRIAD_KERNEL(do_attention_grad);
TRIAD_KERNEL(do_cross_entropy);
TRIAD_KERNEL(do_argmax_rows);
TRIAD_KERNEL(do_dropout);
TRIAD_KERNEL(do_fill);
TRIAD_KERNEL(do_fuse_attention);
TRIAD_KERNEL(do_fuse_attention_grad);
TRIAD_KERNEL(do_gather_rows);
TRIAD_KERNEL(do_scatter_add_rows_workspace);
TRIAD_KERNEL(do_scatter_add_rows);
TRIAD_KERNEL(do_graph_attention);
TRIAD_KERNEL(do_graph_attention_grad);
TRIAD_KERNEL(do_head_bias_add);
TRIAD_KERNEL(do_head_bias_grad);
TRIAD_KERNEL(do_layer_norm);
TRIAD_KERNEL(do_layer_norm_grad_workspace);
TRIAD_KERNEL(do_layer_norm_grad);
TRIAD_KERNEL(do_log_step);
TRIAD_KERNEL(do_matmul);
TRIAD_KERNEL(do_batched_matmul);
TRIAD_KERNEL(do_pair_product);
TRIAD_KERNEL(do_pair_product_grad);
TRIAD_KERNEL(do_pair_sum);
TRIAD_KERNEL(do_pair_sum_grad);
TRIAD_KERNEL(do_sum_workspace);
TRIAD_KERNEL(do_sum);
TRIAD_KERNEL(do_norm);
TRIAD_KERNEL(do_column_sums_workspace);
TRIAD_KERNEL(do_column_sums_add);
TRIAD_KERNEL(do_relation_attention);
TRIAD_KERNEL(do_relation_attention_grad);
TRIAD_KERNEL(do_softmax);
TRIAD_KERNEL(do_softmax_grad);
TRIAD_KERNEL(do_tree_choice);
TRIAD_KERNEL(do_tree_choice_grad);
TRIAD_KERNEL(do_tree_loss);
TRIAD_KERNEL(do_decode_rows);
TRIAD_KERNEL(do_tree_shift);
TRIAD_KERNEL(do_tree_shift_dots);
TRIAD_KERNEL(do_tree_shift_grad);
TRIAD_KERNEL(do_triangle_workspace);
TRIAD_KERNEL(do_triangle_grad_workspace);
TRIAD_KERNEL(do_triangle);
TRIAD_KERNEL(do_triangle_grad);
TRIAD_KERNEL(do_triangle_weights);
TRIAD_KERNEL(do_triangle_step_workspace);
TRIAD_KERNEL(do_triangle_step);
TRIAD_KERNEL(do_wide_factor_workspace);
TRIAD_KERNEL(do_wide_factor);
TRIAD_KERNEL(do_wide_matmul_workspace);
TRIAD_KERNEL(do_wide_matmul);
TRIAD_KERNEL(do_wide_matmul_back);

}  // namespace triad
#undef TRIAD_KERNEL
#endif
