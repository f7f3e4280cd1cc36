// All operations of the reference backend.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/reference/adam.hpp"
#include "triad/reference/arc_cross_entropy.hpp"
#include "triad/reference/attention.hpp"
#include "triad/reference/cross_entropy.hpp"
#include "triad/reference/dropout.hpp"
#include "triad/reference/fuse_attention.hpp"
#include "triad/reference/elementwise.hpp"
#include "triad/reference/gather.hpp"
#include "triad/reference/history.hpp"
#include "triad/reference/layer_norm.hpp"
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
