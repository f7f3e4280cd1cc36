# A checkpoint whose configuration describes no possible model is refused with an error message of one line.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/program_test.cmake)

# For each setting in the checkpoint of run `folder`: replaces it by numbers and by values of other types, then removes
# it, and runs predict each time.
# LEGAL: settings that may be any whole number from 0, so an answer is allowed.  ZERO: settings that may be 0.
# OPTIONAL: settings that may be missing.
# ARGUMENTS: the arguments of predict.  EVALUATE: the arguments of evaluate, which is also run.
function(expect_sizes_refused folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LEGAL;ZERO;OPTIONAL;ARGUMENTS;EVALUATE")
  cmake_path(GET PROGRAM PARENT_PATH bin)
  set(change ${bin}/triad-change-checkpoint)
  set(checkpoint ${FOLDER}/${folder}/model.safetensors)
  set(changed ${FOLDER}/changed.safetensors)
  execute_process(COMMAND ${change} ${checkpoint} OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" names "${names}")
  list(LENGTH names count)
  if(count LESS 5)
    message(FATAL_ERROR "only ${count} settings in ${checkpoint}")
  endif()
  foreach(name IN LISTS names)
    foreach(value IN ITEMS -1 0 2147483648 9223372036854775807 1.5 "\"text\"" null none)
      execute_process(COMMAND ${change} ${checkpoint} ${name} ${value} ${changed} COMMAND_ERROR_IS_FATAL ANY)
      set(legal 1)
      if((name IN_LIST arg_LEGAL AND value MATCHES "^[0-9]+$") OR (name IN_LIST arg_ZERO AND value STREQUAL "0") OR (name IN_LIST arg_OPTIONAL AND value STREQUAL "none"))
        set(legal "0|1")
      endif()
      expect_one_sentence("${legal}" "${name} = ${value}" predict ${changed} ${arg_ARGUMENTS})
      if(value STREQUAL "-1" OR value STREQUAL "null")
        expect_one_sentence("${legal}" "${name} = ${value}" evaluate ${changed} ${arg_EVALUATE})
      endif()
    endforeach()
  endforeach()
endfunction()

# If a signal ends the program, `status` is a word and not a number.
function(expect_one_sentence expected what)  # ARGUMENTS...
  execute_process(COMMAND ${PROGRAM} ${ARGN} RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE output)
  if(NOT status MATCHES "^(${expected})$")
    message(FATAL_ERROR "${what}: ${ARGN} ends with ${status}, expected ${expected}\n${output}")
  endif()
  if(status EQUAL 1 AND NOT output MATCHES "^[^\n]+: [^\n]+\n$")
    message(FATAL_ERROR "${what}: ${ARGN} does not end in one sentence\n${output}")
  endif()
  # An error about a size has the setting's name, its value and the file.
  string(REGEX REPLACE "^.*[.]" "" name "${what}")
  string(REGEX MATCH "^[a-z_]+" name "${name}")
  string(REGEX MATCH "(-1|0|2147483648|9223372036854775807|1.5)$" number "${what}")
  if(status EQUAL 1 AND name MATCHES "^(width|heads|hidden|hidden_factor|layers|encoder_layers|decoder_layers|steps|depth)$" AND NOT number STREQUAL "")
    if(NOT output MATCHES "changed[.]safetensors: .*${name}.*${number}")
      message(FATAL_ERROR "${what}: file, setting and value are not in the sentence\n${output}")
    endif()
  endif()
endfunction()
