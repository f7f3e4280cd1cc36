// The kernels for the host.
// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels_calls.hpp"
#include "kernels_host.hpp"
#include "kernels_table.h"
#include "triad/cpu/fuse_attention.hpp"
#include "triad/cpu/kernels/processor.hpp"
#include "triad/cpu/triangle.hpp"
#include "triad/decoding/arborescence.hpp"
#include "triad/tree/algebra.hpp"
#include "triad/tree/gather.hpp"
#include "triad/tree/roles.hpp"
#include "triad/tree/shift.hpp"
#include "triad/version.hpp"

namespace {

using namespace triad_torch;

/// Calls run(call, backend, arena, graphs), in which `call` has the element type float or double.
template <class Run>
void with_triangle(triad_triangle_call const& c, Run&& run) {
  with_type(c.type, [&](auto type) {
    triangle_call<decltype(type)> const work(c);
    if (work.empty()) return;
    auto const graphs = work.sizes().on_host();
    auto ex = host(c.place);
    planned_and_run(ex, [&](auto& on, triad::arena& scratch) { run(work, on, scratch, graphs); });
  });
}

template <class F>
void each_tree(triad_tree_call const& c, F&& f) {
  auto const positions = positions_of(c);
  auto ex = host(c.place);
  with_type(c.type, [&](auto type) {
    using T = decltype(type);
    triad::gather_algebra<T> const algebra(positions, c.filler);
    index_t const numbers = algebra.elements();
    triad::cpu::parallel_for(ex, c.trees, [&](index_t tree, int) {
      auto const from = typename triad::gather_algebra<T>::const_tree(static_cast<T const*>(c.from) + tree * numbers,
                                                                      positions.count(), c.filler);
      f(algebra, from, algebra.over(static_cast<T*>(c.to) + tree * numbers));
    });
  });
}

triad::role_maps<double> maps(triad::tree_positions<> const& positions, index_t width, double* roles, double* shifts) {
  return {triad::tensor<double, triad::dyn, triad::dyn>(roles, positions.count(), width),
          triad::tensor<double, triad::dyn, triad::dyn, triad::dyn>(shifts, positions.branching(), width, width)};
}

}  // namespace

extern "C" {

int triad_triangle(triad_triangle_call const* call, char* message, int64_t room) {
  return guarded(message, room, [&] {
    with_triangle(*call, [](auto const& work, auto& ex, triad::arena& scratch, triad::graph_batch const& graphs) {
      work.value(ex, scratch, graphs, copy_rows);
    });
  });
}

int triad_triangle_grad(triad_triangle_call const* call, char* message, int64_t room) {
  return guarded(message, room, [&] {
    with_triangle(*call, [](auto const& work, auto& ex, triad::arena& scratch, triad::graph_batch const& graphs) {
      work.gradient(ex, scratch, graphs, copy_rows);
    });
  });
}

int triad_fuse(triad_fuse_call const* call, char* message, int64_t room) {
  return guarded(message, room, [&] {
    auto ex = host(call->place);
    with_type(call->type, [&](auto type) { fuse_call<decltype(type)>{*call}.value(ex); });
  });
}

int triad_fuse_grad(triad_fuse_call const* call, char* message, int64_t room) {
  return guarded(message, room, [&] {
    auto ex = host(call->place);
    with_type(call->type, [&](auto type) {
      fuse_call<decltype(type)> const work{*call};
      std::memset(call->d_states, 0, work.bytes_of_states());
      work.gradient(ex);
    });
  });
}

int triad_tree_child(triad_tree_call const* call, char* message, int64_t room) {
  return guarded(message, room, [&] {
    each_tree(*call, [&](auto const& a, auto const& from, auto const& to) { triad::child(a, call->child, from, to); });
  });
}

int triad_tree_graft(triad_tree_call const* call, char* message, int64_t room) {
  return guarded(message, room, [&] {
    each_tree(*call, [&](auto const& a, auto const& from, auto const& to) { triad::graft(a, call->child, from, to); });
  });
}

int triad_make_roles(int64_t branching, int64_t depth, int64_t width, uint64_t seed, double* roles, double* shifts,
                     char* message, int64_t room) {
  return guarded(message, room, [&] {
    triad::tree_positions<> const positions(branching, depth);
    triad::make_random(positions, seed, maps(positions, width, roles, shifts));
  });
}

int triad_make_shifts(int64_t branching, int64_t depth, int64_t width, int64_t type, double* roles, double* shifts,
                      char* message, int64_t room) {
  return guarded(message, room, [&] {
    triad::tree_positions<> const positions(branching, depth);
    auto const made = maps(positions, width, roles, shifts);
    with_type(type, [&](auto number) {
      using T = decltype(number);
      std::vector<T> const given(roles, roles + positions.count() * width);
      triad::expect_orthonormal<T>(
          triad::tensor<T const, triad::dyn, triad::dyn>(given.data(), positions.count(), width), "roles");
    });
    triad::make_shifts<double>(positions, made.roles, made.shifts);
  });
}

int triad_arborescence(int64_t n, double const* scores, int64_t one_root, int64_t* heads, char* message, int64_t room) {
  return guarded(message, room, [&] {
    auto const best = triad::maximum_arborescence(triad::make_matrix<double const>(scores, n, n, n),
                                                  one_root != 0 ? triad::roots::one : triad::roots::any);
    std::copy(best.begin(), best.end(), heads);
  });
}

double triad_multiply_adds_a_second(void) { return triad::cpu::multiply_adds_a_second(); }

char const* triad_kernels_description(void) {
  static std::string const text = std::string(triad::version) + " " + TRIAD_TORCH_INSTRUCTIONS;
  return text.c_str();
}

triad_kernels const* triad_kernels_table(void) {
  static triad_kernels const table{triad_triangle,  triad_triangle_grad, triad_fuse,
                                   triad_fuse_grad, triad_tree_child,    triad_tree_graft};
  return &table;
}

}  // extern "C"
