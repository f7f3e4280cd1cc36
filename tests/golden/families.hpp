// The kinds of golden file that this build can check: one line for each family.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <tuple>

#include "attention.hpp"
#include "dependency_heads.hpp"
#include "edge_layer.hpp"
#include "edge_model.hpp"
#include "edge_seq2seq.hpp"
#include "fuse.hpp"
#include "fused_layer.hpp"
#include "fused_model.hpp"
#include "parser.hpp"
#include "relation.hpp"
#include "sentence_graphs.hpp"
#include "training.hpp"
#include "tree_machine.hpp"
#include "tree_machine_parts.hpp"
#include "tree_text.hpp"
#include "trees.hpp"
#include "update.hpp"

namespace triad::golden {

using families =
    std::tuple<tri_attn, tri_attn_flat, et_layer, et_clutrr, et_cogs, cogs_transformer, et_cfq, dep_heads,
               sentence_to_graph, rat, rrat, optim, clipping, sched, train_clutrr, dtm_tpr, dtm_DE, dtm_ops, dtm_data,
               dtm_interp, dtm_nta, dtm_full, train_dtm, lrf_fuse, lrf_enc_layer, lrf_dec_layer, lrf_model>;

namespace detail {
template <class F>
constexpr bool for_each_family(F&& f) {
  return [&]<class... Family>(std::tuple<Family...> const*) {
    return (f(static_cast<Family const*>(nullptr)) || ...);
  }(static_cast<families const*>(nullptr));
}
}  // namespace detail

constexpr bool is_built(std::string_view kind) {
  return detail::for_each_family([&]<class Family>(Family const*) { return Family::kind == kind; });
}

/// Runs the check for the file's kind with element type T, which must be that of the file.
template <class T, backend Ex>
void check_file_in(Ex& ex, golden_file const& file, report& r) {
  detail::for_each_family([&]<class Family>(Family const*) {
    if (Family::kind != file.kind) return false;
    Family::template check<T>(ex, file, r);
    return true;
  });
}

/// Runs the check for the file's kind with the element type of the file.
template <backend Ex>
void check_file(Ex& ex, golden_file const& file, report& r) {
  if (file.single())
    check_file_in<float>(ex, file, r);
  else
    check_file_in<double>(ex, file, r);
}

}  // namespace triad::golden
