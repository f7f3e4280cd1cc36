// All kinds of golden file, even if this build cannot check them. No program was released for LRF (lrf_...) and for the
// heads of dependency parsers (dep_heads), so their files were made by models that were written after the papers. The
// model of sentence_to_graph is ours, so its files were made by a program that was written from its formulas.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace triad::golden {

inline constexpr std::string_view known_kinds[] = {
    "tri_attn", "tri_attn_flat", "et_layer",          "et_clutrr", "et_cogs",  "cogs_transformer",
    "et_cfq",   "dep_heads",     "sentence_to_graph", "rat",       "rrat",     "dtm_tpr",
    "dtm_DE",   "dtm_ops",       "dtm_interp",        "dtm_nta",   "dtm_full", "dtm_data",
    "lrf_fuse", "lrf_enc_layer", "lrf_dec_layer",     "lrf_model", "optim",    "clip",
    "sched",    "train_clutrr",  "train_dtm"};

constexpr bool is_known(std::string_view kind) {
  return std::find(std::begin(known_kinds), std::end(known_kinds), kind) != std::end(known_kinds);
}

}  // namespace triad::golden
