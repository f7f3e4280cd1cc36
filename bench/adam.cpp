// Times an update of Adam over ten million parameters, in two cases.  In the first case, all parameters have gradients.
// In the second case, all gradients are zero, so the moments decay to denormal numbers (cpu/kernels/denormals.hpp).
// The cpu backend sets denormal numbers to zero in the first update.  The reference backend keeps them, and is timed on
// one thread for comparison.
//
// SPDX-License-Identifier: Apache-2.0

#include "triad/ops/adam.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "session.hpp"
#include "triad/cpu/cpu.hpp"

namespace bench {
namespace {

using triad::make_vec;

constexpr index_t parameters = 10'000'000;

struct adam_problem {
  std::vector<float> p, g, m, v;
  std::vector<double> rate{1e-4};
  std::uint64_t step = 10'000;

  /// If `died`, all moments are denormal numbers, as after many updates with zero gradients.
  adam_problem(index_t n, bool died)
      : p(static_cast<std::size_t>(n), 0.1f),
        g(p.size(), died ? 0.0f : 1e-3f),
        m(p.size(), died ? 6e-45f : 1e-3f),
        v(p.size(), died ? 1.4e-44f : 1e-6f) {}

  template <class Ex>
  void run(Ex& ex) {
    triad::adam(ex, {.beta2 = 0.95, .weight_decay = 0.1, .decoupled = true}, make_vec<double const>(rate.data(), 1),
                &step, view(p), view(g), view(m), view(v));
  }

 private:
  static triad::vec<float> view(std::vector<float>& x) { return make_vec(x.data(), static_cast<index_t>(x.size())); }
};

verdict check(bool died) {
  adam_problem ours(1000, died), reference = ours;
  triad::reference::backend judge;
  ours.run(machine());
  reference.run(judge);
  for (std::size_t i = 0; i < ours.p.size(); ++i)
    if (!(std::abs(ours.p[i] - reference.p[i]) <= 1e-7f)) return "parameters differ from the reference's";
  return std::nullopt;
}

template <class Ex>
void run(benchmark::State& state, std::string const& name, Ex& ex, bool died, bool with_floor) {
  std::size_t const bytes = parameters * 4 * sizeof(float);
  if (!may_time(state, name, bytes, [&] { return check(died); })) return;
  adam_problem problem(parameters, died);
  work_model model;
  model.stream = 7.0 * sizeof(float) * parameters;  // reads four arrays and writes three
  time_work(state, {.model = model, .total = bytes, .floor = with_floor}, [&] { problem.run(ex); });
}

[[maybe_unused]] bool const registered = [] {
  static triad::reference::backend plain;
  for (bool const died : {false, true}) {
    std::string const what = std::string("moments:") + (died ? "dead" : "alive");
    benchmark::RegisterBenchmark(("adam/" + what).c_str(), [=](benchmark::State& state) {
      run(state, "adam/" + what, machine(), died, true);
    })->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("adam_reference/" + what).c_str(), [=](benchmark::State& state) {
      run(state, "adam_reference/" + what, plain, died, false);
    })->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace bench
