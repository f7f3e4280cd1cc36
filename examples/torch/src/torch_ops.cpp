// The operators, registered with PyTorch: `triad::triangle`, `triangle_stacked`, `fuse`, `tree_child`, `tree_graft` and
// the gradients of the first three.
// SPDX-License-Identifier: Apache-2.0
//
// On LibTorch's stable interface, so that one file serves every PyTorch from 2.10 on.  What PyTorch asks of an operator
// beside its value (shapes without data, automatic differentiation, lower precision) is registered in Python, in
// python/triad_torch/_operators.py.
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels.h"
#include "kernels_table.h"
#include "stable_abi.h"
#include "torch_tensor.hpp"
#include "triad/ops/triangle.hpp"

namespace {

using namespace triad_torch;

std::int64_t type_of(tensor const& x) {
  auto const t = x.type();
  expect(t == aoti_torch_dtype_float32() || t == aoti_torch_dtype_float64(), "the kernels take float32 and float64");
  return t == aoti_torch_dtype_float32() ? triad_float32 : triad_float64;
}
bool lie_together(tensor const& x, tensor const& y) {
  return x.device_type() == y.device_type() && x.device_index() == y.device_index();
}
void expect_alike(tensor const& x, tensor const& like, char const* name) {
  expect(x.type() == like.type() && lie_together(x, like), std::string(name) + " has another type or lies elsewhere");
}

triad_kernels const *host_kernels = nullptr, *cuda_kernels = nullptr;
// PyTorch's current stream of a device; of its CUDA library, which is not there in a PyTorch for the host.
AOTITorchError (*current_cuda_stream)(std::int32_t device, void** stream) = nullptr;

/// PyTorch's threads at work on our tasks.  Ours beside them would take turns with them: those of OpenMP wait awake.
void on_pytorchs_threads(int workers, void (*work)(void*, int), void* context) {
  struct both {
    void (*work)(void*, int);
    void* context;
  } call{work, context};
  check(torch_parallel_for(
            0, workers, 1,
            [](std::int64_t begin, std::int64_t end, void* with) {
              auto const& c = *static_cast<both const*>(with);
              for (; begin < end; ++begin) c.work(c.context, static_cast<int>(begin));
            },
            &call),
        "lend its threads");
}

/// The kernels for where x lies, and what they need to know of it.
struct here {
  triad_kernels const* kernels = nullptr;
  triad_place place{};

  explicit here(tensor const& x) {
    if (x.device_type() == aoti_torch_device_type_cpu()) {
      expect(host_kernels != nullptr, "import triad_torch loads the kernels; this library was loaded without it");
      kernels = host_kernels;
      std::uint32_t threads = 1;
      check(torch_get_num_threads(&threads), "say how many threads it has");
      place.threads = threads;
      place.borrowed = on_pytorchs_threads;
      return;
    }
    expect(cuda_kernels != nullptr && current_cuda_stream != nullptr, "these kernels were built for the host alone");
    kernels = cuda_kernels;
    place.device = x.device_index();
    check(current_cuda_stream(x.device_index(), &place.stream), "say which stream is current");
  }
};

template <class Call>
void run(int (*kernel)(Call const*, char*, std::int64_t), Call const& call) {
  char message[1024] = "";
  if (kernel(&call, message, sizeof message) != 0) throw std::runtime_error(std::string("triad: ") + message);
}

// ---- triangular attention -------------------------------------------------------------------------------------------

/// What both forms of the operator have besides projections, and the checks of it.
struct triangle_arguments {
  static constexpr std::uint64_t tensors = 4;
  tensor sizes, masked, sources, seed;
  std::int64_t nodes = 0, form = 0;
  double fill = 0, dropout = 0;

  explicit triangle_arguments(arguments& all)
      : sizes(all.next_tensor()), masked(all.next_tensor()), sources(all.next_tensor()), seed(all.next_tensor()) {
    nodes = all.next_int();
    form = all.next_int();
    fill = all.next_float();
    dropout = all.next_float();
    for (auto* t : {&sizes, &masked, &sources, &seed}) t->put_together(t->axes());
    expect(sizes.type() == aoti_torch_dtype_int64() && sources.type() == aoti_torch_dtype_int64() &&
               seed.type() == aoti_torch_dtype_int64() && masked.type() == aoti_torch_dtype_bool(),
           "triangle: sizes, sources and seed are int64, masked is bool");
    expect(sizes.device_type() == aoti_torch_device_type_cpu(), "triangle: sizes lie in the host's memory");
    expect(nodes >= 0 && nodes < (std::int64_t{1} << 20), "triangle: nodes are 0 to 2^20 - 1");
    expect(dropout == 0 || seed.count() == 1, "triangle: dropout needs one seed");
  }

