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

/// Returns the table of the host, from libtriad_kernels-LEVEL.so.
TRIAD_TORCH_API triad_kernels const* triad_kernels_table(void);
/// Returns the table of NVIDIA's GPUs, from libtriad_kernels-cuda.so.  triad_cuda_kernels_end() releases their
/// resources.
TRIAD_TORCH_API triad_kernels const* triad_cuda_kernels_table(void);
TRIAD_TORCH_API void triad_cuda_kernels_end(void);

#ifdef __cplusplus
}
#endif
