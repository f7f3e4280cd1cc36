// Times decoding with the encoder-decoder Edge Transformer by two methods. The first method computes only new edges.
// The second method makes a causal pass over all tokens in each step.
// SPDX-License-Identifier: Apache-2.0
#include "triad/decoding/edge_decoder.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "cfq_tasks.hpp"
#include "session.hpp"
#include "triad/batches/edge_pair_loader.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/parameters.hpp"

namespace bench {
namespace {

/// Decodes until every hypothesis has `target` tokens, including the begin token.
struct edge_decoding_task : edge_pair_task {
  index_t beam = 1;

  std::string name() const { return name_of({{"beam", beam}}) + edge_pair_task::name(); }
  triad::beam_search_options options() const {
    triad::beam_search_options o;
    o.beam = beam;
    o.longest = o.shortest = target - 1;
    o.begin = begin;
    o.end = end;
    o.forbidden = {0, 1};
    return o;
  }
  edge_decoding_task small() const { return {edge_pair_task::small(), beam}; }
};

class edge_translating {
 public:
  using model_type = triad::edge_transformer_seq2seq<float>;
  using loader_type = triad::edge_pair_loader<triad::cpu::backend, float>;

  explicit edge_translating(edge_decoding_task const& task)
      : task_(task),
        model_(task.model<float>()),
        parameters_(model_, triad::holding::values),
        loader_(task.dims(1, 0), model_.layout, task.width, task.begin, task.end),
        search_(task.sentences, task.words, task.options()),
        decoder_(machine(), model_, {task.dims(1, 0), task.beam, task.target}) {
    triad::initialize(parameters_, 3);
    triad::random_stream random(5, 0);
    for (index_t b = 0; b < task.sentences; ++b) {
      auto const source = random_sentence(random, task.source, task.words);
      loader_.add_source(source);
      for (index_t h = 0; h < task.beam; ++h) sources_.push_back(source);
    }
    in_ = loader_.upload().first;
  }
  edge_translating(edge_translating const&) = delete;
  edge_translating& operator=(edge_translating const&) = delete;

  void by_edges() {
    search_.restart(task_.sentences);
    decoder_.find(parameters_.values(), in_, search_);
  }
  /// Decodes with a causal pass of the decoder over all tokens of all hypotheses in each step. The encoder runs once.
  void by_passes() {
    search_.restart(task_.sentences);
    index_t const count = search_.rows(), v = model_.vocabulary();
    auto const most = task_.dims(task_.beam, task_.target);
    loader_type loader(most, model_.layout, task_.width, task_.begin, task_.end);
    // The encoder's results are in a buffer of their own, so that later passes do not overwrite them.
    triad::buffer<> const encoded(
        triad::planned_bytes([&](triad::arena& a) { (void)model_.plan_encoder(a, most, triad::keep::nothing); }));
    triad::buffer<> const decoded(triad::planned_bytes([&](triad::arena& a) { (void)plan(a, most); }));
    triad::buffer<> const scratch(triad::planned_scratch(machine(), {}, [&](auto& dry, triad::call const& c) {
      triad::arena none, nothing;
      auto const p = plan(none, most);
      auto const e = model_.plan_encoder(nothing, most, triad::keep::nothing);
      auto const in = model_.measured_input(most);
      model_.encode(dry, c, parameters_.values(), in, e);
      model_.decode(dry, c, parameters_.values(), in, e.y, p.saved, p.logits);
    }));
    std::vector<std::vector<index_t>> generated(static_cast<std::size_t>(count));
    std::vector<float> last(static_cast<std::size_t>(count * v));
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
      auto encoded_at = encoded.place(), decoded_at = decoded.place(), scratch_at = scratch.place();
      triad::call c;
      c.scratch = &scratch_at;
      auto const e = model_.plan_encoder(encoded_at, in.sizes, triad::keep::nothing);
      auto const p = plan(decoded_at, in.sizes);
      if (search_.step() == 0) model_.encode(machine(), c, parameters_.values(), in, e);
      model_.decode(machine(), c, parameters_.values(), in, e.y, p.saved, p.logits);
      index_t const tokens = in.sizes.targets / count;
      for (index_t h = 0; h < count; ++h) std::copy_n(&p.logits(h * tokens + tokens - 1, 0), v, last.data() + h * v);
      search_.advance(triad::make_matrix<float const>(last.data(), count, v, v));
    }
  }
  /// Returns the hypotheses of the last search.
  std::vector<triad::hypothesis> found(index_t sentence) const { return search_.best(sentence); }
  std::size_t bytes() const { return decoder_.bytes(); }
  /// Returns the number of triples that by_edges() has computed.
  double triples() const { return static_cast<double>(decoder_.triples()); }

