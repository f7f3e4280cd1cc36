// Times training steps of the Transformer and of LRF, and decoding by beam search.  Decoding has two methods: with
// caches, and with passes over all tokens.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "run_training.hpp"
#include "seq2seq_task.hpp"
#include "triad/decoding/fused_decoder.hpp"

namespace bench {
namespace {

constexpr index_t beam = 5, longest = 50;

/// A model with random parameters, and sentences to translate.  Every hypothesis is extended to `longest` tokens.
class translating {
 public:
  using model_type = triad::fused_transformer<float>;

  explicit translating(seq2seq_task const& task, index_t width = beam)
      : beam_(width),
        room_(dims(task)),
        model_(task.model<float>()),
        parameters_(model_, triad::holding::values),
        loader_(room_, task.width, task.end, task.end),
        search_(task.sentences, task.words, options(width)),
        decoder_(machine(), model_, {room_, width, longest + 1}) {
    triad::initialize(parameters_, 3);
    triad::random_stream random(5, 0);
    for (index_t b = 0; b < task.sentences; ++b) {
      auto const source = random_sentence(random, task.length, task.words);
      loader_.add_source(source);
      for (index_t h = 0; h < beam_; ++h) sources_.push_back(source);
    }
    in_ = loader_.upload().first;
  }
  translating(translating const&) = delete;
  translating& operator=(translating const&) = delete;

  void with_caches() {
    search_.restart(in_.sizes.pairs);
    decoder_.find(parameters_.values(), in_, search_);
  }
  /// Decodes with a pass of the decoder over all tokens of all hypotheses in each step.  The encoder runs once.
  void by_passes() {
    search_.restart(in_.sizes.pairs);
    index_t const count = search_.rows(), v = model_.vocabulary(), source_rows = in_.sizes.source_rows * beam_;
    triad::pair_dims const most{count, source_rows, count * (longest + 1), in_.sizes.longest_source, longest + 1};
    triad::pair_loader<triad::cpu::backend, float> loader(most, model_.width(), seq2seq_task::end, seq2seq_task::end);
    auto const plan = [&](triad::arena& a, triad::pair_dims const& z) {
      return model_.plan_saved(a, z, triad::keep::nothing);
    };
    triad::buffer<> const saved(triad::planned_bytes([&](triad::arena& a) { (void)plan(a, most); }));
    triad::buffer<> const logits(triad::planned_bytes([&](triad::arena& a) { (void)model_.plan_output(a, most); }));
    triad::buffer<> const scratch(triad::planned_scratch(machine(), {}, [&](auto& dry, triad::call const& c) {
      triad::arena none, nothing;
      model_.forward(dry, c, parameters_.values(), model_.measured_input(most), plan(none, most),
                     model_.plan_output(nothing, most));
    }));
    std::vector<std::vector<index_t>> generated(static_cast<std::size_t>(count));
    std::vector<float> last(static_cast<std::size_t>(count * v));
    auto const w = parameters_.values();
    while (!search_.done()) {
      std::vector<std::vector<index_t>> now;
      loader.clear();
      for (index_t h = 0; h < count; ++h) {
        auto const at = static_cast<std::size_t>(h);
        now.push_back(generated[static_cast<std::size_t>(search_.parents()[at])]);
        if (search_.step() > 0) now.back().push_back(search_.last_tokens()[at]);
        loader.add(sources_[at], now.back());
      }
      generated = now;
      auto const in = loader.upload().first;
      auto saved_at = saved.place(), logits_at = logits.place(), scratch_at = scratch.place();
      triad::call c;
      c.scratch = &scratch_at;
      auto const s = plan(saved_at, in.sizes);
      auto const all = model_.plan_output(logits_at, in.sizes);
      if (search_.step() == 0)
        model_.encode(machine(), c, w, in, s.encoder);  // later plans have the same memory, so the sources stay
      model_.decode(machine(), c, w, in, triad::tensor<float const, triad::dyn, triad::dyn>(s.encoder.y()), s.decoder,
                    all);
      for (index_t h = 0; h < count; ++h)
        std::copy_n(&all(in.target.begin(h) + in.target.size(h) - 1, 0), v, last.data() + h * v);
      search_.advance(triad::make_matrix<float const>(last.data(), count, v, v));
    }
  }
  /// Returns the hypotheses of the last search.
  std::vector<triad::hypothesis> found(index_t sentence) const { return search_.best(sentence); }
  std::size_t bytes() const { return decoder_.bytes(); }

