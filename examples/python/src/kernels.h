// The interface of the library of kernels, in plain C. PyTorch's operators, NumPy and JAX call the same functions.
// SPDX-License-Identifier: Apache-2.0
//
// Every function fills memory that the caller owns.  It returns 0, or 1 with a sentence in `message`, which has `room`
// bytes.  The content of each array is in the comment next to it; letters are those of triad/ops/triangle.hpp.
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

enum { triad_float32 = 0, triad_float64 = 1, triad_bfloat16 = 2 };

/// The axes of a bias (triad/core/triangle_bias.hpp).
enum { triad_axis_graphs = 1, triad_axis_heads = 2, triad_axis_i = 4, triad_axis_l = 8, triad_axis_j = 16 };

/// Rows of numbers.  The numbers of a row are contiguous.
typedef struct {
  void* data;
  int64_t stride;  // the distance from row to row, in numbers
} triad_rows;

/// The device on which a call runs, and on which its data are.
typedef struct {
  int64_t device;   // for a GPU: its number,
  void* stream;     // and the caller's stream, in which the work runs; it may be captured in a CUDA graph
  int64_t threads;  // for the host: the number of threads
  // Runs work(context, worker) for each worker below `workers` on the caller's threads.  If this is null, the library's
  // threads are used.
  void (*borrowed)(int workers, void (*work)(void* context, int worker), void* context);
  // For a GPU: returns at least `bytes` bytes of its memory, aligned to 256 bytes, or null if there are too few.  The
  // memory belongs to the call until the call's work in the stream has ended.
  void* (*memory)(void* context, int64_t bytes);
  void* memory_context;
} triad_place;

/// Triangular attention over a batch of complete graphs, and its gradient.
typedef struct {
  triad_place place;
  int64_t type;           // triad_float32 or triad_float64
  int64_t form;           // triad::triangle_form, as a number
  int64_t graphs, nodes;  // b; n, or 0 if `sizes` is given
  int64_t const* sizes;   // (b) nodes of each graph, always in the host's memory, or null
  int64_t rows;           // edges of all graphs, which are the rows of every operand
  int64_t heads, width;   // h, k
  uint8_t const* masked;  // (masks) [i][l][j]: 1 if the score becomes `fill`; or null
  int64_t masks;          // number of its bytes: sum of n^3
  double fill;
  int64_t const* sources;              // (b) causal: number of source nodes, which come first; or null
  double dropout;                      // rate
  uint64_t const* seed;                // (1) in the same memory as the data; not read if the rate is 0
  triad_rows query, key, left, right;  // (sum of n^2, h k); right: null if the form has no second value
  triad_rows output;                   // (sum of n^2, h k)
  void *maximum, *inverse_sum;         // (sum of n^2, h): the statistics of the softmax, for backward
  triad_rows d_output;                 // this and the rest: for triad_triangle_grad only
  triad_rows d_query, d_key, d_left, d_right;
  void const* bias;   // (biases), contiguous: added to the scores; or null
  int64_t biases;     // number of its elements
  int64_t bias_axes;  // its axes, as bits: triad_axis_graphs and the others; it is shared along every other axis
  void* d_bias;       // (biases), or null: not computed; for triad_triangle_grad only
} triad_triangle_call;

TRIAD_TORCH_API int triad_triangle(triad_triangle_call const* call, char* message, int64_t room);
TRIAD_TORCH_API int triad_triangle_grad(triad_triangle_call const* call, char* message, int64_t room);