 private:
  struct planned {
    model_type::decoder_saved saved;
    model_type::output logits;
  };
  planned plan(triad::arena& place, triad::edge_pair_dims const& z) const {
    auto const saved = model_.plan_decoder(place, z, triad::keep::nothing);
    return {saved, model_.plan_output(place, z)};
  }

  edge_decoding_task task_;
  model_type model_;
  triad::parameter_set<model_type, triad::cpu::backend> parameters_;
  loader_type loader_;
  triad::beam_search search_;
  triad::edge_decoder<model_type, triad::cpu::backend> decoder_;
  triad::edge_pair_batch<float> in_;
  std::vector<std::vector<index_t>> sources_;  // the source of each hypothesis
};

/// Checks that both methods of decoding find the same hypotheses.
verdict check_decoding(edge_decoding_task const& task) {
  edge_translating t(task);
  t.by_edges();
  std::vector<std::vector<triad::hypothesis>> kept;
  for (index_t s = 0; s < task.sentences; ++s) kept.push_back(t.found(s));
  t.by_passes();
  for (index_t s = 0; s < task.sentences; ++s) {
    auto const passes = t.found(s);
    auto const& edges = kept[static_cast<std::size_t>(s)];
    if (passes.size() != edges.size())
      return "sentence " + std::to_string(s) + " has another number of hypotheses by new edges than by passes";
    for (std::size_t i = 0; i < passes.size(); ++i)
      if (passes[i].tokens != edges[i].tokens)
        return "sentence " + std::to_string(s) + " is decoded otherwise by new edges than by passes";
  }
  return std::nullopt;
}

void run(benchmark::State& state, std::string const& name, edge_decoding_task const& task, bool edges) {
  if (!may_time(state, name, std::size_t{2} << 30, [&] { return check_decoding(task.small()); })) return;
  edge_translating t(task);
  double const seconds = time_work(state, {.model = {}, .total = t.bytes(), .floor = false, .warm = edges},
                                   [&] { edges ? t.by_edges() : t.by_passes(); });
  auto const one = triad::decoding_triples::of(task.source, task.target, task.layers);
  auto const slots = static_cast<double>(task.sentences * task.beam);
  state.counters["tokens/s"] = static_cast<double>(task.sentences * task.target) / seconds;
  state.counters["triples"] = edges ? t.triples() : static_cast<double>(one.masked) * slots;
  state.counters["triples_masked"] = static_cast<double>(one.masked) * slots;
  state.counters["triples_published"] = static_cast<double>(one.published) * slots;
}

[[maybe_unused]] bool const registered = [] {
  edge_decoding_task paper, small;
  small.layers = 4, small.width = 128;
  for (auto task : {small, paper})
    for (index_t const beam : {1, 5}) {
      task.beam = beam;
      for (bool const edges : {true, false}) {
        std::string const name = edges ? "edge_decoding" : "edge_decoding_by_passes";
        auto const timed = [=](benchmark::State& state) { run(state, name, task, edges); };
        benchmark::RegisterBenchmark((name + task.name()).c_str(), timed)->Unit(benchmark::kMillisecond);
      }
    }
  return true;
}();

}  // namespace
}  // namespace bench
