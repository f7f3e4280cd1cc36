// Times attention over sequences (plain, causal, with relative positions, with a bias by distance) and fuse-attention.
// Both are timed without projections, because the projections would take most of the time.
// SPDX-License-Identifier: Apache-2.0

#include "triad/ops/attention.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "problem.hpp"
#include "sequences.hpp"
#include "session.hpp"
#include "triad/ops/distance_bias.hpp"
#include "triad/ops/fuse_attention.hpp"
#include "triad/reference/reference.hpp"

namespace bench {
namespace {

template <class T>
using states = triad::tensor<T, triad::dyn, triad::dyn>;
template <class T>
using named = std::vector<std::pair<char const*, states<T>>>;

/// Attention over b sequences of s tokens.  A token attends only to tokens of its own sequence.
struct attention_task {
  index_t b, s, d, h;
  bool causal = false;
  index_t reach = 0;
  bool distances = false;  // a bias of the scores by distance, whose reach is triad::distance_reach

  static constexpr char const* operation = "attention";
  index_t rows() const { return b * s; }
  std::string name() const {
    return name_of({{"b", b}, {"s", s}, {"d", d}, {"h", h}}) + (causal ? "/causal" : "") +
           (distances   ? "/distances"
            : reach > 0 ? name_of({{"reach", reach}})
                        : "");
  }
  attention_task small() const {
    return {3, std::min<index_t>(s, 40), 12 * h, h, causal, distances ? reach : std::min<index_t>(reach, 5), distances};
  }

  work_model count_work(bool train) const {
    work_model work;
    double const pairs = static_cast<double>(rows()) * static_cast<double>(causal ? s + 1 : 2 * s) / 2;
    work.attention(rows(), pairs, d, h, train);
    if (distances) work.multiply_adds(pairs * static_cast<double>(h) * (train ? 2 : 1));  // the bias need not be stored
    if (reach == 0 || distances) return work;
    index_t const queries = rows() * h, k = d / h, offsets = triad::relative_offsets(reach);
    work.add({queries, offsets, k, false, true}, train ? 2 : 1);   // bias; d_offset_weights
    work.add({queries, k, offsets, false, false}, train ? 2 : 1);  // output and dquery from offsets
    if (train) work.add({offsets, k, queries, true, false}, 2);    // gradients of both tables
    return work;
  }
};

/// The inputs, results and stored arrays of attention, with the letters of ops/attention.hpp.
template <class T>
struct attention_arrays {
  attention_task task;
  std::vector<index_t> size, first;
  states<T> query, key, value, a, b, dc;
  states<T> c, dquery, dkey, dvalue, da, db;
  states<T> lse, bias, offset_weights;
  states<T> table, dtable, d_sum;  // of the bias by distance

  explicit attention_arrays(attention_task const& t) : task(t), size(static_cast<std::size_t>(t.b), t.s) {
    for (index_t i = 0; i < t.b; ++i) first.push_back(i * t.s);
  }
  void plan(triad::arena& place) {
    index_t const offsets = triad::relative_offsets(task.reach), k = task.d / task.h;
    for (auto* x : {&query, &key, &value, &dc, &c, &dquery, &dkey, &dvalue})
      *x = place.make<states<T>>(task.rows(), task.d);
    for (auto* x : {&a, &b, &da, &db}) *x = place.make<states<T>>(offsets, k);
    for (auto* x : {&bias, &offset_weights}) *x = place.make<states<T>>(task.rows(), task.h * offsets);
    lse = place.make<states<T>>(task.h, task.rows());
    index_t const buckets = task.distances ? triad::distance_buckets : 0;
    for (auto* x : {&table, &dtable}) *x = place.make<states<T>>(buckets, task.h);
    d_sum = place.make<states<T>>(task.distances ? 1 : 0, task.h * offsets);
  }
  std::vector<states<T>> read() const { return {query, key, value, a, b, dc, table}; }
  named<T> made() const {
    return {{"c", c},   {"dquery", dquery}, {"dkey", dkey},    {"dvalue", dvalue},
            {"da", da}, {"db", db},         {"dtable", dtable}};
  }

