# A run that is killed, or interrupted, in the middle of an epoch goes on with --resume to the bits of one that never stopped.
# `arguments`: of such a run, of some seconds and three epochs, by PROGRAM; FOLDER is a folder of the test's own.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})

# Ends with 0, or with 2 where so short a run did not learn.
function(run folder)
  execute_process(COMMAND ${PROGRAM} ${arguments} --out ${FOLDER}/${folder} ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status MATCHES "^[02]$")
    message(FATAL_ERROR "${PROGRAM} ${arguments} ${ARGN}: status ${status}\n${output}")
  endif()
endfunction()

# Starts a run, waits for its first checkpoint and a little longer, and sends it a signal.  It must end with `expected`.
function(run_until signal expected folder)
  file(WRITE ${FOLDER}/${folder}.sh "\
\"$@\" > ${FOLDER}/${folder}.txt 2>&1 &
run=$!
while kill -0 $run 2> /dev/null && ! test -f ${FOLDER}/${folder}/model.safetensors; do sleep 0.02; done
sleep 0.1
kill -${signal} $run
wait $run
")
  execute_process(COMMAND sh ${FOLDER}/${folder}.sh ${PROGRAM} ${arguments} --out ${FOLDER}/${folder} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL expected)
    file(READ ${FOLDER}/${folder}.txt text)
    message(FATAL_ERROR "the run that gets signal ${signal}: status ${status}, expected ${expected}\n${output}${text}")
  endif()
  file(STRINGS ${FOLDER}/${folder}/metrics.csv lines)
  list(LENGTH lines count)
  if(count GREATER 3)
    message(FATAL_ERROR "signal ${signal} came after the last epoch: make the run longer")
  endif()
endfunction()

# metrics.csv without what a clock decides: seconds and examples a second.
function(metrics_of folder result)
  file(READ ${FOLDER}/${folder}/metrics.csv text)
  string(REGEX REPLACE ",[^,\n]*,[^,\n]*\n" "\n" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

function(expect_same folder)
  metrics_of(whole expected)
  metrics_of(${folder} found)
  if(NOT found STREQUAL expected)
    message(FATAL_ERROR "${folder}: other metrics than the run that never stopped:\n${found}\ninstead of\n${expected}")
  endif()
  file(SHA256 ${FOLDER}/whole/model.safetensors expected)
  file(SHA256 ${FOLDER}/${folder}/model.safetensors found)
  if(NOT found STREQUAL expected)
    message(FATAL_ERROR "${folder}: another model than the run that never stopped")
  endif()
endfunction()

run(whole)

run_until(KILL 137 killed)
file(APPEND ${FOLDER}/killed/metrics.csv "9,999999,1,1,1,1,1,1\n")  # killed between this line and its checkpoint
run(killed --resume)
expect_same(killed)

run_until(INT 130 interrupted)
file(READ ${FOLDER}/interrupted.txt text)
if(NOT text MATCHES "--resume")
  message(FATAL_ERROR "an interrupted run does not say how to go on:\n${text}")
endif()
run(interrupted --resume)
expect_same(interrupted)
message("killed and interrupted runs end with the bits of the run that never stopped")
