# A unit that uses compiled kernels links with those that were compiled by its own flags; with those for other instructions
# or with other assertions it does not, and the linker names what it wanted.
cmake_minimum_required(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/../run.cmake")

file(MAKE_DIRECTORY "${FOLDER}")
set(compile "${COMPILER}" -std=c++20 "-I${ROOT}/include" -isystem "${CCCL}")
file(WRITE "${FOLDER}/kernels.cpp" "#define TRIAD_KERNELS\n#include \"triad/cpu/kernels/compiled_for.hpp\"\n")
file(WRITE "${FOLDER}/user.cpp" "#define TRIAD_KERNELS extern\n#include \"triad/cpu/gather.hpp\"\nint main() {}\n")

# object(UNIT FLAG...): compiles kernels.cpp or user.cpp.
function(object unit)
  run(${compile} ${ARGN} -c "${FOLDER}/${unit}.cpp" -o "${FOLDER}/${unit}.o")
endfunction()
# Links both: the status is in `failed`, what the linker says in `output`.
macro(link_both)
  execute_process(COMMAND "${COMPILER}" "${FOLDER}/user.o" "${FOLDER}/kernels.o" -pthread -o "${FOLDER}/program"
    RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
endmacro()
function(refused name)
  link_both()
  if(NOT failed OR NOT output MATCHES "kernels_compiled_for<triad::cpu::${name}>")
    message(FATAL_ERROR "The linker should miss kernels_compiled_for<${name}>; status ${failed}:\n${output}")
  endif()
endfunction()

object(kernels)
object(user -DCCCL_ENABLE_HOST_ASSERTIONS)
refused("[a-z0-9_]+, triad::cpu::with_assertions")
object(user)
link_both()
if(failed)
  message(FATAL_ERROR "Kernels and their user by the same flags do not link:\n${output}")
endif()
object(kernels -DCCCL_ENABLE_HOST_ASSERTIONS)
refused("[a-z0-9_]+, triad::cpu::without_assertions")
if(PROCESSOR MATCHES "x86_64|AMD64")
  object(kernels -mno-avx)
  object(user -mavx512f)
  refused("avx512, triad::cpu::without_assertions")
  object(kernels -mavx)
  object(user -mavx2 -mfma)
  refused("avx_with_fma, triad::cpu::without_assertions")
endif()
