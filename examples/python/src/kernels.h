// What the library of kernels offers, as plain C: PyTorch's operators, NumPy and JAX call the same functions.
// SPDX-License-Identifier: Apache-2.0
//
// Every function fills memory that the caller owns.  It returns 0, or 1 with a sentence in `message`, which has room
// for `room` bytes.  What an array holds stands beside it; letters are those of triad/ops/triangle.hpp.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TRIAD_TORCH_API __attribute__((visibility("default")))
#else
#define TRIAD_TORCH_API
#endif

enum { triad_float32 = 0, triad_float64 = 1 };

/// Rows of numbers; those of one row lie side by side.
typedef struct {
  void* data;
  int64_t stride;  // from row to row, in numbers
} triad_rows;

/// Where a call computes: the data lie there.
typedef struct {
  int64_t device;   // of a GPU: its number,
  void* stream;     //           and the caller's stream, which the work comes into
  int64_t threads;  // of the host
  // The caller's own threads: call work(context, worker) for each worker below `workers`; null: the library's.
  void (*borrowed)(int workers, void (*work)(void* context, int worker), void* context);
} triad_place;

/// Triangular attention over a batch of complete graphs, and its gradient.
typedef struct {
  triad_place place;
  int64_t type;           // triad_float32 or triad_float64
  int64_t form;           // triad::triangle_form
  int64_t graphs, nodes;  // b; n, or 0 where `sizes` says
  int64_t const* sizes;   // (b) nodes of each graph, always in the host's memory, or null
  int64_t rows;           // edges: of the graphs, and of every operand
  int64_t heads, width;   // h, k
  uint8_t const* masked;  // (masks) [i][l][j], 1 where the score becomes `fill`, or null
  int64_t masks;          // bytes of it: sum of n^3
  double fill;
  int64_t const* sources;                        // (b) causal: first nodes that are sources, or null
  double dropout;                                // rate
  uint64_t const* seed;                          // (1) where the data lie; not read where the rate is 0
  triad_rows query, key, left, right;            // (sum of n^2, h k); right: null in forms without it
  triad_rows output;                             // (sum of n^2, h k)
  void *maximum, *inverse_sum;                   // (sum of n^2, h): what backward needs of the softmax
  triad_rows d_output;                           // the rest is of triad_triangle_grad alone
  triad_rows d_query, d_key, d_left, d_right;
} triad_triangle_call;

TRIAD_TORCH_API int triad_triangle(triad_triangle_call const* call, char* message, int64_t room);
TRIAD_TORCH_API int triad_triangle_grad(triad_triangle_call const* call, char* message, int64_t room);

/// Fuse-attention between the projections (triad/ops/fuse_attention.hpp), and its gradient.  All arrays without gaps.
typedef struct {
  triad_place place;
  int64_t type;
  int64_t layers, rows, heads, width;  // l, rows, h, d
  double dropout;
  uint64_t const* seed;  // (1)
  void const* u;         // (rows, h d)
  void const* states;    // (l, rows, d)
  void* weights;         // (rows, h l)
  void* mixed;           // (rows, h d)
  void* kept;            // (rows, h)
  void const *d_mixed, *d_kept;
  void* d_u;
  void* d_states;  // overwritten
} triad_fuse_call;

TRIAD_TORCH_API int triad_fuse(triad_fuse_call const* call, char* message, int64_t room);
TRIAD_TORCH_API int triad_fuse_grad(triad_fuse_call const* call, char* message, int64_t room);

/// A child of every tree, or every tree as that child of an empty root: each is the other's adjoint.
typedef struct {
  triad_place place;
  int64_t type;
  int64_t trees, branching, depth, filler;  // N = positions of the depth, f = numbers of a filler
  int64_t child;
  void const* from;  // (trees, N, f)
  void* to;          // (trees, N, f)
} triad_tree_call;

TRIAD_TORCH_API int triad_tree_child(triad_tree_call const* call, char* message, int64_t room);
TRIAD_TORCH_API int triad_tree_graft(triad_tree_call const* call, char* message, int64_t room);

/// Orthonormal roles drawn from a seed, and D_c of each child: roles (N, r), shifts (b, r, r).
TRIAD_TORCH_API int triad_make_roles(int64_t branching, int64_t depth, int64_t width, uint64_t seed, double* roles,
                                     double* shifts, char* message, int64_t room);
/// D_c of each child for the caller's roles, which must be orthonormal within what numbers of `type` can be.
TRIAD_TORCH_API int triad_make_shifts(int64_t branching, int64_t depth, int64_t width, int64_t type, double* roles,
                                      double* shifts, char* message, int64_t room);

/// triad's version and what the kernels were compiled for: "0.2.0 x86-64-v3".
TRIAD_TORCH_API char const* triad_kernels_description(void);

#ifdef __cplusplus
}
#endif
