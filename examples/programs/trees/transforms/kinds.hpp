// The four tasks of Basic Sentence Transforms, and the paper's training options.
// SPDX-License-Identifier: Apache-2.0
//
//   car-cdr-seq              ( C..R ... )          -> the subtree that C..R selects
//   active-logical           an active sentence   <-> its logical form
//   passive-logical          a passive sentence   <-> its logical form
//   active-passive-logical   either of them        -> its logical form
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "shared/report/refuse.hpp"

namespace triad::programs::transforms {

// The number of steps is 2 (X + 2), where X is the smallest number of steps that suffices for the task.  Appendix D.1
// gives two choices; this is the larger.  The README of the released program has the numbers of all four tasks.  The
// paper's text has only one of them, the 28 steps of passive-logical (section 4.3).  For passive-logical, the notes of
// appendix D.1 give a batch of 8, and the released command has 16.  The numbers of sections and appendices are those of
// the version for the ICML workshop Differentiable Almost Everything.  They differ in the conference version.

enum class kind { car_cdr_seq, active_logical, passive_logical, active_passive_logical };

struct kind_facts {
  kind which;
  char const* name;
  bool both_ways;  // half of the rows have the logical form as source
  int steps;       // number of steps in the paper's machine
  int batch;
};

inline constexpr std::array<kind_facts, 4> kinds{
    {{kind::car_cdr_seq, "car-cdr-seq", false, 12, 16},
     {kind::active_logical, "active-logical", true, 16, 16},
     {kind::passive_logical, "passive-logical", true, 28, 8},
     {kind::active_passive_logical, "active-passive-logical", false, 20, 16}}};

inline constexpr kind_facts const& facts_of(kind k) { return kinds[static_cast<std::size_t>(k)]; }

inline kind_facts const& facts_of(std::string const& name) {
  std::string names;
  for (auto const& facts : kinds) {
    if (facts.name == name) return facts;
    names += (names.empty() ? "" : ", ") + std::string(facts.name);
  }
  refuse("there is no task '{}': it is one of {}", name, names);
}

}  // namespace triad::programs::transforms
