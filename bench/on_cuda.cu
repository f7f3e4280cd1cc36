// triad-bench-cuda runs the benchmarks on a GPU.  They have the same names as in triad-bench.  Options: --filter=REGEX,
// --precision=float32|tf32x3|tf32|f16|bf16, --list, --once
// SPDX-License-Identifier: Apache-2.0
//
// Every result is checked before it is timed.  The check compares the results of a smaller problem with the reference
// in double, which takes seconds.  A triangle is also checked at a few edges of the full size.  If a result is wrong,
// it is not timed, and the exit status is 1.
//
// A reported time is the median of times between two events in the backend's stream.  The work is recorded and then
// replayed, as in training.
//
//   floor = products + triangle         bench/floor.hpp defines the counts; only float32 and tf32x3 have this floor,
//                                       because with rounded factors tensor cores may compute a part of the triangle
//   products   the time of cuBLAS for these products, on arrays of the same shapes, in the same arithmetic
//   triangle   the time of the triangle's multiply-adds at the GPU's peak rate, which is measured at the start with a
//              kernel that does not access memory
//
// The floor omits exponentials, memory traffic, norms, dropout, loss and Adam.  Some benchmarks only move data
// (scatter_add_rows, transform, dropout, adam).  The floor of these is the number of bytes divided by the rate of a
// copy on the device, which is measured on first use.  For these benchmarks the last column is in GB/s.
//
// With --once, a profiler can look at one run.  The work runs twice and is not recorded.  The second run is between
// cudaProfilerStart() and cudaProfilerStop(), so `ncu --profile-from-start off` profiles only this run.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <regex>
#include <string>
#include <vector>

#include "layer_check.hpp"
#include "on_cuda.cuh"
#include "seq2seq_task.hpp"
#include "streams_on_cuda.cuh"
#include "training_problem.hpp"
#include "training_tasks.hpp"
#include "tree_task.hpp"
#include "triad/cuda.cuh"
#include "triad/layers/edge_transformer_layer.hpp"
#include "triad/reference/reference.hpp"

