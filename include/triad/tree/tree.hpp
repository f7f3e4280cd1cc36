// Includes the whole tree algebra: trees of symbols, roles, the three kinds of tensor trees and the operations on
// trees.  This folder depends on core/ only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/tree/algebra.hpp"
#include "triad/tree/binarise.hpp"
#include "triad/tree/bind.hpp"
#include "triad/tree/dense.hpp"
#include "triad/tree/explanation.hpp"
#include "triad/tree/gather.hpp"
#include "triad/tree/placement.hpp"
#include "triad/tree/program.hpp"
#include "triad/tree/program_trace.hpp"
#include "triad/tree/roles.hpp"
#include "triad/tree/s_expression.hpp"
#include "triad/tree/shift.hpp"
#include "triad/tree/sparse.hpp"
#include "triad/tree/symbol_algebra.hpp"
#include "triad/tree/tensor_tree.hpp"
#include "triad/tree/vocabulary.hpp"
