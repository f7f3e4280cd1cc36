# Checks that the files of include/triad and of tests/ match: each header must have a test with its name, and each test
# must have the name of a header. Also checks that each source file states its licence in a separate line. ROOT: the
# repository.
cmake_minimum_required(VERSION 3.25)

# The tests of include/triad/FOLDER/NAME.hpp are tests/FOLDER/NAME.cpp, or several files tests/FOLDER/NAME_ASPECT.cpp.
set(folders core ops layers tree models batches decoding train parallel io cpu)

# Entries have the form "header|the reason why it has no test of its own".
set(without_test
  "core/math_flags.hpp|link/kernels_flags.cmake links units that agree with it and units that do not"
  "core/errors.hpp|one type without a member, and who throws it is tested where it is thrown"
  "tree/tree.hpp|includes the folder, which compile/tree_alone.cmake compiles"
  "cpu/cpu.hpp|includes the folder, as every typed test does"
  "reference/reference.hpp|includes the folder, as every typed test does"
  "reference/backend.hpp|a type without a member"
  "cpu/kernels/compiled_for.hpp|link/kernels_flags.cmake links units that agree with it and units that do not"
  "triad.hpp|includes the library, as link/ does in two translation units"
  "cuda.cuh|includes the folder, as cuda_on_host/ does"
  "version.hpp|consume/ compares it with what CMake says")

# Entries have the form "test|its subject", for tests of something other than a header.
set(without_header
  "parallel/parallel_training.cpp|the program of docs/operations/parallel.md, which mpirun starts"
  "ops/not_a_number.cpp|every operation with NaN and with infinity in each operand"
  "ops/places.cpp|every operation with one number at each place of a row"
  "ops/far.cpp|every operation beyond 2^31 elements, in memory that is mapped once for all"
  "cpu/torch_kernels.cpp|examples/python, whose kernels it compiles as the package does"
  "models/alone.cpp|what every model answers for an example alone and in batches"
  "models/alone_with_onednn.cpp|the same, with products by oneDNN"
  "models/planned_memory.cpp|what several models keep, in bytes and by formulas")

# At its top level, a backend has the hooks of operations, in files named after the operations
# (cmake/backend_table.cmake checks that). They are tested in ops/NAME.cpp, which runs on every backend.
set(backends reference cpu cuda)
set(on_every_backend "TRIAD_TEST_(BACKENDS|TYPES)")

# The parts of these hooks, the CUDA backend and the communicator nccl are named in a test, by a line "// Tests
# FOLDER/NAME.cuh", or "// Tests FOLDER/" for a whole folder. A part of the cpu backend may instead have a test
# tests/cpu/FOLDER/NAME.cpp.

set(faults "")
set(count 0)
macro(fault text)
  string(APPEND faults "\n  ${text}")
endmacro()

# Sets `result` to those entries of a list above that are in a folder.
macro(excused result list folder)
  set(${result} "")
  foreach(entry IN LISTS ${list})
    string(REGEX REPLACE "\\|.*" "" file "${entry}")
    list(APPEND ${result} "${file}")
    if(NOT EXISTS "${ROOT}/${folder}/${file}")
      fault("tests/listings.cmake excuses ${folder}/${file}, which does not exist")
    endif()
  endforeach()
endmacro()
excused(no_test without_test include/triad)
excused(no_header without_header tests)

# The headers that tests name in lines "// Tests ...".
set(claimed "")
file(GLOB_RECURSE sources RELATIVE "${ROOT}/tests" "${ROOT}/tests/*.cpp")
foreach(source IN LISTS sources)
  file(STRINGS "${ROOT}/tests/${source}" lines LIMIT_COUNT 8 REGEX "^// Tests ")
  foreach(line IN LISTS lines)
    string(REGEX MATCHALL "(cpu|cuda|parallel)/[a-z_/]*(\\.hpp|\\.cuh)?" names "${line}")
    foreach(name IN LISTS names)
      if(NOT EXISTS "${ROOT}/include/triad/${name}")
        fault("tests/${source}: says that it tests ${name}, which does not exist")
      endif()
      list(APPEND claimed "${name}")
    endforeach()
  endforeach()
endforeach()

# ---- each header has a test -----------------------------------------------------------------------------------------
file(GLOB_RECURSE headers RELATIVE "${ROOT}/include/triad" "${ROOT}/include/triad/*.hpp" "${ROOT}/include/triad/*.cuh")
foreach(header IN LISTS headers)
  math(EXPR count "${count} + 1")
  cmake_path(REMOVE_EXTENSION header OUTPUT_VARIABLE name)
  cmake_path(GET header PARENT_PATH folder)
  if(EXISTS "${ROOT}/tests/${name}.cpp")
    if(header IN_LIST no_test)
      fault("tests/listings.cmake excuses ${header}, and tests/${name}.cpp is there")
    endif()
    file(STRINGS "${ROOT}/tests/${name}.cpp" subject LIMIT_COUNT 1 REGEX "^#include \"triad/")
    if(NOT subject STREQUAL "#include \"triad/${header}\"")
      fault("tests/${name}.cpp: its first include of triad is its subject, \"triad/${header}\"; found ${subject}")
    endif()
  endif()
  if(header IN_LIST no_test)
    continue()
  endif()
  if(folder IN_LIST backends AND NOT name MATCHES "/backend$")
    cmake_path(GET name FILENAME operation)
    set(typed "")
    if(EXISTS "${ROOT}/tests/ops/${operation}.cpp")
      file(STRINGS "${ROOT}/tests/ops/${operation}.cpp" typed REGEX "${on_every_backend}")
    endif()
    if(NOT typed)
      fault("${header}: has no test; tests/ops/${operation}.cpp is to run on every backend")
    endif()
  elseif(NOT EXISTS "${ROOT}/tests/${name}.cpp" AND NOT header IN_LIST claimed AND NOT "${folder}/" IN_LIST claimed)
    if(header MATCHES "\\.cuh$")
      fault("${header}: no test says \"// Tests ${header}\"")
    else()
      fault("${header}: tests/${name}.cpp is missing")
    endif()
  endif()