namespace bench {
namespace {

using triad::triangle_form;

struct benchmark {
  std::string name;
  std::function<bool(session&)> run;  // returns false if a result was wrong
};

/// The counts of a benchmark's work.
struct piece {
  work_model model{};
  std::size_t planned = 0, total = 0;  // bytes
  double examples = 0;                 // number of examples in one step, if the work has any
  double steps = 1;                    // number of steps in one run
};

bool report(std::string const& name, verdict const& wrong) {
  if (wrong) std::printf("%-62s not timed, because it is wrong: %s\n", name.c_str(), wrong->c_str());
  return !wrong;
}

void profile_work(session& s, std::string const& name, std::function<void()> const& work) {
  std::printf("%-62s %10.4f\n", name.c_str(), 1e3 * s.seconds_profiled(work));
  std::fflush(stdout);
}

void time_work(session& s, std::string const& name, piece const& p, std::function<void()> const& work) {
  if (s.profiled()) return profile_work(s, name, work);
  double const seconds = s.median_seconds(work) / p.steps, products = s.seconds_of_products(p.model),
               triangle = p.model.slots / s.multiply_adds();
  using triad::cuda::arithmetic;
  auto const how = s.ex.arithmetic();
  if (how == arithmetic::float32 || how == arithmetic::tf32x3 || p.model.slots == 0)
    std::printf("%-62s %10.4f %10.4f %10.4f %10.4f %7.2f", name.c_str(), seconds * 1e3, (products + triangle) * 1e3,
                products * 1e3, triangle * 1e3, seconds / (products + triangle));
  else
    std::printf("%-62s %10.4f %10s %10.4f %10s %7s", name.c_str(), seconds * 1e3, "-", products * 1e3, "-", "-");
  std::printf(" %9.1f %10.1f %10.1f", p.model.flops() / seconds * 1e-12, static_cast<double>(p.planned) / 1048576,
              static_cast<double>(p.total) / 1048576);
  if (p.examples > 0) std::printf(" %10.0f", p.examples / seconds);
  std::printf("\n");
  std::fflush(stdout);
}

/// Times work that only moves data.  `bytes` is the number of bytes that the work moves.
template <class Problem>
bool run_stream(session& s, std::string const& name, Problem p, double bytes) {
  if (!report(name, p.check())) return false;
  auto const work = [&] { triad::replay(s.ex, 1, [&] { p.run(); }); };
  if (s.profiled()) return profile_work(s, name, work), true;
  double const seconds = s.median_seconds(work), floor = bytes / s.copied_bytes();
  triad::forget_replays(s.ex);
  std::printf("%-62s %10.4f %10.4f %10s %10s %7.2f %9s %10s %10s %10.1f\n", name.c_str(), seconds * 1e3, floor * 1e3,
              "-", "-", seconds / floor, "-", "-", "-", bytes / seconds * 1e-9);
  std::fflush(stdout);
  return true;
}

/// Returns the graphs that are checked: a few small graphs, or one graph that is large enough for the kernels of large
/// graphs.
equal_graphs checked_graphs(shape const& z) {
  return z.n <= 16 ? equal_graphs(std::min<index_t>(z.b, 9), z.n) : equal_graphs(1, std::min<index_t>(z.n, 37));
}

bool run_attention(session& s, std::string const& name, triangle_form form, shape const& z, bool train) {
  triad::reference::backend judge;
  auto wrong = check_layer(s.ex, judge, attention<float>(form, z), attention<double>(form, z), checked_graphs(z));
  if (!wrong) wrong = triangle_problem(s.ex, form, z).check();
  if (!report(name, wrong)) return false;
  equal_graphs const graphs(z.b, z.n);
  layer_problem<float, triad::triangular_attention<float>, triad::cuda::backend> p(s.ex, attention<float>(form, z),
                                                                                   graphs, train);
  piece what{.planned = p.planned_bytes(), .total = p.bytes()};
  what.model.projections(form, z.rows(), z.d, train);
  what.model.triangle(form, z.b, z.n, z.d, z.h, train);
  time_work(s, name, what, [&] { triad::replay(s.ex, 1, [&] { p.run(train); }); });
  triad::forget_replays(s.ex);
  return true;
}

/// Times the kernels of triangular attention without projections.
bool run_triangle(session& s, std::string const& name, triangle_form form, shape const& z, bool train) {
  triangle_problem p(s.ex, form, z);
  if (!report(name, p.check())) return false;
  piece what;
  what.model.triangle(form, z.b, z.n, z.d, z.h, train);
  time_work(s, name, what, [&] { triad::replay(s.ex, 1, [&] { p.run(train); }); });
  triad::forget_replays(s.ex);
  return true;
}

template <class T>
triad::edge_transformer_layer<T> layer(shape const& z) {
  return triad::edge_transformer_layer<T>({.width = z.d, .heads = z.h, .hidden = 4 * z.d});
}

bool run_layer(session& s, std::string const& name, shape const& z) {
  triad::reference::backend judge;
  if (!report(name, check_layer(s.ex, judge, layer<float>(z), layer<double>(z), checked_graphs(z)))) return false;
  equal_graphs const graphs(z.b, z.n);
  layer_problem<float, triad::edge_transformer_layer<float>, triad::cuda::backend> p(s.ex, layer<float>(z), graphs,
                                                                                     true);
  piece what{.planned = p.planned_bytes(), .total = p.bytes()};
  what.model.projections(triangle_form::full, z.rows(), z.d, true);
  what.model.feed_forward(z.rows(), z.d, 4 * z.d, z.d, true);
  what.model.triangle(triangle_form::full, z.b, z.n, z.d, z.h, true);
  time_work(s, name, what, [&] { triad::replay(s.ex, 1, [&] { p.run(true); }); });
  triad::forget_replays(s.ex);
  return true;
}

template <class Task>
bool run_training(session& s, std::string const& name, Task const& task, Task const& checked) {
  using problem = training_problem<float, Task, triad::cuda::backend>;
  triad::reference::backend judge;
  if (!report(name, check_training(s.ex, judge, checked))) return false;
  auto const parts = problem::bytes(s.ex, task);
  problem p(s.ex, task);
  time_work(s, name,
            {task.count_work(), parts.saved + parts.scratch, parts.total(), static_cast<double>(task.examples())},
            [&] { p.step(); });
  return true;
}

/// Times the steps of an epoch with different batches, which are built, padded and uploaded as in training.  Nearly all
/// steps are replayed, because their shapes occurred in the warm-up.
bool run_shuffled(session& s, std::string const& name, parser_task const& task, parser_task const& checked) {
  using problem = training_problem<float, parser_task, triad::cuda::backend>;
  triad::reference::backend judge;
  if (!report(name, check_training(s.ex, judge, checked))) return false;
  struct sentences {
    std::vector<std::vector<triad::labelled_token>> all{};
    void add(std::vector<triad::labelled_token> const& one) { all.push_back(one); }
  };
  std::vector<sentences> batches(task.epoch.size());
  for (std::size_t b = 0; b < batches.size(); ++b) task.fill(batches[b], task.epoch[b]);
  auto const parts = problem::bytes(s.ex, task);
  problem p(s.ex, task);
  time_work(s, name,
            {task.count_work(), parts.saved + parts.scratch, parts.total(), static_cast<double>(task.examples()),
             static_cast<double>(batches.size())},
            [&] {
              for (auto const& batch : batches)
                p.step_on([&](auto& loader) {
                  for (auto const& sentence : batch.all) loader.add(sentence);
                });
            });
  return true;
}

std::vector<benchmark> all() {
  std::vector<benchmark> list;
  auto const add = [&](std::string name, auto run) {
    list.push_back({name, [=](session& s) { return run(s, name); }});
  };
  add("clutrr_step/b:400/l:8/d:200/h:4",
      [](session& s, std::string const& name) { return run_training(s, name, clutrr(400), clutrr(6)); });
  add("cogs_step/b:100/l:3/d:64/h:4",
      [](session& s, std::string const& name) { return run_shuffled(s, name, shuffled_cogs(), cogs(20)); });
  for (auto const& [depth, steps] : {std::pair<index_t, index_t>{8, 8}, {10, 16}, {12, 16}}) {
    tree_task t;
    t.depth = depth, t.steps = steps;
    auto const shape = "/depth:" + std::to_string(depth) + "/steps:" + std::to_string(steps) + "/b:16/f:101/d:64";
    for (bool const ours : {false, true}) {
      t.ours = ours;
      add((ours ? "tree_machine_with_empty_tree_step" : "tree_machine_step") + shape,
          [t](session& s, std::string const& name) { return run_training(s, name, t, t.small()); });
    }
  }
  for (bool const fused : {false, true}) {
    seq2seq_task t;
    t.sentences = 128, t.fused = fused;
    add((fused ? "lrf_step" : "transformer_step") + t.name(),
        [t](session& s, std::string const& name) { return run_training(s, name, t, t.small()); });
  }
  for (shape const& z : {shape{400, 5, 200, 4}, shape{1, 32, 200, 4}, shape{1, 64, 200, 4}, shape{1, 128, 200, 4},
                         shape{1, 512, 128, 4}})
    add("edge_transformer_layer/train/" + z.name(),
        [=](session& s, std::string const& name) { return run_layer(s, name, z); });
  struct {
    index_t b, n, d, h;
  } const sizes[] = {{400, 5, 200, 4}, {160, 8, 200, 4}, {40, 16, 200, 4}, {10, 32, 200, 4}, {1, 64, 200, 4},
                     {1, 128, 200, 4}, {1, 256, 200, 4}, {8, 128, 200, 4}, {160, 8, 256, 8}, {10, 32, 256, 8},
                     {1, 128, 256, 8}, {1, 256, 256, 8}, {1, 512, 128, 4}, {1, 1024, 128, 4}};
  for (auto const& [b, n, d, h] : sizes) {
    shape const z{b, n, d, h};
    for (bool const train : {false, true}) {
      std::string const rest = (train ? "/train/" : "/forward/") + z.name();
      add("triangular_attention" + rest,
          [=](session& s, std::string const& name) { return run_attention(s, name, triangle_form::full, z, train); });
      add("triangle" + rest,
          [=](session& s, std::string const& name) { return run_triangle(s, name, triangle_form::full, z, train); });
    }
  }
  for (shape const& z : {shape{400, 5, 200, 4}, shape{1, 64, 200, 4}, shape{1, 128, 200, 4}}) {
    add("triangular_attention_value_ablation/train/" + z.name(), [=](session& s, std::string const& name) {
      return run_attention(s, name, triangle_form::value_ablation, z, true);
    });
    add("triangular_attention_attention_ablation/train/" + z.name(), [=](session& s, std::string const& name) {
      return run_attention(s, name, triangle_form::attention_ablation, z, true);
    });
  }
  add("edge_transformer/train/l:8/b:1/n:512/d:128/h:4",
      [](session& s, std::string const& name) { return run_training(s, name, large(512), large(20)); });
  auto const add_scatter = [&](scatter_way way, std::string const& what, scatter_task const& task) {
    add("scatter_add_rows" + what + "/" + task.name(), [=](session& s, std::string const& name) {
      return run_stream(s, name, scatter_on_cuda{s.ex, task, way}, task.bytes());
    });
  };
  for (auto const& task : scatter_tasks()) add_scatter(scatter_way::chosen, "", task);
  for (index_t const rows : {1000, 2000, 4000, 8000}) {  // near the number of rows at which the backend begins to sort
    add_scatter(scatter_way::compared, "/compared", {rows, 50000, 64});
    add_scatter(scatter_way::sorted, "/sorted", {rows, 50000, 64});
  }
  for (index_t const from : {0, 1})
    add(std::string("transform/relu/") + (from == 0 ? "16" : "4") + "_bytes", [=](session& s, std::string const& name) {
      return run_stream(s, name, relu_on_cuda{s.ex, from}, relu_on_cuda::bytes());
    });
  for (bool const by_parts : {false, true})
    add(std::string("dropout/gelu/") + (by_parts ? "two_operations" : "one_pass"),
        [=](session& s, std::string const& name) {
          return run_stream(s, name, dropped_gelu_on_cuda{s.ex, by_parts}, dropped_gelu_on_cuda::bytes());
        });
  struct {
    index_t rows, columns;
  } const norms[] = {{512, 64}, {512, 256}, {20000, 256}};
  for (auto const& z : norms) {
    auto const shape = "/rows:" + std::to_string(z.rows) + "/d:" + std::to_string(z.columns);
    double const bytes =
        12.0 * static_cast<double>(z.rows * z.columns);  // reads an array and writes two, or the reverse
    add("layer_norm_grad" + shape, [=](session& s, std::string const& name) {
      return run_stream(s, name, norm_grad_on_cuda{s.ex, z.rows, z.columns}, bytes);
    });
    for (bool const by_parts : {false, true})
      add("matmul_norm" + std::string(by_parts ? "/two_operations" : "/one_kernel") + shape,
          [=](session& s, std::string const& name) {
            return run_stream(s, name, product_norm_on_cuda{s.ex, z.rows, z.columns, by_parts}, bytes);
          });
  }
  add("adam/moments:alive", [](session& s, std::string const& name) {
    return run_stream(s, name, adam_on_cuda{s.ex}, adam_on_cuda::bytes());
  });
  return list;
}

int usage() {
  std::fputs("usage: triad-bench-cuda [--filter=REGEX] [--precision=float32|tf32x3|tf32|f16|bf16] [--list] [--once]\n",
             stderr);
  return 2;
}

int run(int argc, char** argv) {
  std::regex filter(".*");
  auto how = triad::cuda::arithmetic::float32;
  bool names_only = false, profiled = false;
  for (int i = 1; i < argc; ++i) {
    std::string const option = argv[i];
    if (option == "--precision=tf32x3")
      how = triad::cuda::arithmetic::tf32x3;  // the column `products` has the time of float32
    else if (option == "--precision=tf32")
      // There are a dozen products in sequence, each with an error of 5e-4.
      how = triad::cuda::arithmetic::tf32, tolerance = 1e-2;
    else if (option == "--precision=f16")
      how = triad::cuda::arithmetic::f16, tolerance = 1e-2;
    else if (option == "--precision=bf16")
      how = triad::cuda::arithmetic::bf16, tolerance = 1e-1;  // each product has an error of 4e-3
    else if (option.starts_with("--filter="))
      filter = option.substr(9);
    else if (option == "--list")
      names_only = true;
    else if (option == "--once")
      profiled = true;
    else if (option != "--precision=float32")
      return usage();
  }
  auto const list = all();
  if (names_only) {
    for (auto const& b : list) std::printf("%s\n", b.name.c_str());
    return 0;
  }
  session s(how, profiled);
  if (profiled)
    std::printf("%s; for a profiler: ms of one run\n", s.device_name().c_str());
  else
    std::printf("%s; %.2f T multiply-adds a second\n", s.device_name().c_str(), s.multiply_adds() * 1e-12);
  if (!profiled)
    std::printf("%-62s %10s %10s %10s %10s %7s %9s %10s %10s %10s\n", "name", "ms", "floor", "products", "triangle",
                "share", "TFLOP/s", "planned", "total MiB", "examples/s");
  bool right = true;
  for (auto const& b : list)
    if (std::regex_search(b.name, filter)) right = b.run(s) && right;
  return right ? 0 : 1;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::run(argc, argv);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "triad-bench-cuda: %s\n", e.what());
    return 2;
  }
}