/// Triangular attention with its projections and the output projection, and its gradient, in one call.  Matrices are
/// contiguous.  p is the number of projections: 4, or 3 if the form has no second value.
typedef struct {
  triad_triangle_call triangle;  // device, graphs, mask and dropout; its type is float32, and its arrays are not read
  int64_t x_type;                // triad_float32 or triad_bfloat16: of x and d_x
  int64_t weight_type;           // of the weights, the bias and their gradients
  int64_t y_type;                // of y and d_y; with triad_bfloat16 the factors of products are rounded to bfloat16
  void const* x;                 // (sum of n^2, h k)
  void const* weights[5];        // (h k, h k) each: query, key, left value, right value or null, output
  void const* bias;              // (p + 1, h k), or null
  void* y;                       // (sum of n^2, h k)
  void* saved;                   // triad_attention_saved() numbers of float32, for backward
  void const* d_y;               // this and the rest: for triad_attention_grad only
  void* d_x;                     // null: not computed
  void* d_weights;               // (p + 1, h k, h k)
  void* d_bias;                  // (p + 1, h k), or null
} triad_attention_call;

/// Returns how many numbers of float32 a call saves: those of the rows, and the stacked weights of the projections.
static inline int64_t triad_attention_saved(int64_t rows, int64_t projections, int64_t heads, int64_t width) {
  int64_t const d = heads * width, readable_after_the_end = 16;
  return rows * ((projections + 1) * d + 2 * heads) + projections * d * d + readable_after_the_end;
}

TRIAD_TORCH_API int triad_attention(triad_attention_call const* call, char* message, int64_t room);
TRIAD_TORCH_API int triad_attention_grad(triad_attention_call const* call, char* message, int64_t room);
/// Returns the name and the kernels of the library that computes the products.
TRIAD_TORCH_API char const* triad_products_description(void);
/// Returns why this library must not be used on this processor, or "".
TRIAD_TORCH_API char const* triad_products_refused(void);
/// Returns whether the library rounds factors to bfloat16 (1), or computes with float32 instead (0).
TRIAD_TORCH_API int triad_products_round(void);
/// Returns the multiply-adds that products of float32 compute per second on one thread, measured now.
TRIAD_TORCH_API double triad_products_multiply_adds_a_second(void);

/// Fuse-attention without the projections (triad/ops/fuse_attention.hpp), and its gradient.  All arrays are contiguous.
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

/// Takes one child of every tree, or makes every tree this child of an empty root.  These two maps are adjoint to each
/// other.
typedef struct {
  triad_place place;
  int64_t type;
  int64_t trees, branching, depth, filler;  // N = positions for this depth; f = numbers of a filler
  int64_t child;
  void const* from;  // (trees, N, f)
  void* to;          // (trees, N, f)
} triad_tree_call;

TRIAD_TORCH_API int triad_tree_child(triad_tree_call const* call, char* message, int64_t room);
TRIAD_TORCH_API int triad_tree_graft(triad_tree_call const* call, char* message, int64_t room);

/// Draws orthonormal roles from a seed, and computes D_c of each child: roles (N, r), shifts (b, r, r).
TRIAD_TORCH_API int triad_make_roles(int64_t branching, int64_t depth, int64_t width, uint64_t seed, double* roles,
                                     double* shifts, char* message, int64_t room);
/// Computes D_c of each child for the caller's roles, which must be orthonormal within the precision of `type`.
TRIAD_TORCH_API int triad_make_shifts(int64_t branching, int64_t depth, int64_t width, int64_t type, double* roles,
                                      double* shifts, char* message, int64_t room);

/// Finds the graph without cycles whose scores have the largest sum.  scores (n, n): that of j as the head of i, and of i
/// as a root at j = i.  one_root: 1: exactly one root; 0: one or more.  Overwrites heads (n); a root is its own head.
TRIAD_TORCH_API int triad_arborescence(int64_t n, double const* scores, int64_t one_root, int64_t* heads, char* message,
                                       int64_t room);

/// Returns triad's version and the target of compilation, such as "0.2.0 x86-64-v3".
TRIAD_TORCH_API char const* triad_kernels_description(void);

/* Multiply-adds of float a second on one thread from registers alone, measured now: no product of floats is faster. */
TRIAD_TORCH_API double triad_multiply_adds_a_second(void);

#ifdef __cplusplus
}
#endif
