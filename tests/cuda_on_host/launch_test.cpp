// Tests launches: the error message of a failed launch, and the range that a profiler shows, have the name of the
// kernel. A step of a tree machine has as many launches as the documents say.
// Tests cuda/device/launch.cuh, cuda/device/nvtx.cuh and cuda/device/status.cuh.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cuda/device/launch.cuh"

#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "triad/batches/tree_loader.hpp"
#include "triad/cuda.cuh"
#include "triad/models/tree_machine.hpp"
#include "triad/train/trainer.hpp"

namespace cuda_on_host_launch_tests {

using namespace triad;
using triad::cuda::block;
using triad::cuda::launch;
using triad::cuda_on_host::with_settings;
using triad::test::contains;

using words = std::vector<std::string>;

/// The names that NVTX receives.
words heard;
bool listening = false;

template <class F>
words told(F&& f) {
  heard.clear();
  listening = true;
  try {
    f();
  } catch (...) {
    listening = false;
    throw;
  }
  listening = false;
  return heard;
}

// The functions that a profiler implements for NVTX. A domain is a pointer that only this file reads.
struct domain {
  std::string name;
};

nvtxDomainHandle_t NVTX_API create_domain(char const* name) {
  static domain ours{name};
  return reinterpret_cast<nvtxDomainHandle_t>(&ours);
}
int NVTX_API push(nvtxDomainHandle_t d, nvtxEventAttributes_t const* what) {
  if (listening) heard.push_back(reinterpret_cast<domain*>(d)->name + ": " + what->message.ascii);
  return 0;
}
int NVTX_API pop(nvtxDomainHandle_t) {
  if (listening) heard.push_back("end");
  return 0;
}
int NVTX_API attach(NvtxGetExportTableFunc_t table) {
  auto const* const callbacks = static_cast<NvtxExportTableCallbacks const*>(table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable functions = nullptr;
  unsigned count = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &functions, &count) == 0) return 0;
  *functions[NVTX_CBID_CORE2_DomainCreateA] = reinterpret_cast<NvtxFunctionPointer>(create_domain);
  *functions[NVTX_CBID_CORE2_DomainRangePushEx] = reinterpret_cast<NvtxFunctionPointer>(push);
  *functions[NVTX_CBID_CORE2_DomainRangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  return 1;
}

/// The first call of NVTX reads this pointer to find a profiler. All static objects are constructed before that call.
[[maybe_unused]] bool const attached = (InitializeInjectionNvtx2_fnptr = attach, true);

struct nothing {
  static constexpr char const* name = "nothing";
  static constexpr int threads = 32;
  TRIAD_DEVICE void operator()(block const&) const {}
};

/// A kernel that fails.
struct faulty {
  static constexpr char const* name = "faulty";
  static constexpr int threads = 64;
  TRIAD_DEVICE void operator()(block const& b) const {
    if (b.thread() > 3) b.sync();
  }
};

/// A backend whose stream may end with an error, which the next launch would report.
struct doomed {
  triad::cuda::backend ex;
  ~doomed() {
    {
      auto const ending = std::move(ex);
    }
    (void)cudaGetLastError();
  }
};

/// Returns the text of the exception that `f` throws.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (triad::cuda::device_error const& e) {
    return e.what();
  }
  return "";
}

/// Sets an environment variable while the object exists.
struct with_variable {
  char const* name;
  with_variable(char const* n, char const* value) : name(n) { ::setenv(n, value, 1); }
  with_variable(with_variable const&) = delete;
  ~with_variable() { ::unsetenv(name); }
};

TEST_CASE("a launch that fails names its kernel") {
  doomed on;
  with_settings const scope({.deferred = false});  // a kernel runs at its launch, as with CUDA_LAUNCH_BLOCKING=1
  CHECK_THAT(error_of([&] { launch(on.ex, faulty{}, 2); }),
             contains("CUDA, while launching faulty: ") && contains("kernel faulty, block 0 of 2"));
}

