// The training loop.
// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../common/atomic_file.hpp"
#include "../common/progress.hpp"
#include "triad/train/schedule.hpp"

namespace clutrr {
namespace {

using triad::examples::write_atomically;

volatile std::sig_atomic_t interrupted = 0;

/// Ctrl-C ends a run after the update it is in; a second one ends the program at once.
struct interrupt_guard {
  interrupt_guard() { std::signal(SIGINT, [](int) { interrupted = 1, std::signal(SIGINT, SIG_DFL); }); }
  ~interrupt_guard() { std::signal(SIGINT, SIG_DFL); }
};

/// metrics.csv: a line an epoch, written whole so that a killed run never leaves half a line.
class metrics_file {
 public:
  metrics_file(std::string path, std::uint64_t step) : path_(std::move(path)) {
    text_ = "epoch,step,loss,rate,norm,validation,seconds,examples_per_second\n";
    std::ifstream old(path_);
    std::string line;
    std::getline(old, line);
    while (step > 0 && std::getline(old, line)) {  // what was written after the checkpoint is done again
      std::istringstream cells(line);
      std::string epoch, at;
      if (std::getline(cells, epoch, ',') && std::getline(cells, at, ',') && std::strtoull(at.c_str(), nullptr, 10) <= step) text_ += line + "\n";
    }
  }
  void add(std::string const& line) {
    text_ += line + "\n";
    if (!path_.empty()) write_atomically(path_, text_);
  }

  /// The losses of the epochs so far.
  std::vector<double> losses() const { return column(2); }
  /// What the epochs so far took, whichever processes ran them.
  double seconds() const {
    auto const all = column(6);
    return all.empty() ? 0 : all.back();
  }

 private:
  std::vector<double> column(int wanted) const {
    std::vector<double> result;
    std::istringstream lines(text_);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::istringstream cells(line);
      std::string cell;
      for (int c = 0; c <= wanted; ++c) std::getline(cells, cell, ',');
      result.push_back(std::strtod(cell.c_str(), nullptr));
    }
    return result;
  }

  std::string path_, text_;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string line_of(char const* format, auto... values) {
  char text[256];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

/// Says what the run will take, from the planned memory and one rehearsed update.
void announce(options const& o, task& work, network& net) {
  net.clear();
  work.batch(0, o.seed, [&](kinship_graph const& g) { net.add(g); });
  net.rehearse();
  auto const start = std::chrono::steady_clock::now();
  net.rehearse();
  auto const one = seconds_since(start);
  auto const bytes = net.bytes();
  std::printf("%s, %lld parameters; %lld updates of %d graphs; memory %.0f MiB; about %s\n", o.model.c_str(),
              static_cast<long long>(net.parameters()), static_cast<long long>(work.updates()), o.batch,
              static_cast<double>(bytes.total()) / 1048576, triad::examples::duration(one * static_cast<double>(work.updates())).c_str());
  std::fflush(stdout);
}

}  // namespace

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

network_sizes sizes_of(options const& o, task const& work) {
  return {work.words().embedding_rows(), static_cast<int>(work.words().targets.size()), o.batch, work.max_training_nodes(), work.max_nodes(), true};
}

run_result train_once(options const& o, task& work, std::string const& out) {
  std::unique_ptr<network> net;
  try {
    net = make_network(o, sizes_of(o, work));
  } catch (std::bad_alloc const&) {
    throw triad::data_error("there is not enough memory for batches of " + std::to_string(o.batch) + " graphs of up to " +
                            std::to_string(work.max_training_nodes()) + " people: take a smaller --batch, or --recompute");
  }
  net->initialize(o.seed);
  auto const checkpoint = out.empty() ? std::string() : out + "/model.safetensors";
  run_record record{o, work.words()};
  double loss_sum = 0;
  if (!out.empty() && std::filesystem::exists(checkpoint)) {
    if (o.resume) {
      record.resumes = true;
      loss_sum = std::strtod(net->load(checkpoint, record).c_str(), nullptr);
    } else {
      std::filesystem::rename(checkpoint, checkpoint + ".old");
      std::printf("%s was there already and is now %s.old; --resume goes on from it\n", checkpoint.c_str(), checkpoint.c_str());
    }
  } else if (o.resume) {
    std::printf("no checkpoint in %s: this run begins at the beginning\n", out.empty() ? "(no --out)" : out.c_str());
  }
  if (!out.empty()) write_atomically(out + "/config.toml", to_toml(o));
  auto const begin = static_cast<std::int64_t>(net->step());
  metrics_file metrics(out.empty() ? std::string() : out + "/metrics.csv", net->step());
  auto const save = [&](double sum) {
    record.notes = line_of("%a", sum);
    if (!checkpoint.empty()) net->save(checkpoint, record);
  };

  announce(o, work, *net);
  interrupt_guard const guard;
  run_result result;
  triad::linear_warmup const schedule{o.rate, static_cast<double>(o.warmup), static_cast<double>(work.updates())};
  triad::examples::progress progress(o.model + " seed " + std::to_string(o.seed), work.updates() * o.batch, "examples", begin * o.batch);
  auto const start = std::chrono::steady_clock::now();
  double const before = metrics.seconds();
  auto epoch_start = start;
  triad::update_record last{};
  for (std::int64_t update = begin; update < work.updates(); ++update) {
    net->clear();
    work.batch(update, o.seed, [&](kinship_graph const& g) { net->add(g); });
    double const rate = schedule.rate(update);
    net->update(rate);
    bool const epoch_ends = (update + 1) % work.epoch_updates() == 0;
    if (!epoch_ends && !interrupted && (update + 1) % net->patience() != 0) continue;
    for (auto const& r : net->records()) {
      if (!std::isfinite(r.loss) || !std::isfinite(r.norm)) {
        auto const at = static_cast<std::int64_t>(r.step);
        progress.finish();
        std::fprintf(stderr, "the loss is %g at update %lld (batch %lld of epoch %lld), the gradient's norm %g: stopped; the last checkpoint is kept\n",
                     r.loss, static_cast<long long>(at), static_cast<long long>(at % work.epoch_updates()),
                     static_cast<long long>(at / work.epoch_updates() + 1), r.norm);
        result.failed = true;
        break;
      }
      loss_sum += r.loss;
      last = r;
    }
    if (result.failed) break;
    progress.update((update + 1) * o.batch, line_of("loss %.4f", last.loss));
    if (epoch_ends) {
      auto const epoch = (update + 1) / work.epoch_updates();
      double const seconds = seconds_since(epoch_start), mean = loss_sum / static_cast<double>(work.epoch_updates());
      result.validation = accuracy(*net, work.validation());
      metrics.add(line_of("%lld,%lld,%.6g,%.6g,%.6g,%.4f,%.2f,%.0f", static_cast<long long>(epoch), static_cast<long long>(update + 1), mean, rate,
                          last.norm, result.validation, before + seconds_since(start), static_cast<double>(work.epoch_updates() * o.batch) / seconds));
      loss_sum = 0;
      save(loss_sum);
      epoch_start = std::chrono::steady_clock::now();
    }
    if (interrupted) {
      save(loss_sum);
      result.interrupted = true;
      break;
    }
  }
  progress.finish();
  result.seconds = before + seconds_since(start);
  result.losses = metrics.losses();
  if (result.interrupted) return result;
  result.validation = accuracy(*net, work.validation());
  for (auto const& [k, graphs] : work.test()) result.test[k] = accuracy(*net, graphs);
  // A model that does not answer half of what it was trained on has not learned the task.
  result.failed = result.failed || (!work.validation().empty() && result.validation < 0.5);
  return result;
}

}  // namespace clutrr