endforeach()

# ---- each operation is tested with NaN, alone and among other values (ops/not_a_number.cpp, ops/places.cpp) ----------
file(GLOB lists "${ROOT}/tests/ops/every_*.hpp")
set(tried "")
foreach(list IN LISTS lists)
  file(STRINGS "${list}" lines REGEX "^#include \"triad/ops/")
  list(APPEND tried ${lines})
endforeach()
file(GLOB operations RELATIVE "${ROOT}/include/triad/ops" "${ROOT}/include/triad/ops/*.hpp")
foreach(operation IN LISTS operations)
  if(NOT "#include \"triad/ops/${operation}\"" IN_LIST tried)
    fault("ops/${operation}: tests/ops/every_operation.hpp does not use it")
  endif()
endforeach()

# ---- docs/guide/4-layers.md has a row for each layer; triad.hpp has each model, except parts of models ---------------
file(READ "${ROOT}/docs/guide/4-layers.md" page)
file(GLOB_RECURSE layers RELATIVE "${ROOT}/include/triad/layers" "${ROOT}/include/triad/layers/*.hpp")
foreach(layer IN LISTS layers)
  string(FIND "${page}" "`${layer}`" at)
  if(at EQUAL -1)
    fault("layers/${layer}: docs/guide/4-layers.md has no row of it")
  endif()
endforeach()
file(GLOB models RELATIVE "${ROOT}/include" "${ROOT}/include/triad/models/*.hpp")
set(offered "")
foreach(header IN ITEMS triad/triad.hpp ${models})
  file(STRINGS "${ROOT}/include/${header}" lines REGEX "^#include \"triad/models/")
  list(APPEND offered ${lines})
endforeach()
foreach(model IN LISTS models)
  if(NOT "#include \"${model}\"" IN_LIST offered)
    fault("${model}: triad/triad.hpp does not include it")
  endif()
endforeach()

# ---- each test has a header -----------------------------------------------------------------------------------------
foreach(folder IN LISTS folders)
  file(GLOB_RECURSE tests RELATIVE "${ROOT}/tests" "${ROOT}/tests/${folder}/*.cpp")
  foreach(test IN LISTS tests)
    math(EXPR count "${count} + 1")
    cmake_path(REMOVE_EXTENSION test OUTPUT_VARIABLE name)
    set(found FALSE)
    set(rest "${name}")
    while(TRUE)  # tries NAME, then the part before each _ASPECT
      if(EXISTS "${ROOT}/include/triad/${rest}.hpp")
        set(found TRUE)
      endif()
      string(REGEX MATCH "^(.*)_[^_/]*$" shorter "${rest}")
      if(found OR NOT shorter)
        break()
      endif()
      set(rest "${CMAKE_MATCH_1}")
    endwhile()
    if(found AND test IN_LIST no_header)
      fault("tests/listings.cmake excuses tests/${test}, which is a header's")
    elseif(NOT found AND NOT test IN_LIST no_header)
      fault("tests/${test}: is named after no header; name it after the one it is of, or say in tests/listings.cmake why not")
    endif()
  endforeach()
endforeach()

# Each source file has its licence in a separate line, where tools search for it.
file(GLOB_RECURSE sources "${ROOT}/include/*" "${ROOT}/examples/*.[hc]pp" "${ROOT}/examples/*.cu*" "${ROOT}/tests/*.[hc]pp" "${ROOT}/tests/*.cu*"
  "${ROOT}/bench/*.[hc]pp" "${ROOT}/bench/*.cu*")
foreach(source IN LISTS sources)
  file(STRINGS "${source}" licence REGEX "^// SPDX-License-Identifier: Apache-2.0$")
  list(LENGTH licence lines)
  if(NOT lines EQUAL 1)
    fault("${source}: expected one line \"// SPDX-License-Identifier: Apache-2.0\", found ${lines}")
  endif()
endforeach()

# The preset ci compiles several tests of a folder as one source file. So each test has its own namespace.
foreach(folder IN ITEMS core ops cpu layers tree batches models decoding train parallel io programs misuse cuda_on_host)
  file(GLOB_RECURSE sources "${ROOT}/tests/${folder}/*.cpp")
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    string(REGEX REPLACE "_test$" "" name "${name}")
    file(STRINGS "${source}" cases REGEX "^(TEMPLATE_(LIST_)?)?TEST_CASE")
    file(STRINGS "${source}" opened REGEX "^namespace ${folder}_${name}_tests {$")
    if(cases AND NOT opened)
      fault("${source}: its tests belong in namespace ${folder}_${name}_tests")
    endif()
  endforeach()
endforeach()

if(faults)
  message(FATAL_ERROR "The listings:${faults}")
endif()
if(count LESS 300)
  message(FATAL_ERROR "Only ${count} headers and tests found under ${ROOT}: this test looks in the wrong place.")
endif()
message("${count} headers and tests, each with its other")
