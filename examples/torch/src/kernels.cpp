// The kernels on the host.
// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels_table.h"
#include "triad/cpu/fuse_attention.hpp"
#include "triad/cpu/triangle.hpp"
#include "triad/ops/fuse_attention.hpp"
#include "triad/ops/triangle.hpp"
#include "triad/tree/algebra.hpp"
#include "triad/tree/gather.hpp"
#include "triad/tree/shift.hpp"
#include "triad/version.hpp"

namespace {

using triad::index_t;

/// work(), with what it throws as a sentence.
template <class Work>
int guarded(char* message, std::int64_t room, Work&& work) {
  try {
    work();
    return 0;
  } catch (std::bad_alloc const&) {
    std::snprintf(message, static_cast<std::size_t>(room), "%s", "out of memory for what the kernels work in");
  } catch (std::exception const& e) {
    std::snprintf(message, static_cast<std::size_t>(room), "%s", e.what());
  }
  return 1;
}

/// f(a number of the type of the data).
template <class F>
void with_type(std::int64_t type, F&& f) {
  TRIAD_EXPECTS(type == triad_float32 || type == triad_float64, "kernels: data are float32 or float64");
  if (type == triad_float32)
    f(float{});
  else
    f(double{});
}

triad::cpu::backend host(triad_place const& place) {
  triad::cpu::backend ex(static_cast<int>(place.threads));
  ex.borrowed = place.borrowed;
  return ex;
}

/// Memory that a thread keeps between its calls, so that training does not allocate; but not much.
class kept_memory {
 public:
  static constexpr std::size_t most = std::size_t{64} << 20;

  std::byte* at_least(std::size_t bytes) {
    if (bytes > size_) {
      memory_.reset();
      size_ = 0;
      memory_.reset(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{triad::arena_alignment})));
      size_ = bytes;
    }
    return memory_.get();
  }
  void give_back() {
    if (size_ <= most) return;
    memory_.reset();
    size_ = 0;
  }

 private:
  struct free_aligned {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{triad::arena_alignment}); }
  };
  std::unique_ptr<std::byte, free_aligned> memory_;
  std::size_t size_ = 0;
};

/// work(arena) on memory that fits: first on none, which measures.
template <class Work>
void in_scratch(Work&& work) {
  thread_local kept_memory memory;
  struct returned {
    ~returned() { memory.give_back(); }
  } const at_end;
  auto const bytes = triad::planned_bytes(work);
  triad::arena place(memory.at_least(bytes), bytes);
  work(place);
}

/// Whether the bytes that a kernel may load behind an operand lie in its last page, where they can be read.
bool may_read_past(void const* end) {
  constexpr std::uintptr_t page = 4096;
  auto const last = reinterpret_cast<std::uintptr_t>(end) - 1;
  return last / page == (last + triad::arena_slack) / page;
}

/// The caller's rows as an operand.  Kernels load whole vectors (triad/ops/triangle.hpp): rows that end where their
/// page ends are copied.
template <class T>
triad::matrix<T const> operand(triad::arena& place, triad_rows const& x, index_t rows, index_t columns) {
  auto const* const data = static_cast<T const*>(x.data);
  if (rows == 0 || may_read_past(data + (rows - 1) * x.stride + columns))
    return triad::make_matrix(data, rows, columns, x.stride);
  auto const copy = place.make<triad::tensor<T, triad::dyn, triad::dyn>>(rows, columns);
  if (!place.measuring())
    for (index_t r = 0; r < rows; ++r) std::copy_n(data + r * x.stride, columns, &copy(r, 0));
  return triad::make_matrix<T const>(copy.data_handle(), rows, columns, columns);
}
template <class T>
triad::matrix<T> result(triad_rows const& x, index_t rows, index_t columns) {
  return triad::make_matrix(static_cast<T*>(x.data), rows, columns, x.stride);
}

/// Where the graphs of a call begin.
struct layout {
  std::vector<index_t> size, node, edge, triangle;
  triad::graph_dims dims;

