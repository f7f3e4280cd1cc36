// triad-mpi.so: connects the processes that mpirun has started. Programs load this library
// (shared/processes/world.hpp).
// SPDX-License-Identifier: Apache-2.0
#include "shared/processes/world.hpp"
#include "triad/parallel/mpi.hpp"

namespace triad::programs {
namespace {

class processes_of_mpi final : public process_group {
 public:
  processes_of_mpi(int* argc, char*** argv) : session_(argc, argv) {}
  int rank() const override { return among_.rank(); }
  int size() const override { return among_.size(); }
  void exchange_bytes(int partner, void const* mine, std::size_t sent, void* theirs, std::size_t wanted) override {
    among_.exchange_bytes(partner, mine, sent, theirs, wanted);
  }
  void barrier() override { among_.barrier(); }
  [[noreturn]] void abort(int status) override { among_.abort(status); }

 private:
  mpi_session session_;
  mpi among_;
};

}  // namespace
}  // namespace triad::programs

extern "C" triad::programs::process_group* triad_processes_of_mpi(int* argc, char*** argv) {
  return new triad::programs::processes_of_mpi(argc, argv);
}
