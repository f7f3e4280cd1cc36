// Training and scoring of one network.
// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include "../common/training_run.hpp"
#include "record.hpp"
#include "triad/train/schedule.hpp"

namespace clutrr {

double accuracy(network& net, std::vector<kinship_graph> const& graphs) {
  std::size_t right = 0;
  for (std::size_t next = 0; next < graphs.size();) {
    net.clear();
    auto const first = next;
    while (next < graphs.size() && net.add(graphs[next])) ++next;
    auto const& best = net.infer();
    for (auto i = first; i < next; ++i) right += best[i - first] == graphs[i].target ? 1u : 0u;
  }
  return graphs.empty() ? 0 : static_cast<double>(right) / static_cast<double>(graphs.size());
}

network_options sizes_of(options const& o, task const& work) {
  return {work.words().embedding_rows(),
          static_cast<int>(work.words().targets.size()),
          o.batch,
          work.max_training_nodes(),
          work.max_nodes(),
          true};
}

run_result train_once(options const& o, task& work, std::string const& out) {
  std::unique_ptr<network> net;
  try {
    net = make_network(o, sizes_of(o, work));
  } catch (std::bad_alloc const&) {
    throw triad::data_error("there is not enough memory for batches of " + std::to_string(o.batch) +
                            " graphs of up to " + std::to_string(work.max_training_nodes()) +
                            " people: take a smaller --batch, or --recompute");
  }
  auto const fill = [&](std::int64_t update) {
    net->clear();
    work.batch(update, o.seed, [&](kinship_graph const& g) { net->add(g); });
  };
  triad::linear_warmup const schedule{o.rate, static_cast<double>(o.warmup), static_cast<double>(work.updates())};
  run_result result;
  static_cast<triad::examples::run_log&>(result) = triad::examples::train(
      *net,
      {.model = o.model,
       .out = out,
       .config = to_toml(o),
       .seed = o.seed,
       .resume = o.resume,
       .updates = work.updates(),
       .epoch_updates = work.epoch_updates(),
       .batch = o.batch,
       .example = "graphs",
       .record = record_of(o, work.words()),
       .data = work.data_setting()},
      fill, [&](std::int64_t update) { return schedule.rate(static_cast<std::uint64_t>(update)); },
      [&] { return accuracy(*net, work.validation()); });
  if (result.interrupted || result.diverged) return result;
  for (auto const& [k, graphs] : work.test()) result.test[k] = accuracy(*net, graphs);
  // A model that does not answer half of what it was trained on has not learned the task.
  result.failed = !work.validation().empty() && result.validation < 0.5;
  return result;
}

}  // namespace clutrr
