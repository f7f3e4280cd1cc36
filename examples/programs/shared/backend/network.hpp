// Creates a program's model on the backend that the options name. Each backend is compiled in its own source file,
// which triad_app() generates.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <string>

#include "room_advice.hpp"
#include "shared/report/refuse.hpp"
#include "triad/core/buffer.hpp"

namespace triad::programs {

// Net is an interface with the types options (a run_options) and room.  Its static function make(ex, options, room) is
// defined only in the source files of the backends.  If the program was built without a backend, the function for that
// backend throws data_error.
template <class Net>
std::unique_ptr<Net> make_on_reference(typename Net::options const& o, typename Net::room const& z);
template <class Net>
std::unique_ptr<Net> make_on_cpu(typename Net::options const& o, typename Net::room const& z);
template <class Net>
std::unique_ptr<Net> make_on_cuda(typename Net::options const& o, typename Net::room const& z);

template <class Net>
std::unique_ptr<Net> make(typename Net::options const& o, typename Net::room const& z) {
  expect_arithmetic(o);
  if (o.backend == "cuda") return make_on_cuda<Net>(o, z);
  return o.backend == "reference" ? make_on_reference<Net>(o, z) : make_on_cpu<Net>(o, z);
}

/// Makes the model like the function above.  If there is not enough memory, throws data_error with a message that says
/// what the memory was for.
template <class Net>
std::unique_ptr<Net> make(typename Net::options const& o, typename Net::room const& z, room_advice const& advice) {
  auto const left = [&] { return o.backend == "cuda" ? std::nullopt : memory_left(); };
  try {
    return make<Net>(o, z);
  } catch (memory_refused const& e) {
    refuse_room(advice, e.bytes(), left());
  } catch (std::bad_alloc const&) {
    refuse_room(advice, 0, left());
  }
}

// The errors for backends that the program was built without.
[[noreturn]] inline void built_without_cuda(std::string const& program) {
  refuse(
      "this {} was built without CUDA: with a CUDA toolkit, cmake --preset cuda && cmake --build --preset cuda "
      "--target {}  makes build/cuda/bin/{}, which has --backend cuda",
      program, program, program);
}

[[noreturn]] inline void built_without_cpu(std::string const& program) {
  refuse(
      "this {} has no cpu backend, since no BLAS was found when it was built: give --backend cuda or --backend "
      "reference, or install OpenBLAS and build it again",
      program);
}

}  // namespace triad::programs