  triad_triangle_call call(here const& at, tensor const& query) const {
    triad_triangle_call c{};
    c.place = at.place;
    c.type = type_of(query);
    c.form = form;
    c.heads = query.size(query.axes() - 2);
    c.width = query.size(query.axes() - 1);
    c.rows = query.size(0);
    if (nodes > 0) {
      expect(sizes.count() == 0, "triangle: graphs have one number of nodes, or sizes");
      c.graphs = c.rows / (nodes * nodes);
      c.nodes = nodes;
    } else {
      c.graphs = sizes.count();
      c.sizes = static_cast<std::int64_t const*>(sizes.data());
    }
    c.masks = masked.count();
    if (c.masks > 0) {
      expect(lie_together(masked, query), "triangle: the mask lies where the query lies");
      c.masked = static_cast<std::uint8_t const*>(masked.data());
    }
    c.fill = fill;
    if (sources.count() > 0) {
      expect(sources.count() == c.graphs, "triangle: one number of sources a graph is needed");
      expect(lie_together(sources, query), "triangle: the sources lie where the query lies");
      c.sources = static_cast<std::int64_t const*>(sources.data());
    }
    c.dropout = dropout;
    if (dropout > 0) {
      expect(lie_together(seed, query), "triangle: the seed lies where the query lies");
      c.seed = static_cast<std::uint64_t const*>(seed.data());
    }
    return c;
  }
};

bool has_right(std::int64_t form) { return triad::uses_right_value(static_cast<triad::triangle_form>(form)); }

/// (rows, h, k); or one projection of (rows, p, h, k), which begins at `offset` in a row.  One row has any stride.
triad_rows rows_of(tensor const& x, std::int64_t offset = 0) {
  std::int64_t const bytes = type_of(x) == triad_float32 ? 4 : 8;
  auto* const data = static_cast<char*>(x.data());
  std::int64_t width = 1;
  for (std::int64_t a = 1; a < x.axes(); ++a) width *= x.size(a);
  return {data ? data + offset * bytes : nullptr, x.size(0) > 1 ? x.stride(0) : width};
}

/// Where the four projections of a call lie, or their gradients.
struct projection_rows {
  triad_rows &query, &key, &left, &right;
};
projection_rows operands_of(triad_triangle_call& c) { return {c.query, c.key, c.left, c.right}; }
projection_rows gradients_of(triad_triangle_call& c) { return {c.d_query, c.d_key, c.d_left, c.d_right}; }

/// Query, key and values as four tensors (rows, h, k).
struct four {
  static constexpr std::uint64_t tensors = 4;
  std::vector<tensor> parts;

  explicit four(arguments& all) {
    for (std::uint64_t p = 0; p < tensors; ++p) parts.push_back(all.next_tensor());
    for (auto& x : parts) {
      expect(x.axes() == 3, "triangle: query, key and values are (rows, heads, width)");
      expect_alike(x, query(), "triangle: a key or value");
      x.put_together(2);
    }
  }
  tensor const& query() const { return parts[0]; }
  void put(triad_triangle_call& c) const {
    for (std::size_t p = 1; p < (has_right(c.form) ? 4 : 3); ++p)
      for (std::int64_t a = 0; a < 3; ++a)
        expect(parts[p].size(a) == query().size(a), "triangle: query, key and values have one shape");
    place(parts, c, operands_of(c));
  }
  /// Four tensors, of which the last is empty where the form has no right value.
  std::vector<tensor> gradients(triad_triangle_call& c) const {
    std::vector<tensor> made;
    for (std::uint64_t p = 0; p < tensors; ++p)
      made.push_back(query().like({p < 3 || has_right(c.form) ? c.rows : 0, c.heads, c.width}));
    place(made, c, gradients_of(c));
    return made;
  }
  static void place(std::vector<tensor> const& x, triad_triangle_call const& c, projection_rows const& at) {
    at.query = rows_of(x[0]), at.key = rows_of(x[1]), at.left = rows_of(x[2]);
    if (has_right(c.form)) at.right = rows_of(x[3]);
  }
};

/// The same as one tensor (rows, p, h, k).
struct stacked {
  static constexpr std::uint64_t tensors = 1;
  tensor all;

