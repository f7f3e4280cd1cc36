# Trains a small model. Checks that predict prints the same answer as `clutrr predict`, and that a bad file gives a
# message.
file(REMOVE_RECURSE "${FOLDER}")
execute_process(COMMAND "${CLUTRR}" train --preset smoke --out "${FOLDER}" RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status MATCHES "^[03]$")  # 3: the run ended, but was too short to learn the task
  message(FATAL_ERROR "clutrr train: status ${status}\n${output}")
endif()
execute_process(COMMAND "${CLUTRR}" predict "${FOLDER}" --facts "ann:mother:bea bea:brother:carl" --ask ann:carl
  OUTPUT_VARIABLE expected COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${PREDICT}" "${FOLDER}/model.safetensors" OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "predict says\n${output}\nclutrr predict says\n${expected}")
endif()

# A checkpoint of another model is refused with a message that names the difference.
foreach(other IN ITEMS "--paper-form" "--attention;value-ablation" "--model;rat")
  execute_process(COMMAND "${CLUTRR}" train --preset smoke --chains 64 ${other} --out "${FOLDER}/other" OUTPUT_QUIET ERROR_QUIET)
  execute_process(COMMAND "${PREDICT}" "${FOLDER}/other/model.safetensors" RESULT_VARIABLE status ERROR_VARIABLE error)
  if(NOT status STREQUAL "1" OR NOT error MATCHES "its (form|attention|model) is not (released|full|edge-transformer), which")
    message(FATAL_ERROR "predict of ${other}: status ${status}\n${error}")
  endif()
endforeach()

# A bad file gives an error message of one line. The program exits with status 1, and no signal ends it.
file(WRITE "${FOLDER}/bad.safetensors" "no model")
foreach(bad IN ITEMS bad.safetensors none.safetensors)
  execute_process(COMMAND "${PREDICT}" "${FOLDER}/${bad}" RESULT_VARIABLE status ERROR_VARIABLE error)
  if(NOT status STREQUAL "1" OR NOT error MATCHES "^predict: [^\n]*${bad}[^\n]*\n$")
    message(FATAL_ERROR "predict ${bad}: status ${status}\n${error}")
  endif()
endforeach()
message("${output}")
