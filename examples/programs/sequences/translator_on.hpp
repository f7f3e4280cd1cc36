// A translator that combines a triad model with a backend.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "frozen_sources.hpp"
#include "models.hpp"
#include "options.hpp"
#include "shared/backend/memory_size.hpp"
#include "shared/report/refuse.hpp"
#include "shared/run/learner_on.hpp"
#include "translator.hpp"
#include "triad/decoding/beam_search.hpp"
#include "triad/io/encoder.hpp"
#include "triad/models/roberta.hpp"

namespace triad::programs::sequences {

template <class Model, class Ex>
class translator_on final : public learner_on<translator_on<Model, Ex>, translator, Model, Ex> {
  using base = learner_on<translator_on<Model, Ex>, translator, Model, Ex>;
  using base::ex_, base::trainer_;
  using parts = parts_of<Model>;
  using T = typename Model::value_type;

 public:
  translator_on(Ex ex, Model const& m, options const& o, translator_options const& z)
      : base(std::move(ex), m, settings(o, z)), encoder_(o.encoder), sizes_(z), loader_(parts::make_loader(ex_, m, z)) {
    if (z.sentences > 0) (void)decoder(o.beam);
    if constexpr (can_freeze)
      if (m.frozen)
        frozen_.emplace(ex_, m, parts::make_loader(ex_, m, z), parts::template padded_capacity<Ex>(z),
                        bytes_of(o.encoder_cache, "--encoder-cache"));
  }

  static auto settings(options const& o, translator_options const& z) {
    typename trainer<Model, Ex>::options_type s;
    s.adam = {.beta2 = parts::beta2, .weight_decay = o.decay, .decoupled = true};
    s.max_norm = o.clip;
    s.key = o.seed;
    s.memory = kept_of_pass(z.what != use::translating, o.recompute && z.what == use::learning);
    s.capacity = z.what == use::learning ? parts::template padded_capacity<Ex>(z) : parts::capacity(z);
    s.shares = o.shares;
    return s;
  }
  initializer first_values(std::string const& path) const { return first_values_of(trainer_.model(), path); }

  /// Sets the initial values.  A published encoder starts with its published parameters.
  void initialize(std::uint64_t seed) override {
    base::initialize(seed);
    if constexpr (has_published_encoder<Model>) load_encoder(encoder_, trainer_.parameters());
    if_frozen([](auto& sources) { sources.forget(); });
  }
  std::string load(checkpoint const& file, run_record const& record) override {
    if_frozen([](auto& sources) { sources.forget(); });
    return base::load(file, record);
  }

  /// The largest number of bytes in memory at any time.  Only one decoder exists at a time, so only the largest decoder
  /// counts.
  trainer_bytes bytes() const override {
    auto all = base::bytes();
    all.saved += decoder_bytes_;
    return all;
  }

  /// Returns bytes() for a run of one process, before anything is allocated.  With several processes, each process
  /// needs less memory.  The returned number is not reduced, because batches must not depend on the number of
  /// processes.
  static std::size_t planned_bytes(Ex& ex, Model const& m, options const& o, translator_options const& z) {
    std::size_t search = 0;
    if (z.sentences > 0)
      for (int const beam : {1, o.beam}) search = std::max(search, decoder_type::planned(ex, m, parts::room(z, beam)));
    return trainer<Model, Ex>::plan(ex, m, settings(o, z)).total() + search;
  }

  index_t tokens() const override { return sizes_.tokens; }
  state_memory states_of(index_t rows) const override {
    state_memory found;
    if_frozen([&](auto& sources) { found = sources.memory_of_rows(rows); });
    return found;
  }
  std::int64_t encoded_sources() const override {
    std::int64_t found = 0;
    if_frozen([&](auto& sources) { found = sources.encoded(); });
    return found;
  }
  void clear() override {
    loader_.clear();
    if_frozen([](auto& sources) { sources.clear(); });
  }
  bool add(std::span<index_t const> source, std::span<index_t const> target) override {
    if (!loader_.has_room(length(source), length(target))) return false;
    loader_.add(source, target);
    if_frozen([&](auto& sources) { sources.add(source); });
    return true;
  }
  bool add(std::span<index_t const> source) override {
    auto const sentences = loader_.dims().pairs;
    if (sentences == sizes_.sentences || !loader_.has_room(length(source))) return false;
    loader_.add_source(source);
    lengths_.resize(static_cast<std::size_t>(sentences));
    lengths_.push_back(length(source));
    return true;
  }
  /// Uploads the batch for training.
  auto upload() {
    auto batch = loader_.upload_padded();
    if_frozen([&](auto& sources) { sources.give(trainer_, batch.first); });
    return batch;
  }

