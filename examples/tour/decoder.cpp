// Trains an encoder and a decoder to reverse sequences, and answers with greedy search and with beam search.  The
// layers of both read the states of all layers below (LRF).
// SPDX-License-Identifier: Apache-2.0
//
// Training takes seconds, but the task is not trivial: the first token of the answer is the last token of the question.
// Sequences have 3 to 6 tokens.  The program fails if fewer than 28 of 32 new sequences are reversed after training, or
// if all of them are reversed before training.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "triad/train/initialize.hpp"
#include "triad/triad.hpp"

using namespace triad;
using tokens = std::vector<index_t>;

int main() {
  // ---- 1.  The model.  Besides self-attention and the decoder's attention to the source, layers have a
  // fuse-attention, in which a token reads its own states after all layers below.  `.fused` selects the layers that
  // have one.  With 0, the model is a plain Transformer.
  index_t const end = 0, words = 8, batch = 32, longest = 7;  // tokens 1 to 7; `end` also begins a target
  cpu::backend ex;
  fused_transformer_options sizes;
  sizes.source_tokens = sizes.target_tokens = words;
  transformer_layer_options const layer{.width = 32, .heads = 4, .hidden = 64};
  sizes.encoder = sizes.decoder = {.layer = layer, .layers = 2, .fused = all_fused(2)};
  using model = fused_transformer<float>;

  // A trainer plans all its memory for the largest batch.  The capacity has the number of pairs, the numbers of tokens
  // in all sources and in all targets, and the lengths of the longest source and target.  All of them include end
  // tokens.  Token tables are initialised with the standard deviation that suits their scaling.
  trainer<model, cpu::backend>::options_type options;
  options.max_norm = 1;
  options.capacity = {batch, batch * longest, batch * longest, longest, longest};
  trainer<model, cpu::backend> learner(ex, model(sizes), options);
  initialize(learner.parameters(), 1, [](std::string const& path) {
    return path.ends_with("table") ? initializer::normal(0.18) : initializer::by_name();
  });

  // ---- 2.  The data.  A loader appends the end token to each source.  It also puts the end token before each target,
  // as the decoder's first input.
  pair_loader<cpu::backend, float> loader(options.capacity, layer.width, end, end);
  random_stream random(1, 0);
  auto const sequence = [&] {
    tokens s(3 + random.below(4));
    for (auto& t : s) t = 1 + random.below(7);
    return s;
  };
  auto const train = [&](int first, int last) {
    for (int step = first; step < last; ++step) {
      loader.clear();
      for (index_t b = 0; b < batch; ++b) {
        tokens const source = sequence();
        loader.add(source, tokens(source.rbegin(), source.rend()));
      }
      auto const [pairs, targets] = loader.upload();
      learner.update(pairs, targets, step < 100 ? 3e-5 * step : 3e-3 * (700 - step) / 600);
    }
  };

  // ---- 3.  Answers.  In training, the decoder read the right previous tokens.  Now it reads the tokens that it has
  // chosen.  A beam of 1 takes the likeliest token each time.  A beam of 5 keeps the five likeliest beginnings, so a
  // wrong first token can still be dropped.  This helps while the model is unsure, and takes five times as long.  Once
  // the model is sure, both beams give the same answer.  (A search with beam B ends when it has B finished hypotheses.
  // With eight words, the end token is often among the best three tokens even if it is wrong, so a beam of 3 would be
  // too small.)
  std::vector<tokens> sources;
  while (static_cast<index_t>(sources.size()) < batch) sources.push_back(sequence());
  auto const ask = [&](index_t beam) {
    beam_search_options search_for;
    search_for.beam = beam;
    search_for.longest = longest - 1;  // longest answer, in tokens; the decoder also reads the begin token
    search_for.begin = search_for.end = end;
    beam_search search(batch, words, search_for);
    fused_decoder<model, cpu::backend> decoder(ex, learner.model(), {options.capacity, search_for.beam, longest});
    loader.clear();
    for (auto const& source : sources) loader.add_source(source);
    decoder.find(learner.parameters().values(), loader.upload().first, search);
    index_t correct = 0;
    for (index_t s = 0; s < batch; ++s) {
      tokens const& source = sources[static_cast<std::size_t>(s)];
      correct += search.best(s).front().tokens == tokens(source.rbegin(), source.rend());
    }
    std::printf("loss %.4f, beam %d: %d of %d new sequences turned round\n", static_cast<double>(learner.loss()),
                static_cast<int>(beam), static_cast<int>(correct), static_cast<int>(batch));
    return correct;
  };
  train(0, 100);
  bool const unsure = ask(1) < batch && ask(5) < batch;
  train(100, 700);
  bool const learned = ask(1) >= batch - 4 && ask(5) >= batch - 4;
  return unsure && learned ? 0 : 1;
}
