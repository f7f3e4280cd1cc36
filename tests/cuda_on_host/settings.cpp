// Settings of the stand-in for a GPU. This file must not be built with -fsanitize=thread (see README.md).
// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_on_host/settings.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace triad::cuda_on_host {

namespace {

settings from_environment() {
  settings s;
  char const* const words = std::getenv("TRIAD_CUDA_ON_HOST");
  if (words == nullptr) return s;
  s.shuffled = std::strstr(words, "shuffled") != nullptr;
  s.deferred = std::strstr(words, "immediate") == nullptr;
  s.strict = std::strstr(words, "lenient") == nullptr;
  s.unified = std::strstr(words, "unified") != nullptr;
  if (char const* const seed = std::strstr(words, "seed=")) s.seed = std::strtoull(seed + 5, nullptr, 10);
  std::fprintf(
      stderr, "cuda on host: threads %s, seed %llu, streams %s, %s about threads that return before a barrier%s\n",
      s.shuffled ? "shuffled" : "in order", static_cast<unsigned long long>(s.seed),
      s.deferred ? "deferred" : "immediate", s.strict ? "strict" : "lenient", s.unified ? ", memory unified" : "");
  return s;
}

struct in_use {
  settings now = from_environment();
  std::uint64_t state = now.seed;
};

in_use& the() {
  static in_use it;
  return it;
}

}  // namespace

settings const& settings_in_use() { return the().now; }

settings use(settings s) {
  settings const before = the().now;
  the().now = s;
  the().state = s.seed;
  return before;
}

std::uint64_t next_seed() { return next_random(the().state); }

}  // namespace triad::cuda_on_host
