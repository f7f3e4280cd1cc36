# Every header of include/triad/tree must compile with only include/ and the headers of mdspan in its path, and may
# include only triad's core and tree. A program that uses these headers must link without a library. Prints the seconds
# that the test takes.
cmake_minimum_required(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/../run.cmake")

set(compile "${COMPILER}" -std=c++20 "-I${ROOT}/include" -isystem "${CCCL}")
file(GLOB headers "${ROOT}/include/triad/tree/*.hpp")
foreach(header IN LISTS headers)
  run(${compile} -x c++ -M "${header}")
  string(REGEX MATCHALL "triad/[a-z]+/[a-z_]+\\.hpp" read "${output}")
  set(others "${read}")
  list(FILTER others EXCLUDE REGEX "^triad/(core|tree)/")
  string(REGEX MATCHALL "[^ /]*(cblas|nlohmann|cublas)[^ ]*" libraries "${output}")
  list(APPEND others ${libraries})
  if(NOT read OR others)
    message(FATAL_ERROR "${header} reads more than core, tree and the views: ${others}")
  endif()
endforeach()

string(TIMESTAMP start "%s%f")
run(${compile} -x c++ -fsyntax-only "${ROOT}/include/triad/tree/tree.hpp")
string(TIMESTAMP stop "%s%f")
math(EXPR hundredths "(${stop} - ${start}) / 10000")

file(MAKE_DIRECTORY "${FOLDER}")
run(${compile} "${ROOT}/tests/documents/trees.cpp" -o "${FOLDER}/trees")
run("${FOLDER}/trees")
message("tree.hpp compiles in ${hundredths} hundredths of a second")
