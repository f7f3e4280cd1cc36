// The code of docs/sequences.md: an encoder-decoder whose layers look back learns to turn sequences round.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "triad/train/initialize.hpp"
#include "triad/triad.hpp"

using namespace triad;
using tokens = std::vector<index_t>;

int main() {
  index_t const end = 0, words = 8, batch = 32, longest = 7;  // tokens 1 to 7, and the end, which also stands first
  cpu::backend ex;
  fused_transformer_options sizes;
  sizes.source_tokens = sizes.target_tokens = words;
  transformer_layer_options const layer{.width = 32, .heads = 4, .hidden = 64};
  sizes.encoder = sizes.decoder = {.layer = layer, .layers = 2, .fused = all_fused(2)};
  using model = fused_transformer<float>;

  trainer<model, cpu::backend>::options options;
  options.max_norm = 1;
  options.capacity = {batch, batch * longest, batch * longest, longest, longest};
  trainer<model, cpu::backend> learner(ex, model(sizes), options);
  initialize(learner.parameters().mutable_values(), 1, [](std::string const& path) {
    return path.ends_with("table") ? initializer::normal(0.18) : initializer::by_name();
  });

  pair_loader<cpu::backend, float> loader(options.capacity, layer.width, end, end);
  random_stream random(1, 0);
  auto const sequence = [&] {
    tokens s(3 + random.below(4));
    for (auto& t : s) t = 1 + random.below(7);
    return s;
  };
  for (int step = 0; step < 2000; ++step) {
    loader.clear();
    for (index_t b = 0; b < batch; ++b) {
      tokens const source = sequence();
      loader.add(source, tokens(source.rbegin(), source.rend()));
    }
    auto const [pairs, right] = loader.upload();
    learner.update(pairs, right, step < 100 ? 3e-5 * step : 3e-3 * (2000 - step) / 1900);
  }

  beam_search_options search_for;
  search_for.beam = 3;
  search_for.longest = longest - 1;
  search_for.begin = search_for.end = end;
  beam_search search(batch, words, search_for);
  fused_decoder<model, cpu::backend> decoder(ex, learner.model(), {options.capacity, search_for.beam, longest});
  std::vector<tokens> sources;
  loader.clear();
  while (static_cast<index_t>(sources.size()) < batch) {
    sources.push_back(sequence());
    loader.add_source(sources.back());
  }
  decoder.find(learner.parameters().values(), loader.upload().first, search);

  index_t right = 0;
  for (index_t s = 0; s < batch; ++s) {
    tokens const& source = sources[static_cast<std::size_t>(s)];
    right += search.best(s).front().tokens == tokens(source.rbegin(), source.rend());
  }
  std::printf("%d of %d new sequences turned round, loss %.4f\n", static_cast<int>(right), static_cast<int>(batch),
              static_cast<double>(learner.loss()));
  return right < batch - 4;
}
