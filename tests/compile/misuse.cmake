# SOURCE must compile unchanged. With MISUSE defined, it must not compile, and the error must contain the sentence in
# its line `// expect:`.
cmake_minimum_required(VERSION 3.25)
list(TRANSFORM INCLUDES PREPEND -I)
set(compile "${COMPILER}" -std=c++20 -fsyntax-only -w ${INCLUDES})

execute_process(COMMAND ${compile} "${SOURCE}" RESULT_VARIABLE failed ERROR_VARIABLE output)
if(failed)
  message(FATAL_ERROR "The right use does not compile either:\n${output}")
endif()

file(STRINGS "${SOURCE}" expected REGEX "^// expect: ")
string(REGEX REPLACE "^// expect: " "" expected "${expected}")
if(expected STREQUAL "")
  message(FATAL_ERROR "${SOURCE} has no line `// expect: SENTENCE`")
endif()

execute_process(COMMAND ${compile} -DMISUSE "${SOURCE}" RESULT_VARIABLE failed ERROR_VARIABLE output)
if(NOT failed)
  message(FATAL_ERROR "The misuse compiles; expected: ${expected}")
endif()
string(FIND "${output}" "${expected}" found)
if(found EQUAL -1)
  message(FATAL_ERROR "Refused, but not with: ${expected}\nbut with:\n${output}")
endif()
message("refused with: ${expected}")