  template <class Ex>
  void run(Ex& ex, triad::call const& use, bool train) const {
    triad::attention_options t;
    t.heads = task.h, t.causal = task.causal, t.reach = task.reach;
    auto const indices = [](std::vector<index_t> const& v) {
      return triad::make_vec<index_t const>(v.data(), static_cast<index_t>(v.size()));
    };
    triad::sequence_batch const own{task.b, task.rows(), task.s, indices(size), indices(first)};
    triad::attention_sequences const both{own, own};
    auto const in = [](states<T> x) { return triad::as_matrix(triad::read_only(x)); };
    auto const out = [](states<T> x) { return triad::as_matrix(x); };
    triad::attention_operands<T const> const x{in(query), in(key), in(value)};
    triad::attention_operands<T> const dx{out(dquery), out(dkey), out(dvalue)};
    triad::relative_tables<T const> const tables{in(a), in(b)};
    triad::relative_memory<T> const relative{out(bias), out(offset_weights)};
    auto const sums = triad::make_vec(lse.data_handle(), task.h * task.rows());
    triad::vec<T const> const known(sums);
    auto& scratch = *use.scratch;
    if (task.distances) {
      auto const scale = std::sqrt(static_cast<T>(task.d / task.h));
      triad::distance_bias(ex, scale, in(table), out(bias));
      triad::attention(ex, scratch, t, both, x, in(bias), sums, out(c));
      if (!train) return;
      auto const sum = triad::make_vec(d_sum.data_handle(), d_sum.extent(1));
      triad::fill(ex, T(0), d_sum);
      triad::attention_grad(ex, scratch, t, both, x, in(bias), known, in(c), in(dc), dx, sum);
      triad::distance_bias_grad(ex, scale, triad::vec<T const>(sum), out(dtable));
    } else if (task.reach > 0) {
      triad::attention(ex, scratch, t, both, x, tables, relative, sums, out(c));
      if (train)
        triad::attention_grad(ex, scratch, t, both, x, tables, relative, known, in(c), in(dc), dx, {out(da), out(db)});
    } else {
      triad::attention(ex, scratch, t, both, x, sums, out(c));
      if (train) triad::attention_grad(ex, scratch, t, both, x, known, in(c), in(dc), dx);
    }
  }
};

/// Fuse-attention: tokens attend to their own states after each of several earlier layers.
struct fuse_task {
  index_t rows, layers, d, h;

  static constexpr char const* operation = "fuse_attention";
  std::string name() const { return name_of({{"rows", rows}, {"l", layers}, {"d", d}, {"h", h}}); }
  fuse_task small() const { return {30, layers, 40, h}; }
  work_model count_work(bool train) const {
    work_model work;
    work.fuse_attention(rows, layers, d, h, train);
    return work;
  }
};

/// The inputs and results of fuse-attention, with the letters of ops/fuse_attention.hpp.
template <class T>
struct fuse_arrays {
  fuse_task task;
  states<T> u, below, d_mixed, d_kept;
  states<T> mixed, kept, weights, du, d_below;

  explicit fuse_arrays(fuse_task const& t) : task(t) {}
  void plan(triad::arena& place) {
    for (auto* x : {&u, &mixed, &d_mixed, &du}) *x = place.make<states<T>>(task.rows, task.h * task.d);
    for (auto* x : {&below, &d_below}) *x = place.make<states<T>>(task.layers * task.rows, task.d);
    for (auto* x : {&kept, &d_kept}) *x = place.make<states<T>>(task.rows, task.h);
    weights = place.make<states<T>>(task.rows, task.h * task.layers);
  }
  std::vector<states<T>> read() const { return {u, below, d_mixed, d_kept}; }
  named<T> made() const {
    return {{"mixed", mixed}, {"kept", kept}, {"weights", weights}, {"du", du}, {"dx", d_below}};
  }

