// Tests the concept of a model. Every model of the library satisfies the concept, and a type without one of the members
// does not.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/model.hpp"

#include "triad/models/dependency_parser.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/models/edge_transformer_parser.hpp"
#include "triad/models/edge_transformer_seq2seq.hpp"
#include "triad/models/fused_transformer.hpp"
#include "triad/models/graph_attention_network.hpp"
#include "triad/models/relation_transformer.hpp"
#include "triad/models/roberta.hpp"
#include "triad/models/transformer_parser.hpp"
#include "triad/models/tree_machine.hpp"

namespace triad {
static_assert(model<edge_transformer<float>>);
static_assert(model<edge_transformer<double, 8, 2, 16>>);
static_assert(model<relation_aware_transformer<float>>);
static_assert(model<relation_updating_transformer<float>>);
static_assert(model<graph_attention_network<float>>);
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

// The member that a type does not have. With `nothing`, the type is a model.
enum class lacking { nothing, parameters, saved, output, measured };
template <lacking L>
struct some_model {
  using value_type = float;
  using input = vec<float const>;
  using output = vec<float>;
  using answers = vec<index_t const>;
  template <class S>
  struct fields {
    template <class F>
    void each(F&&) {}
  };
  struct saved {};
  template <class S = float>
  fields<S> plan_params(arena&) const
    requires(L != lacking::parameters);
  saved plan_saved(arena&, graph_dims const&, keep) const
    requires(L != lacking::saved);
  output plan_output(arena&, graph_dims const&) const
    requires(L != lacking::output);
  input measured_input(graph_dims const&) const;
  vec<index_t const> measured_answers(graph_dims const&) const
    requires(L != lacking::measured);
};
static_assert(model<some_model<lacking::nothing>>);
static_assert(!model<some_model<lacking::parameters>>);
static_assert(!model<some_model<lacking::saved>>);
static_assert(!model<some_model<lacking::output>>);
static_assert(!model<some_model<lacking::measured>>);
}  // namespace triad
