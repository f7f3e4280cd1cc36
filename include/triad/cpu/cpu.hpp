// All operations of the cpu backend: what is faster here than the reference, and the reference for the rest.
// SPDX-License-Identifier: Apache-2.0
// With TRIAD_KERNELS, those that triad::kernels has compiled are only declared.
#pragma once

#include "triad/cpu/adam.hpp"
#include "triad/cpu/attention.hpp"
#include "triad/cpu/cross_entropy.hpp"
#include "triad/cpu/dropout.hpp"
#include "triad/cpu/elementwise.hpp"
#include "triad/cpu/fuse_attention.hpp"
#include "triad/cpu/gather.hpp"
#include "triad/cpu/graph_attention.hpp"
#include "triad/cpu/head_bias.hpp"
#include "triad/cpu/layer_norm.hpp"
#include "triad/cpu/matmul.hpp"
#include "triad/cpu/pair_product.hpp"
#include "triad/cpu/pair_sum.hpp"
#include "triad/cpu/reduce.hpp"
#include "triad/cpu/relation_attention.hpp"
#include "triad/cpu/tree_loss.hpp"
#include "triad/cpu/tree_shift.hpp"
#include "triad/cpu/triangle.hpp"
#include "triad/cpu/triangle_step.hpp"
#include "triad/cpu/wide_matmul.hpp"
#include "triad/reference/reference.hpp"

// Every hook that a cpu::backend has of its own, and, in FLOAT's lines, those whose double is the reference's.
// do_transform is not there: its functions are anybody's.  kernels/compiled_for.hpp says what TRIAD_KERNELS is.
#if defined(TRIAD_KERNELS)
#define TRIAD_KERNEL_IN_FLOAT(hook) TRIAD_KERNELS template decltype(cpu::hook<float>) cpu::hook<float>
#define TRIAD_KERNEL(hook)     \
  TRIAD_KERNEL_IN_FLOAT(hook); \
  TRIAD_KERNELS template decltype(cpu::hook<double>) cpu::hook<double>

namespace triad {

TRIAD_KERNEL(do_adam);
TRIAD_KERNEL(do_attention_workspace);
TRIAD_KERNEL(do_attention_grad_workspace);
TRIAD_KERNEL(do_attention);
TRIAD_KERNEL(do_attention_grad);
TRIAD_KERNEL(do_cross_entropy);
TRIAD_KERNEL(do_dropout);
TRIAD_KERNEL(do_fuse_attention);
TRIAD_KERNEL(do_fuse_attention_grad);
TRIAD_KERNEL(do_gather_rows);
TRIAD_KERNEL(do_scatter_add_rows);
TRIAD_KERNEL(do_graph_attention);
TRIAD_KERNEL(do_graph_attention_grad);
TRIAD_KERNEL(do_head_bias_add);
TRIAD_KERNEL(do_head_bias_grad);
TRIAD_KERNEL(do_layer_norm);
TRIAD_KERNEL(do_layer_norm_grad_workspace);
TRIAD_KERNEL(do_layer_norm_grad);
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
TRIAD_KERNEL(do_tree_loss);
TRIAD_KERNEL_IN_FLOAT(do_tree_shift);
TRIAD_KERNEL_IN_FLOAT(do_tree_shift_dots);
TRIAD_KERNEL_IN_FLOAT(do_tree_shift_grad);
TRIAD_KERNEL_IN_FLOAT(do_triangle_workspace);
TRIAD_KERNEL_IN_FLOAT(do_triangle_grad_workspace);
TRIAD_KERNEL_IN_FLOAT(do_triangle);
TRIAD_KERNEL_IN_FLOAT(do_triangle_grad);
TRIAD_KERNEL(do_triangle_step_workspace);
TRIAD_KERNEL(do_triangle_step);
TRIAD_KERNEL(do_wide_factor_workspace);
TRIAD_KERNEL(do_wide_factor);
TRIAD_KERNEL(do_wide_matmul_workspace);
TRIAD_KERNEL(do_wide_matmul);
TRIAD_KERNEL(do_wide_matmul_back);

}  // namespace triad
#undef TRIAD_KERNEL
#undef TRIAD_KERNEL_IN_FLOAT
#endif
