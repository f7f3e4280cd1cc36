# Trains a small model, and wants the same answer from predict as from `clutrr predict`, and of a bad file a message.
file(REMOVE_RECURSE "${FOLDER}")
execute_process(COMMAND "${CLUTRR}" train --preset smoke --out "${FOLDER}" RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status MATCHES "^[03]$")  # 3: trained, but too short to have learned
  message(FATAL_ERROR "clutrr train: status ${status}\n${output}")
endif()
execute_process(COMMAND "${CLUTRR}" predict "${FOLDER}" --facts "ann:mother:bea bea:brother:carl" --ask ann:carl
  OUTPUT_VARIABLE expected COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${PREDICT}" "${FOLDER}/model.safetensors" OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "predict says\n${output}\nclutrr predict says\n${expected}")
endif()

# Another model has other answers, or none.
foreach(other IN ITEMS "--paper-form" "--attention;value-ablation" "--model;rat")
  execute_process(COMMAND "${CLUTRR}" train --preset smoke --chains 64 ${other} --out "${FOLDER}/other" OUTPUT_QUIET ERROR_QUIET)
  execute_process(COMMAND "${PREDICT}" "${FOLDER}/other/model.safetensors" RESULT_VARIABLE status ERROR_VARIABLE error)
  if(NOT status STREQUAL "1" OR NOT error MATCHES "its (form|attention|model) is not (released|full|edge-transformer), which")
    message(FATAL_ERROR "predict of ${other}: status ${status}\n${error}")
  endif()
endforeach()

# A bad file is reported in one line, and ends nothing by a signal.
file(WRITE "${FOLDER}/bad.safetensors" "no model")
foreach(bad IN ITEMS bad.safetensors none.safetensors)
  execute_process(COMMAND "${PREDICT}" "${FOLDER}/${bad}" RESULT_VARIABLE status ERROR_VARIABLE error)
  if(NOT status STREQUAL "1" OR NOT error MATCHES "^predict: [^\n]*${bad}[^\n]*\n$")
    message(FATAL_ERROR "predict ${bad}: status ${status}\n${error}")
  endif()
endforeach()
message("${output}")
