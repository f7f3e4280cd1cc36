// How the stand-in for a GPU runs what it is given: in which order, how soon, how strictly.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace triad::cuda_on_host {

/// The first settings are read from TRIAD_CUDA_ON_HOST: words out of `shuffled`, `seed=7`, `immediate`, `lenient`,
/// `unified`.
struct settings {
  bool shuffled = false;   // threads, warps and blocks take turns as the seed says; else in order
  std::uint64_t seed = 1;  // of that, and of which stream goes on when several could
  bool deferred =
      true;  // work waits in its stream until a synchronisation asks for it; else it is done when it is queued
  bool strict = true;    // no thread may have returned when others come to a barrier
  bool unified = false;  // products and memsets reach the host's memory too; kernels always can
};

settings const& settings_in_use();
/// Returns those that were in use.  The generators begin anew, so that a test draws the same numbers whatever ran
/// before it.
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

/// What a generator starts from: another number each time, the same ones after each use().
std::uint64_t next_seed();

/// One more random number (splitmix64).  Of internal linkage: the engine must not be given a copy that TSan watches.
static inline std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace triad::cuda_on_host