  double loss() override {
    auto const [in, targets] = loader_.upload();
    auto const logits = trainer_.infer(in);
    auto const next = host(targets.next.data_handle(), targets.next.extent(0));
    auto const values =
        // Copies all logits in one call, so that the host waits for the device only once.
        host(logits.data_handle(), logits.extent(0) * logits.extent(1));
    double sum = 0;
    auto row = values.begin();
    for (auto const right_one : next) {
      auto const end = row + logits.extent(1);
      double const most = *std::max_element(row, end);
      double total = 0;
      for (auto x = row; x != end; ++x) total += std::exp(*x - most);
      sum += most + std::log(total) - static_cast<double>(row[right_one]);
      row = end;
    }
    return sum / static_cast<double>(next.size());
  }

  std::vector<std::vector<hypothesis>> const& translate(search const& how) override {
    auto const in = loader_.upload().first;
    auto const longest = [&](index_t tokens) {
      return how.longest + static_cast<index_t>(how.longest_factor * static_cast<double>(tokens));
    };
    beam_search search(in.sizes.pairs, trainer_.model().vocabulary(),
                       {.beam = how.beam,
                        .length_penalty = how.length_penalty,
                        .n_best = how.n_best,
                        .longest = longest(*std::max_element(lengths_.begin(), lengths_.end())),
                        .shortest = 1,
                        .begin = dictionary::end,
                        .end = dictionary::end,
                        .forbidden = {dictionary::begin, dictionary::padding}});
    for (index_t s = 0; s < in.sizes.pairs; ++s) search.limit(s, longest(lengths_[static_cast<std::size_t>(s)]));
    decoder(how.beam).find(trainer_.parameters().values(), in, search);
    found_.clear();
    for (index_t s = 0; s < in.sizes.pairs; ++s) found_.push_back(search.best(s));
    return found_;
  }

  layer_weights read_weights() override {
    if constexpr (requires(Model const& m) { m.encoder.fused; }) return fuse_weights();
    return {};
  }
  layer_reads reads() override {
    if constexpr (requires(Model const& m) { m.encoder.fused; }) {
      auto const kept = trainer_.saved(loader_.upload().first.dims());
      auto const& m = trainer_.model();
      return {reads_of(m.encoder, kept.encoder), reads_of(m.decoder, kept.decoder)};
    }
    return {};
  }
  pair_attention attention() override {
    if constexpr (requires(Model const& m) { m.encoder.fused; }) {
      expect_explaining();
      auto const in = loader_.upload().first;
      TRIAD_EXPECTS(in.sizes.pairs == 1, "translator: attention is shown for one pair at a time");
      (void)trainer_.infer(in);
      auto const kept = trainer_.saved(in.dims());
      auto const& m = trainer_.model();
      return attention_of(m.encoder, kept.encoder, m.decoder, kept.decoder,
                          [&](auto* values, index_t n) { return host(values, n); });
    }
    return {};
  }

 private:
  using decoder_type = typename parts::template decoder<Ex>;

  void expect_explaining() const {
    TRIAD_EXPECTS(sizes_.what == use::explaining,
                  "translator: only one that was made to explain keeps what its layers read");
  }
  layer_weights fuse_weights() {
    expect_explaining();
    auto const in = loader_.upload().first;
    (void)trainer_.infer(in);
    auto const kept = trainer_.saved(in.dims());
    auto const& m = trainer_.model();
    return {weights_of(m.encoder, kept.encoder), weights_of(m.decoder, kept.decoder)};
  }

  /// Returns the decoder for a beam.  The constructor makes the first decoder, so that a lack of memory is reported
  /// before anything is computed.  Another beam needs another decoder.  Checkpoints are scored by greedy search, and
  /// the final weights with the beam of the options.
  decoder_type& decoder(int beam) {
    if (!decoder_ || beam != beam_) {
      decoder_.reset();  // there may not be enough memory for both
      decoder_ = std::make_unique<decoder_type>(ex_, trainer_.model(), parts::room(sizes_, beam));
      beam_ = beam;
      decoder_bytes_ = std::max(decoder_bytes_, decoder_->bytes());
    }
    return *decoder_;
  }

