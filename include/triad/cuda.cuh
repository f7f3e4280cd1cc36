// The CUDA backend: every operation, for nvcc.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cuda/adam.cuh"
#include "triad/cuda/arc_cross_entropy.cuh"
#include "triad/cuda/attention.cuh"
#include "triad/cuda/backend.cuh"
#include "triad/cuda/cross_entropy.cuh"
#include "triad/cuda/dropout.cuh"
#include "triad/cuda/elementwise.cuh"
#include "triad/cuda/gather.cuh"
#include "triad/cuda/history.cuh"
#include "triad/cuda/layer_norm.cuh"
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