TEST_CASE("a kernel's fault that shows in a later launch is not said to be that launch's own") {
  auto const later = [] {
    doomed on;
    launch(on.ex, faulty{}, 2);
    (void)cudaStreamSynchronize(on.ex.stream());
    (void)cudaGetLastError();
    return error_of([&] { launch(on.ex, nothing{}, 1); });
  };
  CHECK_THAT(later(), contains("while launching nothing") && contains("launched earlier may have done it"));
  with_variable const blocking("CUDA_LAUNCH_BLOCKING", "1");
  CHECK_THAT(later(), contains("while launching nothing") && !contains("earlier"));
}

TEST_CASE("what no kernel does is not said to be a kernel's") {
  CHECK_THAT(error_of([] { triad::cuda::check(cudaErrorInvalidValue, "copying"); }),
             contains("while copying") && !contains("CUDA_LAUNCH_BLOCKING"));
}

TEST_CASE("a profiler sees each launch in a range with the kernel's name, and a replay without one") {
  triad::cuda::backend ex;
  words const one{"triad: nothing", "end"};
  CHECK(told([&] { launch(ex, nothing{}, 3); }) == one);
  CHECK(told([&] { launch(ex, nothing{}, 0); }).empty());
  auto const replayed = [&] { do_replay(ex, 1, [&] { launch(ex, nothing{}, 1); }); };
  CHECK(told(replayed) == one);
  CHECK(told(replayed) == one);  // recorded
  CHECK(told(replayed).empty());
}

TEST_CASE("a range ends where a launch throws") {
  doomed on;
  with_settings const scope({.deferred = false});
  CHECK(told([&] { (void)error_of([&] { launch(on.ex, faulty{}, 1); }); }) == words{"triad: faulty", "end"});
}

/// Returns the number of launches of our kernels, without cuBLAS, for a gradient of a tree machine.
std::ptrdiff_t launches_of_tree_machine(index_t steps, norm_position norms = norm_position::before) {
  struct node {
    index_t position, filler;
  };
  constexpr index_t batch = 2, symbols = 7;
  tree_positions<> const where(2, 4);
  tree_machine_options z{.steps = steps, .symbols = symbols, .unit_fillers = true};
  z.agent = {
      .layer = {.width = 8, .heads = 2, .hidden = 12, .dropout = 0.1, .norms = norms, .between = activation::gelu},
      .fillers = symbols};
  using machine = tree_machine<float>;
  trainer<machine, triad::cuda::backend>::options_type o;
  o.key = 3;
  o.capacity = tree_dims{batch};
  triad::cuda::backend ex;
  ex.record(false);
  trainer<machine, triad::cuda::backend> train(ex, machine(tree_interpreter<float>(where), where.count(), z), o);
  fill(ex, 0.0f, train.parameters().flat_values());
  tree_loader<triad::cuda::backend, float> loader({.where = where, .steps = steps, .symbols = symbols, .batch = batch},
                                                  memory_of(ex));
  std::vector<node> const source{{0, 1}, {1, 2}, {2, 3}}, target{{0, 3}, {1, 2}};
  for (index_t b = 0; b < batch; ++b) loader.add(source, target);
  auto const given = loader.upload();
  auto const names = told([&] { train.compute_gradient(given.first, given.second); });
  ex.synchronize();
  return std::ranges::count_if(names, [](auto const& name) { return name != "end"; });
}

TEST_CASE("a step of a tree machine is 34 launches and the products, or 28 with norms after the sums") {
  // Launches limit a step on a GPU: docs/notes/profile_h200.md lists them.  Trees of more than 4096 elements have one
  // more, which adds the chunks of a product.
  auto const four = launches_of_tree_machine(4);
  CHECK(launches_of_tree_machine(5) - four == 34);
  CHECK(launches_of_tree_machine(6) - four == 2 * 34);
  auto const after = [](index_t steps) { return launches_of_tree_machine(steps, norm_position::after); };
  CHECK(after(5) - after(4) == 28);
}

}  // namespace cuda_on_host_launch_tests
