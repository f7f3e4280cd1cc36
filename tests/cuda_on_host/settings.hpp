// Settings of the stand-in for a GPU: the order of work, when it runs, and how strict the checks are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace triad::cuda_on_host {

/// The initial settings come from the environment variable TRIAD_CUDA_ON_HOST, a list of the words `shuffled`,
/// `seed=7`, `immediate`, `lenient` and `unified`.
struct settings {
  bool shuffled = false;   // the seed decides the order of threads, warps and blocks; false: in order
  std::uint64_t seed = 1;  // also decides which stream continues if several can
  bool deferred = true;    // work waits in its stream until a synchronisation; false: runs at once
  bool strict = true;      // a barrier is a fault if a thread of the block has returned
  bool unified = false;    // products and memsets may access host memory; kernels always may
};

settings const& settings_in_use();
/// Sets the settings and returns the settings before. The random generators start again, so a test draws the same
/// numbers, whatever ran before the test.
settings use(settings);

/// Sets settings while the object exists.
class with_settings {
 public:
  explicit with_settings(settings s) : before_(use(s)) {}
  with_settings(with_settings const&) = delete;
  with_settings& operator=(with_settings const&) = delete;
  ~with_settings() { use(before_); }

 private:
  settings before_;
};

/// Returns a seed for a generator. Each call returns another seed. The sequence of seeds is the same after each use().
std::uint64_t next_seed();

/// Returns the next random number (splitmix64). The function has internal linkage, so that the engine does not link a
/// copy that TSan instruments.
static inline std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace triad::cuda_on_host
