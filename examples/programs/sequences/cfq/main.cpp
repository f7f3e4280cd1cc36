// The program cfq-sequences, which translates a question of CFQ into the query that answers it.
// SPDX-License-Identifier: Apache-2.0
#include "data.hpp"
#include "shared/cli/verbs.hpp"

int main(int argc, char** argv) {
  using namespace triad::programs;
  return run_program<cfq_sequences::options>(
      "cfq-sequences",
      "CFQ: from a question to the query that answers it.  An Edge Transformer, a Transformer whose layers read all "
      "earlier layers, or a plain one, learns it, and is tested on questions whose parts are known and whose "
      "compounds are not.",
      [](cfq_sequences::options& o) { return cfq_sequences::verbs_of(o); }, argc, argv,
      "examples/programs/cfq/README.md");
}