  explicit stacked(arguments& a) : all(a.next_tensor()) {
    expect(all.axes() == 4, "triangle_stacked: projections are (rows, 4 or 3, heads, width)");
    all.put_together(3);
  }
  tensor const& query() const { return all; }
  void put(triad_triangle_call& c) const {
    expect(all.size(1) == (has_right(c.form) ? 4 : 3), "triangle_stacked: this form has another number of projections");
    place(all, c, operands_of(c));
  }
  std::vector<tensor> gradients(triad_triangle_call& c) const {
    std::vector<tensor> made;
    made.push_back(all.like({c.rows, all.size(1), c.heads, c.width}));
    place(made[0], c, gradients_of(c));
    return made;
  }
  static void place(tensor const& x, triad_triangle_call const& c, projection_rows const& at) {
    std::int64_t const d = c.heads * c.width;
    at.query = rows_of(x), at.key = rows_of(x, d), at.left = rows_of(x, 2 * d);
    if (has_right(c.form)) at.right = rows_of(x, 3 * d);
  }
};

template <class Operands>
void triangle(StableIValue* stack, std::uint64_t inputs, std::uint64_t) {
  arguments all(stack, inputs, Operands::tensors + triangle_arguments::tensors);
  Operands const x(all);
  triangle_arguments const how(all);
  here const at(x.query());
  auto c = how.call(at, x.query());
  x.put(c);
  auto o = x.query().like({c.rows, c.heads, c.width}), maximum = x.query().like({c.rows, c.heads}),
       inverse_sum = x.query().like({c.rows, c.heads});
  c.output = rows_of(o);
  c.maximum = maximum.data(), c.inverse_sum = inverse_sum.data();
  run(at.kernels->triangle, c);
  all.results(o, maximum, inverse_sum);
}

struct saved {
  static constexpr std::uint64_t tensors = 4;
  tensor d_output, output, maximum, inverse_sum;

  explicit saved(arguments& all)
      : d_output(all.next_tensor()),
        output(all.next_tensor()),
        maximum(all.next_tensor()),
        inverse_sum(all.next_tensor()) {
    for (auto* x : {&d_output, &output}) {
      expect(x->axes() == 3, "triangle_grad: the output and its gradient are (rows, heads, width)");
      x->put_together(2);
    }
    for (auto* x : {&maximum, &inverse_sum}) {
      expect(x->axes() == 2, "triangle_grad: maximum and inverse_sum are (rows, heads)");
      x->put_together(2);
    }
  }
  void put(triad_triangle_call& c, tensor const& query) const {
    for (auto const* x : {&d_output, &output}) {
      expect_alike(*x, query, "triangle_grad: the output or its gradient");
      expect(x->size(0) == c.rows && x->size(1) == c.heads && x->size(2) == c.width,
             "triangle_grad: the output and its gradient have the query's shape");
    }
    for (auto const* x : {&maximum, &inverse_sum}) {
      expect_alike(*x, query, "triangle_grad: a statistic");
      expect(x->size(0) == c.rows && x->size(1) == c.heads, "triangle_grad: maximum and inverse_sum are (rows, heads)");
    }
    c.output = rows_of(output), c.d_output = rows_of(d_output);
    c.maximum = maximum.data(), c.inverse_sum = inverse_sum.data();
  }
};

template <class Operands>
void triangle_grad(StableIValue* stack, std::uint64_t inputs, std::uint64_t) {
  arguments all(stack, inputs, saved::tensors + Operands::tensors + triangle_arguments::tensors);
  saved const s(all);
  Operands const x(all);
  triangle_arguments const how(all);
  here const at(x.query());
  auto c = how.call(at, x.query());
  x.put(c);
  s.put(c, x.query());
  auto gradients = x.gradients(c);
  run(at.kernels->triangle_grad, c);
  all.results(gradients);
}

// ---- fuse-attention -------------------------------------------------------------------------------------------------

/// u (rows, h, d), states (l, rows, d), seed, dropout.
struct fuse_arguments {
  static constexpr std::uint64_t tensors = 3;
  tensor u, states, seed;
  double dropout = 0;

