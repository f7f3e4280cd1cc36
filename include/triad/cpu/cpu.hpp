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

// Every hook that serves a cpu::backend: in float, in double, its name.  do_transform is not there: its functions are
// anybody's.  kernels/compiled_for.hpp says what TRIAD_KERNELS is.
#if defined(TRIAD_KERNELS)
#define TRIAD_KERNEL(of_float, of_double, hook)                                 \
  TRIAD_KERNELS template decltype(of_float::hook<float>) of_float::hook<float>; \
  TRIAD_KERNELS template decltype(of_double::hook<double>) of_double::hook<double>

namespace triad {

TRIAD_KERNEL(cpu, cpu, do_adam);
TRIAD_KERNEL(reference, reference, do_clip);
TRIAD_KERNEL(reference, reference, do_arc_cross_entropy);
TRIAD_KERNEL(reference, reference, do_best_arcs);
TRIAD_KERNEL(cpu, cpu, do_attention_workspace);
TRIAD_KERNEL(cpu, cpu, do_attention_grad_workspace);
TRIAD_KERNEL(cpu, cpu, do_attention);
TRIAD_KERNEL(cpu, cpu, do_attention_grad);
TRIAD_KERNEL(cpu, cpu, do_cross_entropy);
TRIAD_KERNEL(reference, reference, do_argmax_rows);
TRIAD_KERNEL(cpu, cpu, do_dropout);
TRIAD_KERNEL(reference, reference, do_fill);
TRIAD_KERNEL(cpu, cpu, do_fuse_attention);
TRIAD_KERNEL(cpu, cpu, do_fuse_attention_grad);
TRIAD_KERNEL(cpu, cpu, do_gather_rows);
TRIAD_KERNEL(cpu, cpu, do_scatter_add_rows);
TRIAD_KERNEL(cpu, cpu, do_head_bias_add);
TRIAD_KERNEL(cpu, cpu, do_head_bias_grad);
TRIAD_KERNEL(cpu, cpu, do_layer_norm);
TRIAD_KERNEL(cpu, cpu, do_layer_norm_grad_workspace);
TRIAD_KERNEL(cpu, cpu, do_layer_norm_grad);
TRIAD_KERNEL(reference, reference, do_log_step);
TRIAD_KERNEL(cpu, cpu, do_matmul);
TRIAD_KERNEL(cpu, cpu, do_batched_matmul);
TRIAD_KERNEL(cpu, cpu, do_pair_product);
TRIAD_KERNEL(cpu, cpu, do_pair_product_grad);
TRIAD_KERNEL(cpu, cpu, do_pair_sum);
TRIAD_KERNEL(cpu, cpu, do_pair_sum_grad);
TRIAD_KERNEL(cpu, cpu, do_sum_workspace);
TRIAD_KERNEL(cpu, cpu, do_sum);
TRIAD_KERNEL(cpu, cpu, do_norm);
TRIAD_KERNEL(cpu, cpu, do_column_sums_workspace);
TRIAD_KERNEL(cpu, cpu, do_column_sums_add);
TRIAD_KERNEL(cpu, cpu, do_relation_attention);
TRIAD_KERNEL(cpu, cpu, do_relation_attention_grad);
TRIAD_KERNEL(reference, reference, do_softmax);
TRIAD_KERNEL(reference, reference, do_softmax_grad);
TRIAD_KERNEL(reference, reference, do_tree_choice);
TRIAD_KERNEL(reference, reference, do_tree_choice_grad);
TRIAD_KERNEL(cpu, cpu, do_tree_loss);
TRIAD_KERNEL(reference, reference, do_decode_rows);
TRIAD_KERNEL(cpu, reference, do_tree_shift);
TRIAD_KERNEL(cpu, reference, do_tree_shift_dots);
TRIAD_KERNEL(cpu, reference, do_tree_shift_grad);
TRIAD_KERNEL(cpu, reference, do_triangle_workspace);
TRIAD_KERNEL(cpu, reference, do_triangle_grad_workspace);
TRIAD_KERNEL(cpu, reference, do_triangle);
TRIAD_KERNEL(cpu, reference, do_triangle_grad);
TRIAD_KERNEL(reference, reference, do_triangle_weights);
TRIAD_KERNEL(cpu, cpu, do_triangle_step_workspace);
TRIAD_KERNEL(cpu, cpu, do_triangle_step);
TRIAD_KERNEL(cpu, cpu, do_wide_factor_workspace);
TRIAD_KERNEL(cpu, cpu, do_wide_factor);
TRIAD_KERNEL(cpu, cpu, do_wide_matmul_workspace);
TRIAD_KERNEL(cpu, cpu, do_wide_matmul);
TRIAD_KERNEL(cpu, cpu, do_wide_matmul_back);

}  // namespace triad
#undef TRIAD_KERNEL
#endif
