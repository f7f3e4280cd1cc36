# Reads the includes of INCLUDE/triad, and fails if a file includes a folder that its layer may not include
# (docs/architecture.md draws the layers).
cmake_minimum_required(VERSION 3.25)

# For each folder: the folders and the single files that it may include. "." is include/triad itself.
set(core core)
set(ops core ops tree/positions.hpp)  # positions of a tree's parts need only core
set(reference core ops reference)
set(cpu core ops reference cpu)
set(cuda core ops cuda)
set(parallel core ops cuda parallel)  # cuda is only for nccl.cuh, a communicator of GPUs
set(tree core tree)
set(batches core ops tree batches)  # data are below the layers that read them
set(layers core ops tree batches layers)
set(models core ops tree batches layers models)
set(decoding core ops tree batches layers models decoding)
# train may also use the concepts of a layer and of a loader, and passes over data.
set(train core ops train layers/layer.hpp batches/batches.hpp batches/loader.hpp
  parallel/communicator.hpp parallel/shares.hpp)
set(io core io train/holds_parameters.hpp train/finite_weights.hpp)  # what a checkpoint contains
set(. core ops reference cpu cuda tree layers batches models decoding train .)

# Includes that only some files may have: "pattern of the include|pattern of the file".
set(reserved
  "mdspan$|^core/mdspan\\.hpp$"
  "cblas|^cpu/products/blas\\.hpp$"
  "^(pthread|sched)\\.h$|^cpu/kernels/pool\\.hpp$"
  "dnnl|^cpu/products/onednn\\.hpp$"
  "nlohmann|^io/"
  "^mpi\\.h$|^parallel/mpi\\.hpp$"
  "^zlib\\.h$|^io/text/gz_lines\\.hpp$"
  "^utf8proc\\.h$|^io/text/unicode\\.hpp$"
  "^(cuda_runtime|cuda_fp16|cuda_bf16)|^cuda/"
  "^nccl|^parallel/nccl\\.cuh$"
  "^cublas|^cuda/device/blas(_lt)?\\.cuh$"
  "^nvtx3/|^cuda/device/nvtx\\.cuh$"
  "^cub/|^cuda/device/primitives\\.cuh$"
  "^thrust/|^cuda/device/thrust_views\\.cuh$"
  "^immintrin\\.h$|^cpu/")

set(faults "")
set(count 0)
file(GLOB_RECURSE files RELATIVE "${INCLUDE}/triad" "${INCLUDE}/triad/*")
foreach(file IN LISTS files)
  set(folder .)
  if(file MATCHES "^([a-z]+)/")
    set(folder ${CMAKE_MATCH_1})
  endif()
  if(NOT DEFINED ${folder})
    string(APPEND faults "\n  ${file}: tests/floors.cmake does not know the folder ${folder}/")
    continue()
  endif()
  if(folder STREQUAL "." AND NOT file MATCHES "^(triad|version)\\.hpp$|^cuda\\.cuh$")
    string(APPEND faults "\n  ${file}: belongs in a folder")
  endif()

  file(STRINGS "${INCLUDE}/triad/${file}" lines REGEX "^ *# *include")
  foreach(line IN LISTS lines)
    if(line MATCHES "\"triad/([^\"]+)\"")
      set(included ${CMAKE_MATCH_1})
      math(EXPR count "${count} + 1")
      if(NOT EXISTS "${INCLUDE}/triad/${included}")
        string(APPEND faults "\n  ${file}: includes ${included}, which does not exist")
      endif()
      set(floor .)
      if(included MATCHES "^([a-z]+)/")
        set(floor ${CMAKE_MATCH_1})
      endif()
      if(NOT floor IN_LIST ${folder} AND NOT included IN_LIST ${folder})
        string(APPEND faults "\n  ${file}: includes ${included}, but ${folder}/ may include only: ${${folder}}")
      elseif(floor STREQUAL "cuda" AND NOT file MATCHES "\\.cuh$")
        string(APPEND faults "\n  ${file}: includes ${included}, but a .hpp compiles with a host compiler alone")
      endif()
    elseif(line MATCHES "<([^>]+)>")
      set(included ${CMAKE_MATCH_1})
      if(included MATCHES "^triad/")
        string(APPEND faults "\n  ${file}: writes <${included}>; our own headers are included in quotes")
      endif()
      foreach(rule IN LISTS reserved)
        string(REGEX MATCH "^(.*)\\|([^|]*)$" rule "${rule}")
        set(what "${CMAKE_MATCH_1}")
        set(who "${CMAKE_MATCH_2}")
        if(included MATCHES "${what}" AND NOT file MATCHES "${who}")
          string(APPEND faults "\n  ${file}: includes <${included}>, which is for ${who} alone")
        endif()
      endforeach()
    # The stand-in for a GPU replaces only this include.
    elseif(NOT (file STREQUAL "cuda/device/block.cuh" AND line MATCHES "TRIAD_CUDA_DOUBLE$")
        # This file includes headers of the folder that includes it.
        AND NOT (file STREQUAL "ops/hooks.inc" AND line MATCHES "TRIAD_OPERATION"))
      string(APPEND faults "\n  ${file}: ${line}: our own headers are included as \"triad/folder/file.hpp\"")
    endif()
  endforeach()
endforeach()

if(faults)
  message(FATAL_ERROR "The floors of the house:${faults}")
endif()
if(NOT count)
  message(FATAL_ERROR "No includes found under ${INCLUDE}/triad: this test looks in the wrong place.")
endif()
message("${count} includes, none skips a floor")