  explicit fuse_arguments(arguments& all) : u(all.next_tensor()), states(all.next_tensor()), seed(all.next_tensor()) {
    dropout = all.next_float();
    expect(u.axes() == 3 && states.axes() == 3, "fuse: u is (rows, heads, d), states are (layers, rows, d)");
    expect_alike(states, u, "fuse: the states");
    expect(states.size(1) == u.size(0) && states.size(2) == u.size(2),
           "fuse: u and the states differ in rows or width");
    expect(seed.type() == aoti_torch_dtype_int64() && (dropout == 0 || seed.count() == 1),
           "fuse: dropout needs one int64 seed");
    u.put_together(3), states.put_together(3);
  }
  triad_fuse_call call(here const& at) const {
    triad_fuse_call c{};
    c.place = at.place;
    c.type = type_of(u);
    c.layers = states.size(0), c.rows = u.size(0), c.heads = u.size(1), c.width = u.size(2);
    c.dropout = dropout;
    if (dropout > 0) {
      expect(lie_together(seed, u), "fuse: the seed lies where u lies");
      c.seed = static_cast<std::uint64_t const*>(seed.data());
    }
    c.u = u.data(), c.states = states.data();
    return c;
  }
};

void fuse(StableIValue* stack, std::uint64_t inputs, std::uint64_t) {
  arguments all(stack, inputs, fuse_arguments::tensors);
  fuse_arguments const x(all);
  here const at(x.u);
  auto c = x.call(at);
  auto mixed = x.u.like({c.rows, c.heads, c.width}), kept = x.u.like({c.rows, c.heads}),
       weights = x.u.like({c.rows, c.heads, c.layers});
  c.mixed = mixed.data(), c.kept = kept.data(), c.weights = weights.data();
  if (c.rows > 0) run(at.kernels->fuse, c);
  all.results(mixed, kept, weights);
}

void fuse_grad(StableIValue* stack, std::uint64_t inputs, std::uint64_t) {
  arguments all(stack, inputs, 3 + fuse_arguments::tensors);
  auto d_mixed = all.next_tensor(), d_kept = all.next_tensor(), weights = all.next_tensor();
  fuse_arguments const x(all);
  here const at(x.u);
  auto c = x.call(at);
  d_mixed.put_together(d_mixed.axes()), d_kept.put_together(d_kept.axes()), weights.put_together(weights.axes());
  for (auto const* t : {&d_mixed, &d_kept, &weights}) expect_alike(*t, x.u, "fuse_grad: a gradient or the weights");
  expect(d_mixed.count() == x.u.count() && d_kept.count() == c.rows * c.heads &&
             weights.count() == c.rows * c.heads * c.layers,
         "fuse_grad: gradients and weights have the shapes of what they belong to");
  auto du = x.u.like({c.rows, c.heads, c.width}), d_states = x.u.like({c.layers, c.rows, c.width});
  c.d_mixed = d_mixed.data(), c.d_kept = d_kept.data(), c.weights = weights.data();
  c.d_u = du.data(), c.d_states = d_states.data();
  if (c.rows > 0) run(at.kernels->fuse_grad, c);
  all.results(du, d_states);
}

// ---- trees ----------------------------------------------------------------------------------------------------------

void shift_trees(StableIValue* stack, std::uint64_t inputs,
                 int (*triad_kernels::*kernel)(triad_tree_call const*, char*, std::int64_t)) {
  arguments all(stack, inputs, 1);
  auto x = all.next_tensor();
  triad_tree_call c{};
  c.child = all.next_int(), c.branching = all.next_int(), c.depth = all.next_int();
  expect(x.axes() == 3, "trees are (batch, positions, filler)");
  x.put_together(3);
  here const at(x);
  c.place = at.place;
  c.type = type_of(x);
  c.trees = x.size(0), c.filler = x.size(2);
  std::int64_t positions = 0;
  for (std::int64_t k = 0, level = 1; k < c.depth && positions <= x.size(1); ++k, level *= c.branching)
    positions += level;
  expect(positions == x.size(1), "trees of this branching and depth have another number of positions");
  auto y = x.like({c.trees, x.size(1), c.filler});
  c.from = x.data(), c.to = y.data();
  run(at.kernels->*kernel, c);
  all.results(y);
}
void tree_child(StableIValue* stack, std::uint64_t inputs, std::uint64_t) {
  shift_trees(stack, inputs, &triad_kernels::tree_child);
}
void tree_graft(StableIValue* stack, std::uint64_t inputs, std::uint64_t) {
  shift_trees(stack, inputs, &triad_kernels::tree_graft);
}

// ---- registration ---------------------------------------------------------------------------------------------------

#define TRIAD_TRIANGLE_ARGUMENTS \
  "Tensor sizes, Tensor masked, Tensor sources, Tensor seed, int nodes, int form, float fill, float dropout"

struct registration {
  TorchLibraryHandle schemas = nullptr, implementations[2] = {};

