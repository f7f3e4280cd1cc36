// The CUDA backend: every operation, for nvcc.
// SPDX-License-Identifier: Apache-2.0
// With TRIAD_CUDA_KERNELS, what launches its kernels is only declared: another unit of the program has compiled them.
#pragma once

#include "triad/cuda/adam.cuh"
#include "triad/cuda/arc_cross_entropy.cuh"
#include "triad/cuda/attention.cuh"
#include "triad/cuda/backend.cuh"
#include "triad/cuda/cross_entropy.cuh"
#include "triad/cuda/dropout.cuh"
#include "triad/cuda/elementwise.cuh"
#include "triad/cuda/fuse_attention.cuh"
#include "triad/cuda/gather.cuh"
#include "triad/cuda/graph_attention.cuh"
#include "triad/cuda/head_bias.cuh"
#include "triad/cuda/layer_norm.cuh"
#include "triad/cuda/log_step.cuh"
#include "triad/cuda/matmul.cuh"
#include "triad/cuda/pair_product.cuh"
#include "triad/cuda/pair_sum.cuh"
#include "triad/cuda/reduce.cuh"
#include "triad/cuda/relation_attention.cuh"
#include "triad/cuda/softmax.cuh"
#include "triad/cuda/tree_choice.cuh"
#include "triad/cuda/tree_loss.cuh"
#include "triad/cuda/tree_shift.cuh"
#include "triad/cuda/triangle.cuh"
#include "triad/cuda/triangle_step.cuh"
#include "triad/cuda/wide_matmul.cuh"

// Every hook that serves a cuda::backend; do_transform is not there, as its functions are anybody's.
// TRIAD_CUDA_KERNELS, for float, and TRIAD_CUDA_KERNELS_IN_DOUBLE, which few need, are `extern` in units that use
// compiled kernels, nothing in the unit that has them, and not defined where each unit compiles its own.
#if defined(TRIAD_CUDA_KERNELS)
#if defined(TRIAD_CUDA_KERNELS_IN_DOUBLE)
#define TRIAD_CUDA_KERNEL(hook)                                              \
  TRIAD_CUDA_KERNELS template decltype(cuda::hook<float>) cuda::hook<float>; \
  TRIAD_CUDA_KERNELS_IN_DOUBLE template decltype(cuda::hook<double>) cuda::hook<double>
#else
#define TRIAD_CUDA_KERNEL(hook) TRIAD_CUDA_KERNELS template decltype(cuda::hook<float>) cuda::hook<float>
#endif

namespace triad {

TRIAD_CUDA_KERNEL(do_adam);
TRIAD_CUDA_KERNEL(do_clip);
TRIAD_CUDA_KERNEL(do_arc_cross_entropy);
TRIAD_CUDA_KERNEL(do_best_arcs);
TRIAD_CUDA_KERNEL(do_attention_workspace);
TRIAD_CUDA_KERNEL(do_attention_grad_workspace);
TRIAD_CUDA_KERNEL(do_attention);
TRIAD_CUDA_KERNEL(do_attention_grad);
TRIAD_CUDA_KERNEL(do_cross_entropy);
TRIAD_CUDA_KERNEL(do_argmax_rows);
TRIAD_CUDA_KERNEL(do_dropout);
TRIAD_CUDA_KERNEL(do_fill);
TRIAD_CUDA_KERNEL(do_fuse_attention);
TRIAD_CUDA_KERNEL(do_fuse_attention_grad);
TRIAD_CUDA_KERNEL(do_gather_rows);
TRIAD_CUDA_KERNEL(do_scatter_add_rows_workspace);
TRIAD_CUDA_KERNEL(do_scatter_add_rows);
TRIAD_CUDA_KERNEL(do_graph_attention);
TRIAD_CUDA_KERNEL(do_graph_attention_grad);
TRIAD_CUDA_KERNEL(do_head_bias_add);
TRIAD_CUDA_KERNEL(do_head_bias_grad);
TRIAD_CUDA_KERNEL(do_layer_norm);
TRIAD_CUDA_KERNEL(do_layer_norm_grad_workspace);
TRIAD_CUDA_KERNEL(do_layer_norm_grad);
TRIAD_CUDA_KERNEL(do_log_step);
TRIAD_CUDA_KERNEL(do_matmul);
TRIAD_CUDA_KERNEL(do_batched_matmul);
TRIAD_CUDA_KERNEL(do_pair_product);
TRIAD_CUDA_KERNEL(do_pair_product_grad);
TRIAD_CUDA_KERNEL(do_pair_sum);
TRIAD_CUDA_KERNEL(do_pair_sum_grad);
TRIAD_CUDA_KERNEL(do_sum_workspace);
TRIAD_CUDA_KERNEL(do_sum);
TRIAD_CUDA_KERNEL(do_norm);
TRIAD_CUDA_KERNEL(do_column_sums_workspace);
TRIAD_CUDA_KERNEL(do_column_sums_add);
TRIAD_CUDA_KERNEL(do_relation_attention);
TRIAD_CUDA_KERNEL(do_relation_attention_grad);
TRIAD_CUDA_KERNEL(do_softmax);
TRIAD_CUDA_KERNEL(do_softmax_grad);
TRIAD_CUDA_KERNEL(do_tree_choice);
TRIAD_CUDA_KERNEL(do_tree_choice_grad);
TRIAD_CUDA_KERNEL(do_tree_loss);
TRIAD_CUDA_KERNEL(do_decode_rows);
TRIAD_CUDA_KERNEL(do_tree_shift);
TRIAD_CUDA_KERNEL(do_tree_shift_dots);
TRIAD_CUDA_KERNEL(do_tree_shift_grad);
TRIAD_CUDA_KERNEL(do_triangle_workspace);
TRIAD_CUDA_KERNEL(do_triangle_grad_workspace);
TRIAD_CUDA_KERNEL(do_triangle);
TRIAD_CUDA_KERNEL(do_triangle_grad);
TRIAD_CUDA_KERNEL(do_triangle_weights);
TRIAD_CUDA_KERNEL(do_triangle_step_workspace);
TRIAD_CUDA_KERNEL(do_triangle_step);
TRIAD_CUDA_KERNEL(do_wide_factor_workspace);
TRIAD_CUDA_KERNEL(do_wide_factor);
TRIAD_CUDA_KERNEL(do_wide_matmul_workspace);
TRIAD_CUDA_KERNEL(do_wide_matmul);
TRIAD_CUDA_KERNEL(do_wide_matmul_back);

}  // namespace triad
#undef TRIAD_CUDA_KERNEL
#endif
