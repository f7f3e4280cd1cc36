# Reads the includes of INCLUDE/triad and fails where a floor is skipped (docs/architecture.md draws the house).
cmake_minimum_required(VERSION 3.25)

# folder: the folders, and single files, it may include from.  "." is include/triad itself.
set(core core)
set(ops core ops tree/positions.hpp)  # where the parts of a tree lie, which needs core alone
set(reference core ops reference)
set(cpu core ops reference cpu)
set(cuda core ops cuda train/communicator.hpp train/broadcast_by_file.hpp)  # the two for nccl.cuh, a communicator of GPUs
set(tree core tree)
set(layers core ops tree layers)
set(batches core ops tree layers batches)
set(models core ops tree layers batches models)
set(decoding core ops tree layers batches models decoding)
set(train core ops train layers/layer.hpp batches/batches.hpp batches/loader.hpp)  # concepts of a layer and a loader, and passes over data
set(mpi mpi train/communicator.hpp)
set(io core io)
set(. core ops reference cpu cuda tree layers batches models decoding train .)

# What only some files may include: "pattern of the include|pattern of the file".
set(reserved
  "mdspan$|^core/mdspan\\.hpp$"
  "cblas|^cpu/matmul\\.hpp$"
  "^(pthread|sched)\\.h$|^cpu/kernels/pool\\.hpp$"
  "nlohmann|^io/"
  "^mpi\\.h$|^mpi/mpi\\.hpp$"
  "^zlib\\.h$|^io/text/gz_lines\\.hpp$"
  "^utf8proc\\.h$|^io/text/unicode\\.hpp$"
  "^(cuda_runtime|cuda_fp16|cuda_bf16)|^cuda/"
  "^nccl|^cuda/nccl\\.cuh$"
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
    elseif(NOT (file STREQUAL "cuda/device/block.cuh" AND line MATCHES "TRIAD_CUDA_DOUBLE$"))  # the one seam for a stand-in
      string(APPEND faults "\n  ${file}: ${line}: our own headers are included as \"triad/folder/file.hpp\"")
    endif()
  endforeach()
endforeach()

# The listings agree: a backend's folder has files of operations alone, by the operations' names; the reference and CUDA
# have them all.  What such a file is made of lies one folder down.
file(GLOB operations RELATIVE "${INCLUDE}/triad/ops" "${INCLUDE}/triad/ops/*.hpp")
list(TRANSFORM operations REPLACE "\\.hpp$" "")
foreach(backend IN ITEMS reference cpu cuda)
  file(GLOB kernels RELATIVE "${INCLUDE}/triad/${backend}" "${INCLUDE}/triad/${backend}/*.hpp" "${INCLUDE}/triad/${backend}/*.cuh")
  list(TRANSFORM kernels REPLACE "\\.(hpp|cuh)$" "")
  list(REMOVE_ITEM kernels backend ${backend})
  if(backend STREQUAL "cuda")
    list(REMOVE_ITEM kernels nccl)  # what GPUs do together
  endif()
  set(strangers ${kernels})
  list(REMOVE_ITEM strangers ${operations})
  foreach(stranger IN LISTS strangers)
    string(APPEND faults "\n  ${backend}/${stranger}: ops/ has no such operation; put parts of one a folder further down")
  endforeach()
  if(NOT backend STREQUAL "cpu")
    set(missing ${operations})
    list(REMOVE_ITEM missing ${kernels})
    foreach(operation IN LISTS missing)
      string(APPEND faults "\n  ${backend}/${operation}: is missing, and ops/${operation}.hpp is there")
    endforeach()
  endif()
endforeach()

# What includes a backend's folder lists every hook of it that can be compiled once, and whether it has one in double.
set(list_of_reference reference/reference.hpp)
set(list_of_cpu cpu/cpu.hpp)
set(list_of_cuda cuda.cuh)
foreach(backend IN ITEMS reference cpu cuda)
  file(READ "${INCLUDE}/triad/${list_of_${backend}}" list)
  set(names "")
  set(in_double "")
  file(GLOB headers "${INCLUDE}/triad/${backend}/*.hpp" "${INCLUDE}/triad/${backend}/*.cuh")
  foreach(header IN LISTS headers)
    file(READ "${header}" text)
    string(REGEX MATCHALL "template <[^\n]+>\n[a-z_:]+ do_[a-z_]+\\(backend( const)?&" hooks "${text}")
    foreach(hook IN LISTS hooks)
      string(REGEX MATCH "do_[a-z_]+" name "${hook}")
      list(APPEND names ${name})
      if(NOT hook MATCHES "same_as<float>")
        list(APPEND in_double ${name})
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES names)
  list(REMOVE_ITEM names do_transform do_replay)  # what they do is the caller's
  foreach(name IN LISTS names)
    set(entry "TRIAD_KERNEL(${name});")
    if(backend STREQUAL "cuda")
      set(entry "TRIAD_CUDA_KERNEL(${name});")
    elseif(NOT name IN_LIST in_double)
      set(entry "TRIAD_KERNEL_IN_FLOAT(${name});")
    endif()
    string(FIND "${list}" "\n${entry}" at)
    if(at EQUAL -1)
      string(APPEND faults "\n  ${list_of_${backend}}: ${entry} is missing")
    endif()
  endforeach()
  list(LENGTH names hook_count)
  if(hook_count LESS 40)
    string(APPEND faults "\n  ${backend}: only ${hook_count} hooks are found: this test reads them wrongly")
  endif()
endforeach()

if(faults)
  message(FATAL_ERROR "The floors of the house:${faults}")
endif()
if(NOT count)
  message(FATAL_ERROR "No includes found under ${INCLUDE}/triad: this test looks in the wrong place.")
endif()
message("${count} includes, none skips a floor")