  static index_t length(std::span<index_t const> tokens) { return static_cast<index_t>(tokens.size()); }

  /// Copies n values from the backend's memory.
  template <class S>
  std::vector<std::remove_const_t<S>> host(S* values, index_t n) const {
    std::vector<std::remove_const_t<S>> copy(static_cast<std::size_t>(n));
    trainer_.parameters().where().to_host(copy.data(), values, copy.size() * sizeof(S));
    return copy;
  }

  template <class Stack>
  std::vector<std::vector<float>> reads_of(Stack const& stack, typename Stack::saved const& kept) const {
    std::vector<std::vector<float>> all;
    for (index_t k = 0; k < stack.count && stack.fused != 0; ++k) {
      auto& values = all.emplace_back();
      if ((stack.fused >> k & 1) == 0) continue;
      auto const weights = kept.at(k).fuse.branch.weights;  // (rows, heads (k + 1))
      values = host(weights.data_handle(), static_cast<index_t>(weights.size()));
    }
    return all;
  }

  /// Returns the mean weights of each layer.  A layer without fuse-attention has weight 1 for the layer below.  If no
  /// layer has fuse-attention, returns no weights.
  template <class Stack>
  std::vector<std::vector<double>> weights_of(Stack const& stack, typename Stack::saved const& kept) const {
    std::vector<std::vector<double>> all;
    for (auto const& values : reads_of(stack, kept)) {
      std::vector<double> mean(all.size() + 1, 0);
      if (values.empty()) {
        mean.back() = 1;
      } else {
        for (std::size_t i = 0; i < values.size(); ++i) mean[i % mean.size()] += static_cast<double>(values[i]);
        for (auto& m : mean) m *= static_cast<double>(mean.size()) / static_cast<double>(values.size());
      }
      all.push_back(std::move(mean));
    }
    return all;
  }

  static constexpr bool can_freeze = has_published_encoder<Model>;
  /// Calls f(sources) if the encoder is frozen.
  template <class F>
  void if_frozen(F&& f) {
    if constexpr (can_freeze)
      if (frozen_) f(*frozen_);
  }
  template <class F>
  void if_frozen(F&& f) const {
    if constexpr (can_freeze)
      if (frozen_) f(*frozen_);
  }

  std::string encoder_;
  translator_options sizes_;
  typename parts::template loader<Ex> loader_;
  std::conditional_t<can_freeze, std::optional<frozen_sources<Model, Ex>>, std::nullopt_t> frozen_{std::nullopt};
  std::vector<index_t> lengths_;  // lengths of the sources without targets
  std::unique_ptr<decoder_type> decoder_;
  int beam_ = 0;
  std::size_t decoder_bytes_ = 0;
  std::vector<std::vector<hypothesis>> found_;
};

/// Returns `z` with the largest number of tokens, at most z.tokens, whose batches fit into the memory o.memory.  Throws
/// data_error if not even one pair fits.
template <class Translator, class Ex, class Model>
translator_options sizes_within(Ex& ex, Model const& m, options const& o, translator_options z) {
  if (o.memory.empty() || z.what != use::learning) return z;
  auto const bytes = [&](index_t tokens) {
    auto fewer = z;
    fewer.tokens = tokens;
    return planning_alike(ex, [&](Ex& planner) { return Translator::planned_bytes(planner, m, o, fewer); });
  };
  z.tokens = largest_within(bytes_of(o.memory, "--memory"), z.tokens, bytes);
  if (z.tokens == 0)
    refuse(
        "--memory {} is too little: a batch of one pair, and search, need {}; give as much, or {}a smaller --beam or "
        "--max-length, or a smaller model",
        o.memory, told_size(bytes(1)), o.recompute ? "" : "--recompute, ");
  return z;
}

template <class Ex>
std::unique_ptr<translator> translator::make(Ex ex, options const& o, room const& z) {
  auto const made_of = [&](auto const& m) -> std::unique_ptr<translator> {
    using made = translator_on<std::remove_cvref_t<decltype(m)>, Ex>;
    auto const sizes = sizes_within<made>(ex, m, o, z);
    return std::make_unique<made>(std::move(ex), m, o, sizes);
  };
  if (of_edges(o)) return made_of(edge_transformer_seq2seq<float>(edge_model_of(o, z)));
  if (o.published) return made_of(encoder_under_decoder<float>(*o.published, model_of(o, z)));
  return made_of(fused_transformer<float>(model_of(o, z)));
}

}  // namespace triad::programs::sequences
