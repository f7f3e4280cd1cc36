// How golden files of one kind are checked.
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
// check() makes the model from the file's `config` and the shapes of the file's tensors. All sizes are dynamic. check()
// runs forward and backward, and passes every output, the loss and every gradient to the report. If an output, the loss
// or a gradient is not passed, the check fails. Errors in the data are thrown. families.hpp lists the families.
#pragma once

#include <string_view>

#include "golden_file.hpp"
#include "names.hpp"
#include "report.hpp"
#include "workbench.hpp"

namespace triad::golden {

/// Returns the sum of the elementwise products. The loss of a file with cotangents is the inner product of output and
/// cotangent.
inline double inner_product(std::vector<double> const& a, std::vector<double> const& b) {
  double total = 0;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) total += a[i] * b[i];
  return total;
}

}  // namespace triad::golden
