// How a kind of golden file is checked.
// SPDX-License-Identifier: Apache-2.0
//
// A family is a struct for one kind:
//
//   struct tri_attn {
//     static constexpr std::string_view kind = "tri_attn";
//     template <class T, backend Ex>                                   // T: double for f64 files, float for f32 files
//     static void check(Ex&, golden_file const&, report&);
//   };
//
// check builds the model from the file's `config` and the shapes of its tensors, with all sizes dynamic. It runs
// forward and backward, and passes every output, the loss and every gradient to the report; an omitted one is a
// failure. Data errors are thrown. families.hpp lists the families.
#pragma once

#include <string_view>

#include "golden_file.hpp"
#include "names.hpp"
#include "report.hpp"
#include "workbench.hpp"

namespace triad::golden {

/// The sum of out * cotangent: the loss of files that contain cotangents.
inline double inner_product(std::vector<double> const& a, std::vector<double> const& b) {
  double total = 0;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) total += a[i] * b[i];
  return total;
}

}  // namespace triad::golden
