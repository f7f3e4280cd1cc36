// The functions of LibTorch's stable C interface that the operators use, as in PyTorch 2.10.
// SPDX-License-Identifier: Apache-2.0
//
// They are declared here, so that the package can be built without PyTorch.  A test in tests/test_package.py compiles
// them together with the declarations of the installed PyTorch.  If any declaration differs, this does not compile.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

using AOTITorchError = std::int32_t;  // 0: no error
using StableIValue = std::uint64_t;   // a number, or a handle that the receiver owns

struct AtenTensorOpaque;
using AtenTensorHandle = AtenTensorOpaque*;
struct TorchLibraryOpaque;
using TorchLibraryHandle = TorchLibraryOpaque*;

AOTITorchError aoti_torch_library_init_def(char const* space, char const* file, std::uint32_t line,
                                           TorchLibraryHandle* made);
AOTITorchError aoti_torch_library_init_impl(char const* space, char const* key, char const* file, std::uint32_t line,
                                            TorchLibraryHandle* made);
AOTITorchError aoti_torch_library_def(TorchLibraryHandle library, char const* schema);
AOTITorchError torch_library_impl(TorchLibraryHandle library, char const* name,
                                  void (*kernel)(StableIValue* stack, std::uint64_t inputs, std::uint64_t outputs),
                                  std::uint64_t built_for);
AOTITorchError aoti_torch_delete_library_object(TorchLibraryHandle library);

AOTITorchError aoti_torch_new_tensor_handle(AtenTensorHandle of, AtenTensorHandle* made);
AOTITorchError aoti_torch_delete_tensor_object(AtenTensorHandle tensor);
AOTITorchError aoti_torch_get_dim(AtenTensorHandle tensor, std::int64_t* axes);
AOTITorchError aoti_torch_get_sizes(AtenTensorHandle tensor, std::int64_t** sizes);
AOTITorchError aoti_torch_get_strides(AtenTensorHandle tensor, std::int64_t** strides);
AOTITorchError aoti_torch_get_dtype(AtenTensorHandle tensor, std::int32_t* type);
AOTITorchError aoti_torch_get_device_type(AtenTensorHandle tensor, std::int32_t* type);
AOTITorchError aoti_torch_get_device_index(AtenTensorHandle tensor, std::int32_t* index);
AOTITorchError torch_get_mutable_data_ptr(AtenTensorHandle tensor, void** data);
AOTITorchError aoti_torch_empty_strided(std::int64_t axes, std::int64_t const* sizes, std::int64_t const* strides,
                                        std::int32_t type, std::int32_t device_type, std::int32_t device_index,
                                        AtenTensorHandle* made);
AOTITorchError torch_call_dispatcher(char const* name, char const* overload, StableIValue* stack,
                                     std::uint64_t built_for);

std::int32_t aoti_torch_dtype_bool();
std::int32_t aoti_torch_dtype_int64();
std::int32_t aoti_torch_dtype_bfloat16();
std::int32_t aoti_torch_dtype_float32();
std::int32_t aoti_torch_dtype_float64();
std::int32_t aoti_torch_device_type_cpu();
std::int32_t aoti_torch_layout_strided();
std::int32_t aoti_torch_memory_format_contiguous_format();

// From PyTorch 2.11 on.  The address is null in PyTorch 2.10.
AOTITorchError torch_from_blob(void* data, std::int64_t axes, std::int64_t const* sizes, std::int64_t const* strides,
                               std::int64_t offset, std::int32_t type, std::int32_t device_type,
                               std::int32_t device_index, AtenTensorHandle* made, std::int32_t layout,
                               std::uint8_t const* metadata, std::int64_t bytes_of_metadata,
                               void (*deleter)(void* data, void* context), void* context) __attribute__((weak));

AOTITorchError torch_get_num_threads(std::uint32_t* threads);
AOTITorchError torch_parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain,
                                  void (*run)(std::int64_t begin, std::int64_t end, void* context), void* context);

}  // extern "C"
