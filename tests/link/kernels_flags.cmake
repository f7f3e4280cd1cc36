# Tests that a source file that uses compiled kernels links with kernels that were compiled with the same flags. It must
# not link with kernels for other instructions or with other assertions. The linker's error must name the required
# flags.
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
# Links both object files: `failed` is the status, and `output` is the linker's text.
macro(link_both)
  execute_process(COMMAND "${COMPILER}" "${FOLDER}/user.o" "${FOLDER}/kernels.o" -pthread -o "${FOLDER}/program"
    RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
endmacro()
function(refused name)
  link_both()
  if(NOT failed OR NOT output MATCHES "triad::cpu::${name}::kernels_compiled_here")
    message(FATAL_ERROR "The linker should miss triad::cpu::${name}::kernels_compiled_here; status ${failed}:\n${output}")
  endif()
endfunction()

object(kernels)
object(user -DCCCL_ENABLE_HOST_ASSERTIONS)
refused("[a-z0-9_]+_checked")
object(user)
link_both()
if(failed)
  message(FATAL_ERROR "Kernels and their user by the same flags do not link:\n${output}")
endif()
object(kernels -DCCCL_ENABLE_HOST_ASSERTIONS)
refused("[a-z0-9_]+")
object(kernels)
object(user -ffast-math)
refused("[a-z0-9_]+::fast_math")
object(user -ffinite-math-only)
refused("[a-z0-9_]+::finite_math")
if(PROCESSOR MATCHES "x86_64|AMD64")
  object(kernels -mno-avx)
  object(user -mavx512f)
  refused("avx512")
  object(kernels -mavx)
  object(user -mavx2 -mfma)
  refused("avx_with_fma")
endif()

# If each source file compiles its own kernels, kernels with different flags have different names.
find_program(NM nm)
if(NM)
  file(WRITE "${FOLDER}/own.cpp" "#include \"triad/cpu/kernels/parallel.hpp\"\n\
#include \"triad/reference/cross_entropy.hpp\"\n\
void run(triad::reference::backend& ex, triad::matrix<float> x, triad::vec<triad::index_t const> t, triad::vec<float> y) {\n\
  do_cross_entropy(ex, triad::matrix<float const>(x), t, y, x, {});\n\
}\n\
void run(triad::cpu::backend& ex) { triad::cpu::parallel_for(ex, 8, [](triad::index_t, int) {}); }\n")
  # weak(RESULT FLAG...) lists the functions of own.cpp that a linker may take from another object file.
  function(weak result)
    object(own ${ARGN})
    execute_process(COMMAND "${NM}" -C "${FOLDER}/own.o" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "[WVu] [^\n;]*triad::(cpu|reference)::[^\n;]*" symbols "${symbols}")
    set(${result} "${symbols}" PARENT_SCOPE)
  endfunction()
  weak(some)
  list(LENGTH some count)
  if(count LESS 5 OR NOT some MATCHES "reference::do_cross_entropy")
    message(FATAL_ERROR "own.cpp has ${count} kernels of its own, which shows nothing: ${some}")
  endif()
  foreach(flags IN ITEMS -DCCCL_ENABLE_HOST_ASSERTIONS -ffast-math -ffinite-math-only)
    weak(others ${flags})
    foreach(symbol IN LISTS some)
      if(symbol IN_LIST others AND NOT (symbol MATCHES "reference::" AND NOT symbol MATCHES "triad::cpu::" AND flags MATCHES "ASSERTIONS"))
        message(FATAL_ERROR "${symbol}: units of ${flags} have the same")
      endif()
    endforeach()
  endforeach()
endif()