  template <class Ex>
  void run(Ex& ex, triad::call const&, bool train) const {
    triad::fuse_attention_options const t{task.h, {}};
    triad::layer_states<T> const d_states(d_below.data_handle(), task.layers, task.rows, task.d);
    triad::layer_states<T const> const all(below.data_handle(), task.layers, task.rows, task.d);
    triad::fuse_attention(ex, t, task.layers, triad::read_only(u), all, weights, mixed, kept);
    if (train)
      triad::fuse_attention_grad(ex, t, task.layers, triad::read_only(u), all, triad::read_only(weights),
                                 triad::read_only(d_mixed), triad::read_only(d_kept), du, d_states);
  }
};

/// An operation with all its arguments.  The memory of the arguments is set to zero first, because some gradients are
/// added to it.
template <class Arrays, class Ex>
class operation_problem {
 public:
  template <class Task>
  operation_problem(Ex& ex, Task const& task)
      : ex_(ex), at_(task), memory_(triad::planned_bytes([&](triad::arena& a) { at_.plan(a); })) {
    auto place = memory_.place();
    at_.plan(place);
    std::uint64_t stream = 0;
    for (auto const& x : at_.read()) fill_random(x, ++stream);
    scratch_ = triad::buffer<>(
        triad::planned_scratch(ex, {}, [&](auto& planner, triad::call const& c) { at_.run(planner, c, true); }));
  }
  void run(bool train) {
    auto place = scratch_.place();
    at_.run(ex_, triad::call{&place}, train);
  }
  auto made() const { return at_.made(); }
  std::size_t planned_bytes() const { return scratch_.bytes(); }
  std::size_t bytes() const { return memory_.bytes() + scratch_.bytes(); }

 private:
  Ex& ex_;
  Arrays at_;
  triad::buffer<> memory_, scratch_;
};

template <template <class> class Arrays, class Task>
verdict check(Task const& task) {
  triad::reference::backend judge;
  operation_problem<Arrays<float>, triad::cpu::backend> found(machine(), task);
  operation_problem<Arrays<double>, triad::reference::backend> expected(judge, task);
  found.run(true);
  expected.run(true);
  auto const a = found.made();
  auto const b = expected.made();
  for (std::size_t i = 0; i < a.size(); ++i)
    if (auto wrong = compare_views(a[i].first, a[i].second, b[i].second)) return wrong;
  return std::nullopt;
}

/// Registers two benchmarks: name/forward/sizes times the forward pass, and name/train/sizes times forward and backward
/// pass.
template <template <class> class Arrays, class Task>
void add(Task const& task) {
  for (bool const train : {false, true}) {
    std::string const name = std::string(Task::operation) + (train ? "/train" : "/forward") + task.name();
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
      if (!may_time(state, name, std::size_t{1} << 28, [&] { return check<Arrays>(task.small()); })) return;
      operation_problem<Arrays<float>, triad::cpu::backend> p(machine(), task);
      time_work(state, {.model = task.count_work(train), .planned = p.planned_bytes(), .total = p.bytes()},
                [&] { p.run(train); });
    })->Unit(benchmark::kMillisecond);
  }
}

[[maybe_unused]] bool const registered = [] {
  for (attention_task const& t : {attention_task{32, 20, 512, 4},
                                  {32, 20, 512, 4, true},
                                  {32, 20, 512, 4, false, 16},
                                  {32, 20, 768, 12},
                                  {32, 20, 768, 12, false, triad::distance_reach, true},
                                  {128, 20, 128, 4},
                                  {4, 256, 512, 8}})
    add<attention_arrays>(t);
  for (fuse_task const& t : {fuse_task{640, 6, 512, 4}, {640, 2, 512, 4}, {2560, 3, 128, 4}}) add<fuse_arrays>(t);
  return true;
}();

}  // namespace
}  // namespace bench
