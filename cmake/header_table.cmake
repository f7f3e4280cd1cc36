# Checks that the first line of every header of include/triad says what the header is:
#   cmake -D ROOT=. -P cmake/header_table.cmake
# Fails for a header without such a line, and for a folder that is not in the list below. The site (scripts/docs) takes
# its folders from that list.
cmake_minimum_required(VERSION 3.25)
cmake_path(ABSOLUTE_PATH ROOT NORMALIZE)

# The folders from the lowest layer up (tests/floors.cmake), each with a description.
set(folders
  ".|everything"
  "core|the vocabulary: views, arenas, names of fields, errors, random numbers"
  "ops|one differentiable operation a file: formula, shapes, checks"
  "reference|the specification: plain loops, any scalar type"
  "cpu|what is faster on the host"
  "cpu/attention|attention of small heads on the host, in registers"
  "cpu/kernels|what the host's kernels are made of: threads, vectors, random bits"
  "cpu/products|matrix products on the host: the linked BLAS, its kernels and its speed"
  "cpu/triangle|the parts of the host's triangle"
  "cuda|every operation on a GPU"
  "cuda/device|what GPU kernels are made of: blocks, launches, cuBLAS, staging"
  "cuda/triangle|the parts of the GPU's triangle"
  "tree|trees as tensors"
  "batches|inputs and targets of models, and the loaders that fill them"
  "layers|shape, parameters, forward and backward"
  "layers/inputs|first states of edges and tokens"
  "layers/heads|answers out of states"
  "layers/tree|the parts of the tree machine"
  "models|networks"
  "decoding|searches, caches, trees from scores"
  "train|training"
  "parallel|processes that train one model together, by MPI (`triad::mpi`) or NCCL (`triad::nccl`)"
  "io|files"
  "io/text|texts: encodings, BLEU, CoNLL-U, splits by compounds (`triad::text`)")

set(known "")
set(faults "")
foreach(entry IN LISTS folders)
  string(REGEX MATCH "^[^|]*" folder "${entry}")
  file(GLOB headers RELATIVE "${ROOT}/include/triad" "${ROOT}/include/triad/${folder}/*.hpp" "${ROOT}/include/triad/${folder}/*.cuh"
    "${ROOT}/include/triad/${folder}/*.inc")
  foreach(header IN LISTS headers)
    list(APPEND known ${header})
    file(STRINGS "${ROOT}/include/triad/${header}" first LIMIT_COUNT 1 ENCODING UTF-8)
    if(NOT first MATCHES "^// [^ ]" OR first MATCHES "SPDX")
      string(APPEND faults "\n  include/triad/${header}:1: expected `// ` and what the header is, found ${first}")
    endif()
  endforeach()
endforeach()

file(GLOB_RECURSE all RELATIVE "${ROOT}/include/triad" "${ROOT}/include/triad/*.hpp" "${ROOT}/include/triad/*.cuh"
  "${ROOT}/include/triad/*.inc")
list(REMOVE_ITEM all ${known})
if(all)
  message(FATAL_ERROR "cmake/header_table.cmake does not know the folder of ${all}")
endif()
if(faults)
  message(FATAL_ERROR "Headers that do not say what they are:${faults}")
endif()
list(LENGTH known count)
if(count LESS 200)
  message(FATAL_ERROR "Only ${count} headers are found under ${ROOT}/include/triad: this looks in the wrong place.")
endif()
message("${count} headers, each with a first line that says what it is")
