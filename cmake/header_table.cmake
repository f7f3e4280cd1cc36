# docs/headers.md: every header of include/triad and its first sentence, read from the headers.
#   cmake -D ROOT=. -P cmake/header_table.cmake                fails where the document is stale
#   cmake -D ROOT=. -D UPDATE=ON -P cmake/header_table.cmake   writes it
cmake_minimum_required(VERSION 3.25)
cmake_path(ABSOLUTE_PATH ROOT NORMALIZE)
include("${CMAKE_CURRENT_LIST_DIR}/write_or_compare.cmake")

# folders in the order of the house, each with what it is
set(folders
  ".|everything"
  "core|the vocabulary: views, arenas, names of fields, errors, random numbers"
  "ops|one differentiable operation a file: formula, shapes, checks"
  "reference|the specification: plain loops, any scalar type"
  "cpu|what is faster on the host"
  "cpu/kernels|what the host's kernels are made of: threads, vectors, random bits"
  "cpu/triangle|the parts of the host's triangle"
  "cuda|every operation on a GPU"
  "cuda/device|what GPU kernels are made of: blocks, launches, cuBLAS, staging"
  "cuda/triangle|the parts of the GPU's triangle"
  "tree|trees as tensors"
  "batches|what layers and models are given and asked, and the loaders that fill it"
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

set(page "# Every header\n\nWritten by `cmake -D ROOT=. -D UPDATE=ON -P cmake/header_table.cmake`; a test compares it with the headers.\n")
set(known "")
foreach(entry IN LISTS folders)
  string(REGEX MATCH "^([^|]*)\\|(.*)$" entry "${entry}")
  set(folder "${CMAKE_MATCH_1}")
  set(what "${CMAKE_MATCH_2}")
  string(APPEND page "\n## `triad/${folder}/`: ${what}\n\n| header | what it is |\n| --- | --- |\n")
  file(GLOB headers RELATIVE "${ROOT}/include/triad" "${ROOT}/include/triad/${folder}/*.hpp" "${ROOT}/include/triad/${folder}/*.cuh"
    "${ROOT}/include/triad/${folder}/*.inc")
  foreach(header IN LISTS headers)
    list(APPEND known ${header})
    file(STRINGS "${ROOT}/include/triad/${header}" lines LIMIT_COUNT 12 ENCODING UTF-8)
    set(sentence "")
    foreach(line IN LISTS lines)
      if(line MATCHES "SPDX" OR NOT line MATCHES "^// ")
        break()
      endif()
      string(REGEX REPLACE "^// " " " line "${line}")
      string(APPEND sentence "${line}")
    endforeach()
    string(STRIP "${sentence}" sentence)
    string(REGEX REPLACE "  +" " " sentence "${sentence}")
    string(REPLACE "|" "\\|" sentence "${sentence}")
    cmake_path(GET header FILENAME name)
    string(APPEND page "| [${name}](../include/triad/${header}) | ${sentence} |\n")
  endforeach()
endforeach()

file(GLOB_RECURSE all RELATIVE "${ROOT}/include/triad" "${ROOT}/include/triad/*.hpp" "${ROOT}/include/triad/*.cuh"
  "${ROOT}/include/triad/*.inc")
list(REMOVE_ITEM all ${known})
if(all)
  message(FATAL_ERROR "cmake/header_table.cmake does not know the folder of ${all}")
endif()
string(REPLACE "triad/./" "triad/" page "${page}")
write_or_compare(docs/headers.md "${page}" cmake/header_table.cmake)
