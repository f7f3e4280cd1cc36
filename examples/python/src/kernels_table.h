// A table of the kernels. Python passes it from the library for this processor to the operators.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int (*triangle)(triad_triangle_call const*, char*, int64_t);
  int (*triangle_grad)(triad_triangle_call const*, char*, int64_t);
  int (*fuse)(triad_fuse_call const*, char*, int64_t);
  int (*fuse_grad)(triad_fuse_call const*, char*, int64_t);
  int (*tree_child)(triad_tree_call const*, char*, int64_t);
  int (*tree_graft)(triad_tree_call const*, char*, int64_t);
} triad_kernels;

/// The kernels that need a library of matrix products.
typedef struct {
  int (*attention)(triad_attention_call const*, char*, int64_t);
  int (*attention_grad)(triad_attention_call const*, char*, int64_t);
} triad_products;

/// Returns the table of the host, from libtriad_kernels-LEVEL.so.
TRIAD_TORCH_API triad_kernels const* triad_kernels_table(void);
/// Returns the table of NVIDIA's GPUs, from libtriad_kernels-cuda.so.  triad_cuda_kernels_end() releases their
/// resources.
TRIAD_TORCH_API triad_kernels const* triad_cuda_kernels_table(void);
TRIAD_TORCH_API void triad_cuda_kernels_end(void);
/// Returns the table of the kernels that compute products by oneDNN, from libtriad_products-onednn.so.
TRIAD_TORCH_API triad_products const* triad_products_table(void);

#ifdef __cplusplus
}
#endif
