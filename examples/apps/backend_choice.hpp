// Which backend a program's model is made on, and what is said where a build has not got it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "triad/core/errors.hpp"

namespace triad::apps {

/// o: backend and arithmetic as the command line has them.  make_*() are units of their own, compiled each for its
/// backend.
template <class Options, class OnReference, class OnCpu, class OnCuda>
auto on_chosen_backend(Options const& o, OnReference&& make_on_reference, OnCpu&& make_on_cpu, OnCuda&& make_on_cuda) {
  if (o.backend == "cuda") return make_on_cuda();
  if (o.arithmetic != "float32")
    throw data_error("--precision " + o.arithmetic + " is for --backend cuda; " + o.backend + " has float32 alone");
  return o.backend == "reference" ? make_on_reference() : make_on_cpu();
}

[[noreturn]] inline void built_without_cuda(std::string const& program) {
  throw data_error(
      "this " + program +
      " was built without CUDA: with a CUDA toolkit, cmake --preset cuda && cmake --build --preset cuda --target " +
      program + "  makes build/cuda/bin/" + program + ", which has --backend cuda");
}

[[noreturn]] inline void built_without_cpu(std::string const& program) {
  throw data_error(
      "this " + program +
      " has no cpu backend, since no BLAS was found when it was built: give --backend cuda or --backend reference, or "
      "install OpenBLAS and build it again");
}

}  // namespace triad::apps
