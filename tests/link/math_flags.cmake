# Tests -ffast-math and the flags that are parts of it, which relax arithmetic. Results must be right up to rounding,
# masks must have their effect, and NaN must be detected. A source file that was compiled without these flags must
# compute the same bits when it is linked, in either order, with a source file that was compiled with these flags.
# COMPILER, ID: those of the project; CLANG: a clang++ on this machine, or empty.
cmake_minimum_required(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/../run.cmake")
file(MAKE_DIRECTORY "${FOLDER}")
set(main "${ROOT}/tests/link/math_flags_main.cpp")

# object(COMPILER NAME SOURCE FLAG...) compiles a source file to the object NAME.
function(object compiler name source)
  run("${compiler}" -std=c++20 -fopenmp-simd -w "-I${ROOT}/include" "-I${ROOT}" -isystem "${CCCL}" -isystem "${CBLAS_INCLUDE}" ${ARGN}
    -c "${source}" -o "${FOLDER}/${name}.o")
endfunction()
# linked(RESULT COMPILER NAME...) links these objects, and sets RESULT to what the program prints.
function(linked result compiler)
  list(TRANSFORM ARGN PREPEND "${FOLDER}/" OUTPUT_VARIABLE objects)
  list(TRANSFORM objects APPEND ".o")
  run("${compiler}" ${objects} "${CBLAS}" -pthread -o "${FOLDER}/program")
  run("${FOLDER}/program")
  set(${result} "${output}" PARENT_SCOPE)
endfunction()

# compare(COMPILER ID DEFINITIONS OPTIMISATION FLAGS...): each of FLAGS is one text that has several flags.
function(compare compiler id definitions optimised)
  object("${compiler}" main "${main}")
  object("${compiler}" main_alone "${main}" -DTRIAD_TEST_ALONE)
  set(source "${ROOT}/tests/link/math_flags.cpp")
  object("${compiler}" plain "${source}" ${optimised} -DTRIAD_TEST_UNIT=by_no_flags ${definitions})
  linked(alone "${compiler}" main_alone plain)
  foreach(flags IN LISTS ARGN)
    separate_arguments(list UNIX_COMMAND "${flags}")
    object("${compiler}" flagged "${source}" ${optimised} ${list} -DTRIAD_TEST_UNIT=by_flags ${definitions})
    linked(first "${compiler}" main plain flagged)
    linked(second "${compiler}" main flagged plain)
    # clang defines no macro for these flags, so functions of both source files have the same names. The linker keeps
    # one of the two functions, so both files round in the same way.
    if(id MATCHES "Clang" AND flags MATCHES "associative|unsafe|reciprocal")
      message("${id} ${flags}: right")
    elseif(NOT first STREQUAL alone OR NOT second STREQUAL alone)
      message(FATAL_ERROR "${id}: beside a unit of ${flags} others compute other bits; alone, before and behind it:\n${alone}${first}${second}")
    else()
      message("${id} ${flags}: right, and other units as without it")
    endif()
  endforeach()
endfunction()

compare("${COMPILER}" "${ID}" "" -O2 -ffast-math -Ofast "-fassociative-math -fno-signed-zeros -fno-trapping-math" -ffinite-math-only
  -funsafe-math-optimizations -freciprocal-math)
compare("${COMPILER}" "${ID}" -DTRIAD_TEST_OF_TRAINING -O1 -ffast-math)

if(NOT ID MATCHES "Clang")
  set(failed TRUE)
  if(CLANG)
    file(WRITE "${FOLDER}/clang.cpp" "#include <string>\nint main() { return static_cast<int>(std::string().size()); }\n")
    execute_process(COMMAND "${CLANG}" -std=c++20 "${FOLDER}/clang.cpp" -o "${FOLDER}/clang" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  endif()
  if(failed)
    message("clang++ left out: none that links a program")
  else()
    compare("${CLANG}" Clang "" -O2 -ffast-math -ffinite-math-only -funsafe-math-optimizations)
  endif()
endif()
