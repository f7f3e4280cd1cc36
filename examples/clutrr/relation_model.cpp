// The paper's relation-aware baselines as networks of this program.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/errors.hpp"
#include "network_on.hpp"

namespace clutrr {

std::unique_ptr<network> make_relation_model(options const&, network_sizes const&) {
  throw triad::data_error("the relation-aware baselines are not built yet");
}

}  // namespace clutrr
