// All operations of the cpu backend: what is faster here than the reference, and the reference for the rest.
// SPDX-License-Identifier: Apache-2.0
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
