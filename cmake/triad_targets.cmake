# Defines the interface targets. triad::triad is all that a program needs, and triad::tree is a part of it. The
# components add what is slow to compile or not available everywhere; triad::kernels saves compile time.

file(GLOB_RECURSE triad_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/triad/*.hpp")
set(triad_io_headers ${triad_headers})
list(FILTER triad_headers EXCLUDE REGEX "/include/triad/(io/|parallel/mpi\\.hpp$|cpu/products/onednn\\.hpp$)")
list(FILTER triad_io_headers INCLUDE REGEX "/include/triad/io/")
set(triad_text_headers ${triad_io_headers})
list(FILTER triad_io_headers EXCLUDE REGEX "/include/triad/io/text/")
list(FILTER triad_text_headers INCLUDE REGEX "/include/triad/io/text/")
file(GLOB_RECURSE triad_cuda_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/triad/*.cuh")
list(FILTER triad_cuda_headers EXCLUDE REGEX "/include/triad/parallel/nccl\\.cuh$")

# `VERIFY_INTERFACE_HEADER_SETS` adds a target that compiles each header alone (all_verify_interface_header_sets).
function(triad_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;LINK")
  string(REPLACE "triad_" "" export_name ${name})
  add_library(${name} INTERFACE)
  add_library(triad::${export_name} ALIAS ${name})
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${export_name} VERIFY_INTERFACE_HEADER_SETS ${TRIAD_TESTS})
  if(arg_HEADERS)
    target_sources(${name} INTERFACE FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${arg_HEADERS})
  endif()
  target_link_libraries(${name} INTERFACE ${arg_LINK})
endfunction()

# ---- triad::tree: the algebra of trees, which needs CCCL's headers and no library ---------------------------------------
set(triad_tree_headers ${triad_headers})
list(FILTER triad_tree_headers INCLUDE REGEX "/include/triad/((core|tree)/.*|version)\\.hpp$")
list(REMOVE_ITEM triad_headers ${triad_tree_headers})
triad_component(triad_tree HEADERS ${triad_tree_headers} LINK triad::cccl)
target_compile_features(triad_tree INTERFACE cxx_std_20)

# ---- triad::triad ---------------------------------------------------------------------------------------------------
set(libraries triad_tree Threads::Threads)
if(TARGET triad::cblas)
  list(APPEND libraries triad::cblas)
endif()
triad_component(triad HEADERS ${triad_headers} LINK ${libraries})
# Loops marked `omp simd` become vector loops; no OpenMP runtime is linked. clang would warn the user of each such loop
# that it does not vectorise.
target_compile_options(triad INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-fopenmp-simd>
  $<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:-Wno-pass-failed>)

# ---- triad::io: safetensors and checkpoints ---------------------------------------------------------------------------
find_package(nlohmann_json 3.10 QUIET GLOBAL)
if(TARGET nlohmann_json::nlohmann_json)
  triad_component(triad_io HEADERS ${triad_io_headers} LINK triad nlohmann_json::nlohmann_json)
  set(triad_found_json "${nlohmann_json_VERSION}")
else()
  set(triad_found_json "not found, so there is no triad::io")
endif()

# ---- triad::text: byte-pair encodings, BLEU, CoNLL-U, splits by compounds ---------------------------------------------
include(triad_text_dependencies)  # ZLIB::ZLIB, triad::utf8proc
set(triad_found_text "")
if(NOT TARGET triad_io)
  list(APPEND triad_found_text nlohmann-json)
endif()
if(NOT TARGET ZLIB::ZLIB)
  list(APPEND triad_found_text "zlib (zlib1g-dev)")
endif()
if(NOT TARGET triad::utf8proc)
  list(APPEND triad_found_text "utf8proc 2.7 (libutf8proc-dev, or set TRIAD_UTF8PROC_INCLUDE_DIR and TRIAD_UTF8PROC_LIBRARY)")
endif()
if(triad_found_text)
  list(JOIN triad_found_text ", " triad_found_text)
  string(PREPEND triad_found_text "not found, so there is no triad::text: ")
else()
  triad_component(triad_text HEADERS ${triad_text_headers} LINK triad_io ZLIB::ZLIB triad::utf8proc)
  set(triad_found_text "zlib ${ZLIB_VERSION_STRING}, utf8proc ${triad_utf8proc_version}")
endif()

# ---- triad::cuda: if there is a toolkit; TRIAD_CUDA, which builds programs with triad::cuda, requires one ------------
find_package(CUDAToolkit QUIET GLOBAL)
if(CUDAToolkit_FOUND AND CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12 AND TARGET CUDA::cublasLt)
  triad_component(triad_cuda HEADERS ${triad_cuda_headers} LINK triad CUDA::cudart CUDA::cublas CUDA::cublasLt
    ${CMAKE_DL_LIBS})  # NVTX uses it to find a profiler
  # CMake 3.25 does not know C++20 for nvcc, and nvcc would compile units that use this target as C++17.
  target_compile_options(triad_cuda INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
  # nvcc verifies these headers: tests/cuda.
  set_target_properties(triad_cuda PROPERTIES VERIFY_INTERFACE_HEADER_SETS OFF)
  set(triad_found_cuda "${CUDAToolkit_VERSION}")
  if(TRIAD_CUDA)
    list(JOIN CMAKE_CUDA_ARCHITECTURES ", " architectures)
    string(APPEND triad_found_cuda ", programs for ${architectures}")
  endif()
elseif(TRIAD_CUDA)
  message(FATAL_ERROR "triad: TRIAD_CUDA is ON, but no CUDA toolkit 12 or later with cuBLAS was found next to ${CMAKE_CUDA_COMPILER}.")
else()
  set(triad_found_cuda "no toolkit 12 or later with cuBLAS found (is nvcc on PATH?), so there is no triad::cuda")
endif()

# ---- triad::nccl: rows from GPU to GPU, if NCCL is installed next to the toolkit -------------------------------------
set(triad_found_nccl "not looked for, without a toolkit")
if(TARGET triad_cuda)
  include(triad_nccl_dependencies)  # triad::nccl_library
  if(TARGET triad::nccl_library)
    triad_component(triad_nccl HEADERS "${PROJECT_SOURCE_DIR}/include/triad/parallel/nccl.cuh" LINK triad_cuda triad::nccl_library)
    # nvcc verifies this header: tests/cuda.
    set_target_properties(triad_nccl PROPERTIES VERIFY_INTERFACE_HEADER_SETS OFF)
    set(triad_found_nccl "${triad_nccl_version}")
  else()
    set(triad_found_nccl "no 2.13 or later found (Debian and Ubuntu: libnccl-dev), so there is no triad::nccl")
  endif()
endif()

# ---- triad::mpi: processes that mpirun starts, if there is an MPI ----------------------------------------------------
include(triad_mpi_dependencies)  # triad::mpi_library
if(TARGET triad::mpi_library)
  triad_component(triad_mpi HEADERS "${PROJECT_SOURCE_DIR}/include/triad/parallel/mpi.hpp" LINK triad triad::mpi_library)
  set(triad_found_mpi "found ${MPI_CXX_VERSION}")
else()
  set(triad_found_mpi "not found (Debian: libopenmpi-dev), so there is no triad::mpi")
endif()

# ---- triad::onednn: matrix products by oneDNN, if it is installed -----------------------------------------------------
include(triad_onednn_dependencies)  # triad::onednn_library
if(TARGET triad::onednn_library AND TARGET triad::cblas)
  triad_component(triad_onednn HEADERS "${PROJECT_SOURCE_DIR}/include/triad/cpu/products/onednn.hpp" LINK triad triad::onednn_library)
  set(triad_found_onednn "${triad_onednn_version}, ${TRIAD_ONEDNN_LIBRARY}")
else()
  set(triad_found_onednn "no 2.6 or later found (Debian: libdnnl-dev), so there is no triad::onednn, and no bf16 on the CPU")
endif()

# ---- triad::native: this machine's instructions, at their full width ------------------------------------------------
include(CheckCXXCompilerFlag)
triad_component(triad_native)
check_cxx_compiler_flag(-march=native TRIAD_HAS_MARCH_NATIVE)
if(TRIAD_NATIVE AND TRIAD_HAS_MARCH_NATIVE)
  target_compile_options(triad_native INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
endif()
if(TRIAD_NATIVE AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  check_cxx_compiler_flag(-mprefer-vector-width=512 TRIAD_HAS_PREFER_VECTOR_WIDTH)
  if(TRIAD_HAS_PREFER_VECTOR_WIDTH)
    target_compile_options(triad_native INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-mprefer-vector-width=512>)
  endif()
endif()

# ---- triad::kernels: the host's kernels, compiled once, for this machine's instructions -------------------------------
include(triad_kernels)
if(TARGET triad::cblas)
  triad_add_kernels(triad_kernels LINK triad::native)
  add_library(triad::kernels ALIAS triad_kernels)
endif()

message(STATUS "triad ${PROJECT_VERSION}")
message(STATUS "  CCCL           ${triad_found_cccl}")
message(STATUS "  BLAS           ${triad_found_blas}")
message(STATUS "  oneDNN         ${triad_found_onednn}")
message(STATUS "  nlohmann-json  ${triad_found_json}")
message(STATUS "  text           ${triad_found_text}")
message(STATUS "  CUDA           ${triad_found_cuda}")
message(STATUS "  NCCL           ${triad_found_nccl}")
message(STATUS "  MPI            ${triad_found_mpi}")
