// Everything but io (JSON is slow to compile) and cuda: core, operations, backends reference and cpu, trees, layers, models, training.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cpu/cpu.hpp"
#include "triad/layers/chain.hpp"
#include "triad/layers/dropout.hpp"
#include "triad/layers/repeat.hpp"
#include "triad/layers/residual.hpp"
#include "triad/layers/transformer_layer.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/models/graph_loader.hpp"
#include "triad/models/pair_loader.hpp"
#include "triad/models/relation_transformer.hpp"
#include "triad/models/tree_loader.hpp"
#include "triad/models/tree_machine.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/gradient_check.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/metrics.hpp"
#include "triad/train/schedule.hpp"
#include "triad/train/trainer.hpp"
#include "triad/tree/tree.hpp"
#include "triad/version.hpp"
