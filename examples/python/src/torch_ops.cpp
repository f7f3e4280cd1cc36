// The operators, registered with PyTorch: `triad::triangle`, `triangle_stacked`, `attention`, `fuse`, `tree_child`,
// `tree_graft` and the gradients of the first four.
// SPDX-License-Identifier: Apache-2.0
//
// This file uses LibTorch's stable interface, so that the compiled library works with every PyTorch from 2.10 on.
// Python registers the rest of each operator in python/triad_torch/_operators.py: shapes without data, automatic
// differentiation and lower precision.
#include <cstring>
#include <exception>
#include <string>

#include "torch_attention.hpp"

namespace {

using namespace triad_torch;

// ---- fuse-attention -------------------------------------------------------------------------------------------------

/// The operands of fuse-attention: u (rows, h, d), states (l, rows, d), seed, dropout.
struct fuse_arguments {
  static constexpr std::uint64_t tensors = 3;
  tensor u, states, seed;
  double dropout = 0;

  explicit fuse_arguments(arguments& all) : u(all.next_tensor()), states(all.next_tensor()), seed(all.next_tensor()) {
    dropout = all.next_float();
    expect(u.axes() == 3 && states.axes() == 3, [&] {
      return "fuse: u is " + shape_of(u) + " and states is " + shape_of(states) +
             ", expected (rows, heads, d) and (layers, rows, d)";
    });
    expect_alike(states, u, "fuse: the states");
    expect(states.size(1) == u.size(0) && states.size(2) == u.size(2), [&] {
      return "fuse: states is " + shape_of(states) + ", expected the rows and width of u, " + shape_of(u);
    });
    expect(seed.type() == aoti_torch_dtype_int64() && (dropout == 0 || seed.count() == 1),
           "fuse: another seed with dropout, expected one int64 number");
    u.put_together(3);
    states.put_together(3);
  }
  triad_fuse_call call(here const& at) const {
    triad_fuse_call c{};
    c.place = at.place;
    c.type = type_of(u);
    c.layers = states.size(0);
    c.rows = u.size(0);
    c.heads = u.size(1);
    c.width = u.size(2);
    c.dropout = dropout;
    if (dropout > 0) {
      expect(lie_together(seed, u), "fuse: a seed on another device, expected on that of u");
      c.seed = static_cast<std::uint64_t const*>(seed.data());
    }
    c.u = u.data();
    c.states = states.data();
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
  c.mixed = mixed.data();
  c.kept = kept.data();
  c.weights = weights.data();
  if (c.rows > 0) run(at.kernels->fuse, c);
  all.results(mixed, kept, weights);
}

void fuse_grad(StableIValue* stack, std::uint64_t inputs, std::uint64_t) {
  arguments all(stack, inputs, 3 + fuse_arguments::tensors);
  auto d_mixed = all.next_tensor(), d_kept = all.next_tensor(), weights = all.next_tensor();
  fuse_arguments const x(all);
  here const at(x.u);
  auto c = x.call(at);
  d_mixed.put_together(d_mixed.axes());
  d_kept.put_together(d_kept.axes());
  weights.put_together(weights.axes());
  for (auto const* t : {&d_mixed, &d_kept, &weights}) expect_alike(*t, x.u, "fuse_grad: a gradient or the weights");
  expect(d_mixed.count() == x.u.count() && d_kept.count() == c.rows * c.heads &&
             weights.count() == c.rows * c.heads * c.layers,
         [&] {
           return "fuse_grad: d_mixed is " + shape_of(d_mixed) + ", d_kept " + shape_of(d_kept) + " and weights " +
                  shape_of(weights) + ", expected the shapes of fuse";
         });
  auto du = x.u.like({c.rows, c.heads, c.width}), d_states = x.u.like({c.layers, c.rows, c.width});
  c.d_mixed = d_mixed.data();
  c.d_kept = d_kept.data();
  c.weights = weights.data();
  c.d_u = du.data();
  c.d_states = d_states.data();
  if (c.rows > 0) run(at.kernels->fuse_grad, c);
  all.results(du, d_states);
}

// ---- trees ----------------------------------------------------------------------------------------------------------

void shift_trees(StableIValue* stack, std::uint64_t inputs,
                 int (*triad_kernels::*kernel)(triad_tree_call const*, char*, std::int64_t)) {
  arguments all(stack, inputs, 1);
  auto x = all.next_tensor();
  triad_tree_call c{};
  c.child = all.next_int();
  c.branching = all.next_int();
  c.depth = all.next_int();
  expect(x.axes() == 3, [&] { return "trees is " + shape_of(x) + ", expected (batch, positions, filler)"; });
  x.put_together(3);
  here const at(x);
  c.place = at.place;
  c.type = type_of(x);
  c.trees = x.size(0);
  c.filler = x.size(2);
  std::int64_t positions = 0;
  for (std::int64_t k = 0, level = 1; k < c.depth && positions <= x.size(1); ++k, level *= c.branching)
    positions += level;
  expect(positions == x.size(1),
         [&] { return "trees is " + shape_of(x) + ", expected " + std::to_string(positions) + " positions"; });
  auto y = x.like({c.trees, x.size(1), c.filler});
  c.from = x.data();
  c.to = y.data();
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

// A size in PyTorch's schemas has the type SymInt, so that torch.compile and torch.export make one graph for all sizes.
#define TRIAD_TRIANGLE_ARGUMENTS \
  "Tensor sizes, Tensor masked, Tensor sources, Tensor seed, SymInt nodes, int form, float fill, float dropout"
#define TRIAD_ATTENTION_ARGUMENTS                                                         \
  "Tensor x, Tensor query, Tensor key, Tensor left, Tensor right, Tensor output, Tensor " \
  "bias, " TRIAD_TRIANGLE_ARGUMENTS ", int heads, int rounds"

struct registration {
  TorchLibraryHandle schemas = nullptr, implementations[2] = {};

  std::string failure;

  registration() {
    try {
      make();
    } catch (std::exception const& e) {  // nothing catches an exception while a library is loaded
      failure = e.what();
    }
  }

 private:
  void make() {
    check(aoti_torch_library_init_def("triad", __FILE__, __LINE__, &schemas), "make a library of operators");
    for (char const* schema :
         {"triangle(Tensor query, Tensor key, Tensor left, Tensor right, Tensor bias, " TRIAD_TRIANGLE_ARGUMENTS
          ") -> (Tensor, Tensor, Tensor)",
          "triangle_grad(Tensor d_output, Tensor output, Tensor maximum, Tensor inverse_sum, Tensor query, Tensor key, "
          "Tensor left, Tensor right, Tensor bias, " TRIAD_TRIANGLE_ARGUMENTS
          ", int with_bias) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
          "triangle_stacked(Tensor projections, Tensor bias, " TRIAD_TRIANGLE_ARGUMENTS ") -> (Tensor, Tensor, Tensor)",
          "triangle_stacked_grad(Tensor d_output, Tensor output, Tensor maximum, Tensor inverse_sum, "
          "Tensor projections, Tensor bias, " TRIAD_TRIANGLE_ARGUMENTS ", int with_bias) -> (Tensor, Tensor)",
          "attention(" TRIAD_ATTENTION_ARGUMENTS ") -> (Tensor, Tensor)",
          "attention_grad(Tensor dy, Tensor saved, " TRIAD_ATTENTION_ARGUMENTS
          ", int with_x) -> (Tensor, Tensor, Tensor)",
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
      if (place == 0) {
        check(torch_library_impl(*into, "attention", attention, built_for), "register a kernel");
        check(torch_library_impl(*into, "attention_grad", attention_grad, built_for), "register a kernel");
      }
      for (auto const& k : kernels) check(torch_library_impl(*into, k.name, k.kernel, built_for), "register a kernel");
    }
  }
} const registered;

}  // namespace

/// Returns why the operators could not be registered, for example because another library registers the same names.
/// Returns "" if they were registered.
extern "C" TRIAD_TORCH_API char const* triad_torch_failure() { return registered.failure.c_str(); }
/// Sets the kernels for this processor. Python calls this function.
extern "C" TRIAD_TORCH_API void triad_torch_use(triad_kernels const* kernels) { host_kernels = kernels; }
/// Sets the kernels that need a library of matrix products.
extern "C" TRIAD_TORCH_API void triad_torch_use_products(triad_products const* products) { host_products = products; }
/// Sets the kernels for GPUs, and aoti_torch_get_current_cuda_stream of the loaded PyTorch.
extern "C" TRIAD_TORCH_API void triad_torch_use_cuda(triad_kernels const* kernels, void* stream_of) {
  cuda_kernels = kernels;
  std::memcpy(&current_cuda_stream, &stream_of, sizeof stream_of);
}
