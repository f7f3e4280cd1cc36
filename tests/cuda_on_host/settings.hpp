// Settings of the stand-in for a GPU: the order of work, when it runs, and how strict the checks are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace triad::cuda_on_host {

/// The initial settings are read from TRIAD_CUDA_ON_HOST, a list of the words `shuffled`, `seed=7`, `immediate`,
/// `lenient`, `unified`.
struct settings {
  bool shuffled = false;   // the seed decides the order of threads, warps and blocks; otherwise in order
  std::uint64_t seed = 1;  // of that order, and of which stream goes on if several can
  bool deferred = true;    // work waits in its stream until a synchronisation; otherwise it is done when it is queued
  bool strict = true;      // no thread may have returned when others reach a barrier
  bool unified = false;    // products and memsets also access the host's memory; kernels always can
};

settings const& settings_in_use();
/// Sets the settings and returns the earlier ones. The generators start again, so that a test draws the same numbers
/// whatever ran before it.
settings use(settings);

/// Settings for a scope.
class with_settings {
 public:
  explicit with_settings(settings s) : before_(use(s)) {}
  with_settings(with_settings const&) = delete;
  with_settings& operator=(with_settings const&) = delete;
  ~with_settings() { use(before_); }

 private:
  settings before_;
};

/// The start of a generator: another number in each call, and the same sequence after each use().
std::uint64_t next_seed();

/// Returns one more random number (splitmix64). It has internal linkage, so that the engine does not link a copy that
/// TSan instruments.
static inline std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace triad::cuda_on_host