  std::string failure;

  registration() {
    try {
      make();
    } catch (std::exception const& e) {  // nobody could catch it while a library is loaded
      failure = e.what();
    }
  }

 private:
  void make() {
    check(aoti_torch_library_init_def("triad", __FILE__, __LINE__, &schemas), "make a library of operators");
    for (char const* schema :
         {"triangle(Tensor query, Tensor key, Tensor left, Tensor right, " TRIAD_TRIANGLE_ARGUMENTS
          ") -> (Tensor, Tensor, Tensor)",
          "triangle_grad(Tensor d_output, Tensor output, Tensor maximum, Tensor inverse_sum, Tensor query, Tensor key, "
          "Tensor left, Tensor right, " TRIAD_TRIANGLE_ARGUMENTS ") -> (Tensor, Tensor, Tensor, Tensor)",
          "triangle_stacked(Tensor projections, " TRIAD_TRIANGLE_ARGUMENTS ") -> (Tensor, Tensor, Tensor)",
          "triangle_stacked_grad(Tensor d_output, Tensor output, Tensor maximum, Tensor inverse_sum, "
          "Tensor projections, " TRIAD_TRIANGLE_ARGUMENTS ") -> Tensor",
          "fuse(Tensor u, Tensor states, Tensor seed, float dropout) -> (Tensor, Tensor, Tensor)",
          "fuse_grad(Tensor d_mixed, Tensor d_kept, Tensor weights, Tensor u, Tensor states, Tensor seed, "
          "float dropout) -> (Tensor, Tensor)",
          "tree_child(Tensor trees, int child, int branching, int depth) -> Tensor",
          "tree_graft(Tensor trees, int child, int branching, int depth) -> Tensor"})
      check(aoti_torch_library_def(schemas, schema), "define an operator");
    struct {
      char const* name;
      void (*kernel)(StableIValue*, std::uint64_t, std::uint64_t);
    } const kernels[] = {{"triangle", triangle<four>},
                         {"triangle_grad", triangle_grad<four>},
                         {"triangle_stacked", triangle<stacked>},
                         {"triangle_stacked_grad", triangle_grad<stacked>},
                         {"fuse", fuse},
                         {"fuse_grad", fuse_grad},
                         {"tree_child", tree_child},
                         {"tree_graft", tree_graft}};
    char const* const places[] = {"CPU", "CUDA"};
    for (int place = 0; place < 2; ++place) {
      auto* const into = &implementations[place];
      check(aoti_torch_library_init_impl("triad", places[place], __FILE__, __LINE__, into),
            "make a library of kernels");
      for (auto const& k : kernels) check(torch_library_impl(*into, k.name, k.kernel, built_for), "register a kernel");
    }
  }
} const registered;

}  // namespace

/// What kept the operators from being registered, for example another library's of the same name; "" where nothing did.
extern "C" TRIAD_TORCH_API char const* triad_torch_failure() { return registered.failure.c_str(); }
/// Called by Python, with the kernels that suit this processor.
extern "C" TRIAD_TORCH_API void triad_torch_use(triad_kernels const* kernels) { host_kernels = kernels; }
/// The same for GPUs, with aoti_torch_get_current_cuda_stream of the PyTorch that is loaded.
extern "C" TRIAD_TORCH_API void triad_torch_use_cuda(triad_kernels const* kernels, void* stream_of) {
  cuda_kernels = kernels;
  std::memcpy(&current_cuda_stream, &stream_of, sizeof stream_of);
}
