// Reads a trained model.
// SPDX-License-Identifier: Apache-2.0
#include "trained.hpp"

#include "../common/run_folder.hpp"
#include "record.hpp"

namespace clutrr {

trained load_trained(std::string const& folder, options o, int max_nodes, bool keeps) {
  auto const path = triad::examples::checkpoint_of(folder);
  auto const file = triad::examples::open_checkpoint(path);
  auto words = vocabulary_of(file);
  o = shaped_as(file, std::move(o));
  network_options const sizes{
      words.embedding_rows(), static_cast<int>(words.targets.size()), keeps ? 1 : 64, max_nodes, max_nodes, keeps};
  auto net = make_network(o, sizes);
  net->load(path, record_of(o, words));
  return {std::move(words), std::move(o), std::move(net)};
}

}  // namespace clutrr
