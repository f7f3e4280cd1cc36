// A program's model on the backend that its options name: each backend is a translation unit of its own, which
// triad_app() makes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <new>
#include <string>

#include "backend_choice.hpp"
#include "learner.hpp"
#include "options.hpp"

namespace triad::apps {

// Net: an interface with types options (a run_options) and room, and a static make(ex, options, room) that these units
// alone see.  Where a build has not got the backend, its function says so by a data_error.
template <class Net>
std::unique_ptr<Net> make_on_reference(typename Net::options const& o, typename Net::room const& z);
template <class Net>
std::unique_ptr<Net> make_on_cpu(typename Net::options const& o, typename Net::room const& z);
template <class Net>
std::unique_ptr<Net> make_on_cuda(typename Net::options const& o, typename Net::room const& z);

template <class Net>
std::unique_ptr<Net> make(typename Net::options const& o, typename Net::room const& z) {
  return on_chosen_backend(
      o, [&] { return make_on_reference<Net>(o, z); }, [&] { return make_on_cpu<Net>(o, z); },
      [&] { return make_on_cuda<Net>(o, z); });
}

/// The same for training: where there is no memory for it, that is said, with `advice`.
template <class Net>
std::unique_ptr<Net> make(typename Net::options const& o, typename Net::room const& z, std::string const& advice) {
  try {
    return make<Net>(o, z);
  } catch (std::bad_alloc const&) {
    throw data_error("there is not enough memory for batches of " + advice);
  }
}

}  // namespace triad::apps