 private:
  static triad::pair_dims dims(seq2seq_task const& task) {
    return {task.sentences, task.tokens(), 0, std::max(task.length, longest + 1), longest + 1};
  }
  static triad::beam_search_options options(index_t width) {
    triad::beam_search_options o;
    o.beam = width;
    o.longest = o.shortest = longest;
    o.begin = o.end = seq2seq_task::end;
    o.forbidden = {0, 1};
    return o;
  }

  index_t beam_;
  triad::pair_dims room_;
  model_type model_;
  triad::parameter_set<model_type, triad::cpu::backend> parameters_;
  triad::pair_loader<triad::cpu::backend, float> loader_;
  triad::beam_search search_;
  triad::fused_decoder<model_type, triad::cpu::backend> decoder_;
  triad::pair_batch<float> in_;
  std::vector<std::vector<index_t>> sources_;  // the source of each hypothesis
};

/// Checks that both methods of decoding find the same hypotheses.
verdict check_translating(seq2seq_task const& task) {
  translating t(task);
  t.with_caches();
  std::vector<std::vector<triad::hypothesis>> cached;
  for (index_t s = 0; s < task.sentences; ++s) cached.push_back(t.found(s));
  t.by_passes();
  for (index_t s = 0; s < task.sentences; ++s) {
    auto const passes = t.found(s);
    for (std::size_t i = 0; i < passes.size(); ++i)
      if (passes[i].tokens != cached[static_cast<std::size_t>(s)][i].tokens)
        return "sentence " + std::to_string(s) + " is translated otherwise with caches than without";
  }
  return std::nullopt;
}

void run_decoding(benchmark::State& state, std::string const& name, seq2seq_task const& task, index_t width,
                  bool cached) {
  if (!may_time(state, name, std::size_t{1} << 30, [&] { return check_translating(task.small()); })) return;
  translating t(task, width);
  double const seconds = time_work(state, {.model = {}, .total = t.bytes(), .floor = false, .warm = cached},
                                   [&] { cached ? t.with_caches() : t.by_passes(); });
  state.counters["tokens/s"] = static_cast<double>(task.sentences * longest) / seconds;
}

[[maybe_unused]] bool const registered = [] {
  auto const add = [](std::string const& name, auto f) {
    benchmark::RegisterBenchmark(name.c_str(), f)->Unit(benchmark::kMillisecond);
  };
  struct {
    index_t sentences, length, layers, width, hidden, heads, words;
  } const shapes[] = {{32, 20, 6, 512, 1024, 4, 5500}, {32, 20, 6, 512, 2048, 4, 5500}, {128, 20, 3, 128, 512, 4, 60}};
  for (auto const& z : shapes)
    for (bool const fused : {false, true}) {
      seq2seq_task t;
      t.sentences = z.sentences, t.length = z.length, t.layers = z.layers, t.width = z.width, t.hidden = z.hidden,
      t.heads = z.heads, t.words = z.words;
      t.fused = fused;
      register_training(fused ? "lrf_step" : "transformer_step", t.name(), t, t.small());
    }
  for (bool const fused : {false, true}) {
    seq2seq_task t;
    t.sentences = 16;
    t.fused = fused;
    std::string const name = fused ? "lrf_decoding" : "transformer_decoding";
    auto const rest = name_of({{"beam", beam}, {"t", longest}}) + t.name();
    add(name + rest, [=](benchmark::State& state) { run_decoding(state, name, t, beam, true); });
    add(name + "_by_passes" + rest,
        [=](benchmark::State& state) { run_decoding(state, name + "_by_passes", t, beam, false); });
    seq2seq_task one = t;
    one.sentences = 1;
    auto const alone = name_of({{"beam", beam}, {"t", longest}}) + one.name();
    add(name + alone, [=](benchmark::State& state) { run_decoding(state, name, one, beam, true); });
    add(name + "_by_passes" + alone,
        [=](benchmark::State& state) { run_decoding(state, name + "_by_passes", one, beam, false); });
  }
  return true;
}();

}  // namespace
}  // namespace bench