  explicit layout(triad_triangle_call const& c) {
    TRIAD_EXPECTS(c.graphs >= 0 && c.nodes >= 0, "triangular_attention: a number of graphs or nodes is negative");
    dims.graphs = c.graphs;
    for (index_t g = 0; g < c.graphs; ++g) {
      index_t const n = c.sizes ? c.sizes[g] : c.nodes;
      TRIAD_EXPECTS(n >= 0 && n < (index_t{1} << 20), "triangular_attention: graph " + std::to_string(g) + " has " +
                                                          std::to_string(n) + " nodes, expected 0 to 2^20 - 1");
      size.push_back(n), node.push_back(dims.nodes), edge.push_back(dims.rows), triangle.push_back(dims.triangles);
      dims.nodes += n, dims.rows += n * n, dims.triangles += n * n * n;
      dims.max_nodes = std::max(dims.max_nodes, n);
    }
  }
  triad::graph_batch view() const {
    auto const of = [&](std::vector<index_t> const& v) { return triad::make_vec(v.data(), dims.graphs); };
    return {dims, of(size), of(node), of(edge), of(triangle)};
  }
};

triad::dropout_mask dropout(double rate, std::uint64_t const* seed) {
  TRIAD_EXPECTS(rate >= 0 && rate < 1,
                "dropout: the rate is " + std::to_string(rate) + ", expected 0 or more, below 1");
  return {rate, rate > 0 ? *seed : 0};
}

triad::triangle_options options(triad_triangle_call const& c, triad::graph_dims const& dims) {
  TRIAD_EXPECTS(c.form >= 0 && c.form <= static_cast<std::int64_t>(triad::triangle_form::flat),
                "triangular_attention: no such form");
  triad::triangle_options t{static_cast<triad::triangle_form>(c.form), c.heads};
  if (c.masked) t.mask = {triad::make_vec(c.masked, dims.triangles), c.fill};
  if (c.sources) t.sources = triad::make_vec(static_cast<index_t const*>(c.sources), c.graphs);
  t.dropout = dropout(c.dropout, c.seed);
  return t;
}

/// The call's parts as the operations take them.
template <class T>
struct triangle_parts {
  layout graphs;
  triad::triangle_options how;
  index_t rows, d;

  explicit triangle_parts(triad_triangle_call const& c)
      : graphs(c), how(options(c, graphs.dims)), rows(graphs.dims.rows), d(c.heads * c.width) {}

  bool has_right() const { return triad::uses_right_value(how.form); }
  triad::triangle_projections<T const> projections(triad::arena& place, triad_triangle_call const& c) const {
    auto const of = [&](triad_rows const& x) { return operand<T>(place, x, rows, d); };
    auto const query = of(c.query), key = of(c.key), left = of(c.left);
    return {query, key, left, has_right() ? of(c.right) : triad::make_matrix<T const>(nullptr, 0, 0, 0)};
  }
  triad::triangle_statistics<T> statistics(triad_triangle_call const& c) const {
    auto const of = [&](void* x) { return triad::make_matrix(static_cast<T*>(x), rows, c.heads, c.heads); };
    return {of(c.maximum), of(c.inverse_sum)};
  }
};

/// run(backend or measuring backend, arena): twice, the first time without memory.
template <class Run>
void planned_and_run(triad_place const& place, Run&& run) {
  auto ex = host(place);
  in_scratch([&](triad::arena& scratch) {
    if (scratch.measuring()) {
      triad::measuring<triad::cpu::backend> planner{&ex};
      run(planner, scratch);
    } else {
      run(ex, scratch);
    }
  });
}

template <class F>
void each_tree(triad_tree_call const& c, F&& f) {
  triad::tree_positions<> const positions(c.branching, c.depth);
  TRIAD_EXPECTS(
      c.child >= 0 && c.child < c.branching,
      "trees: child " + std::to_string(c.child) + " is asked for, and a node has " + std::to_string(c.branching));
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
    auto const& c = *call;
    with_type(c.type, [&](auto type) {
      using T = decltype(type);
      triangle_parts<T> const parts(c);
      planned_and_run(c.place, [&](auto& ex, triad::arena& scratch) {
        triad::triangle(ex, scratch, parts.how, parts.projections(scratch, c), parts.graphs.view(), parts.statistics(c),
                        result<T>(c.output, parts.rows, parts.d));
      });
    });
  });
}

