# Chooses the CUDA compiler for TRIAD_CUDA=ON, and the GPUs that it compiles for.

get_filename_component(beside_cudacxx "$ENV{CUDACXX}" DIRECTORY)  # the variable is the path of the compiler itself
find_program(TRIAD_NVCC nvcc HINTS "${beside_cudacxx}" ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda /opt/cuda PATH_SUFFIXES bin)
mark_as_advanced(TRIAD_NVCC)
if(NOT TRIAD_NVCC AND NOT CMAKE_CUDA_COMPILER)
  message(FATAL_ERROR "triad: TRIAD_CUDA is ON, but there is no nvcc: install a CUDA toolkit 12 or later and put its bin/ on PATH, "
    "or set CMAKE_CUDA_COMPILER.")
endif()
if(NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER "${TRIAD_NVCC}")
endif()
if(NOT CMAKE_CUDA_ARCHITECTURES)
  # A100, H100 and H200; the driver translates the last one's PTX for newer GPUs when a program starts.
  set(CMAKE_CUDA_ARCHITECTURES 80 90)
endif()
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)  # the same as in triad::cuda
enable_language(CUDA)
