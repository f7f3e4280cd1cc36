// Every network of the library is a model, and what is no network is none.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/dependency_parser.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/models/edge_transformer_parser.hpp"
#include "triad/models/edge_transformer_seq2seq.hpp"
#include "triad/models/fused_transformer.hpp"
#include "triad/models/relation_transformer.hpp"
#include "triad/models/roberta.hpp"
#include "triad/models/transformer_parser.hpp"
#include "triad/models/tree_machine.hpp"
#include "triad/train/model.hpp"

namespace triad {
static_assert(model<edge_transformer<float>>);
static_assert(model<edge_transformer<double, 8, 2, 16>>);
static_assert(model<relation_aware_transformer<float>>);
static_assert(model<relation_updating_transformer<float>>);
static_assert(model<edge_transformer_parser<float>>);
static_assert(model<transformer_parser<float>>);
static_assert(model<edge_transformer_seq2seq<float>>);
static_assert(model<fused_transformer<float>>);
static_assert(model<roberta_transformer<float>>);
static_assert(model<edge_dependency_parser<float>>);
static_assert(model<biaffine_dependency_parser<float>>);
static_assert(model<tree_machine<float>>);
static_assert(!model<linear<float>>);
static_assert(!model<int>);
}  // namespace triad