int triad_triangle_grad(triad_triangle_call const* call, char* message, int64_t room) {
  return guarded(message, room, [&] {
    auto const& c = *call;
    with_type(c.type, [&](auto type) {
      using T = decltype(type);
      triangle_parts<T> const parts(c);
      auto const of = [&](triad_rows const& x) { return result<T>(x, parts.rows, parts.d); };
      triad::triangle_projections<T> const gradient{
          of(c.d_query), of(c.d_key), of(c.d_left),
          parts.has_right() ? of(c.d_right) : triad::make_matrix<T>(nullptr, 0, 0, 0)};
      planned_and_run(c.place, [&](auto& ex, triad::arena& scratch) {
        auto const x = parts.projections(scratch, c);
        auto const s = parts.statistics(c);
        auto const o = operand<T>(scratch, c.output, parts.rows, parts.d),
                   d_o = operand<T>(scratch, c.d_output, parts.rows, parts.d);
        triad::triangle_grad(ex, scratch, parts.how, x, parts.graphs.view(),
                             triad::triangle_statistics<T const>{s.maximum, s.inverse_sum}, o, d_o, gradient);
      });
    });
  });
}

int triad_fuse(triad_fuse_call const* call, char* message, int64_t room) {
  return guarded(message, room, [&] {
    auto const& c = *call;
    auto ex = host(c.place);
    with_type(c.type, [&](auto type) {
      using T = decltype(type);
      using rows_view = triad::tensor<T, triad::dyn, triad::dyn>;
      using rows_read = triad::tensor<T const, triad::dyn, triad::dyn>;
      triad::fuse_attention_options const how{c.heads, dropout(c.dropout, c.seed)};
      triad::fuse_attention(ex, how, c.layers, rows_read(static_cast<T const*>(c.u), c.rows, c.heads * c.width),
                            triad::layer_states<T const>(static_cast<T const*>(c.states), c.layers, c.rows, c.width),
                            rows_view(static_cast<T*>(c.weights), c.rows, c.heads * c.layers),
                            rows_view(static_cast<T*>(c.mixed), c.rows, c.heads * c.width),
                            rows_view(static_cast<T*>(c.kept), c.rows, c.heads));
    });
  });
}

int triad_fuse_grad(triad_fuse_call const* call, char* message, int64_t room) {
  return guarded(message, room, [&] {
    auto const& c = *call;
    auto ex = host(c.place);
    with_type(c.type, [&](auto type) {
      using T = decltype(type);
      using rows_read = triad::tensor<T const, triad::dyn, triad::dyn>;
      auto const read = [&](void const* x, index_t columns) {
        return rows_read(static_cast<T const*>(x), c.rows, columns);
      };
      triad::fuse_attention_options const how{c.heads, dropout(c.dropout, c.seed)};
      auto* const d_states = static_cast<T*>(c.d_states);
      std::fill_n(d_states, c.layers * c.rows * c.width, T(0));
      triad::fuse_attention_grad(
          ex, how, c.layers, read(c.u, c.heads * c.width),
          triad::layer_states<T const>(static_cast<T const*>(c.states), c.layers, c.rows, c.width),
          read(c.weights, c.heads * c.layers), read(c.d_mixed, c.heads * c.width), read(c.d_kept, c.heads),
          triad::tensor<T, triad::dyn, triad::dyn>(static_cast<T*>(c.d_u), c.rows, c.heads * c.width),
          triad::layer_states<T>(d_states, c.layers, c.rows, c.width));
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

int triad_make_shifts(int64_t branching, int64_t depth, int64_t width, double* roles, double* shifts, char* message,
                      int64_t room) {
  return guarded(message, room, [&] {
    triad::tree_positions<> const positions(branching, depth);
    triad::make_given(positions, maps(positions, width, roles, shifts));
  });
}

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
