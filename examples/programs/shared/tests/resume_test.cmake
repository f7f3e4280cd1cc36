# A run that is killed, or interrupted by SIGINT or SIGTERM, in the middle of an epoch goes on with --resume to the bits
# of one that never stopped, and leaves the same files; while it runs no other run is let into its folder.
# `arguments`: of such a run, of some seconds and three epochs, by PROGRAM; FOLDER is a folder of the test's own.  `says`, where
# it is set: what the run must say, of what makes it the case that is meant.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})

# Ends with 0, or with 3 where so short a run did not learn.
function(run folder)
  execute_process(COMMAND ${PROGRAM} ${arguments} --out ${FOLDER}/${folder} ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status MATCHES "^[03]$")
    message(FATAL_ERROR "${PROGRAM} ${arguments} ${ARGN}: status ${status}\n${output}")
  endif()
  if(DEFINED says AND NOT output MATCHES "${says}")
    message(FATAL_ERROR "\"${says}\" is not in the output:\n${output}")
  endif()
endfunction()

# Starts a run, waits for its first checkpoint and a little longer, and sends it a signal.  It must end with `expected`.
# Before that it stands still for what `meanwhile`, lines of a shell's, does.
function(run_until signal expected folder meanwhile)
  file(WRITE ${FOLDER}/${folder}.sh "\
\"$@\" > ${FOLDER}/${folder}.txt 2>&1 &
run=$!
while kill -0 $run 2> /dev/null && ! test -f ${FOLDER}/${folder}/model.safetensors; do sleep 0.02; done
sleep 0.1
kill -STOP $run
cp ${FOLDER}/${folder}/model.safetensors ${FOLDER}/${folder}.safetensors
${meanwhile}
kill -CONT $run
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

function(expect_same_files folder)
  file(GLOB_RECURSE expected RELATIVE ${FOLDER}/whole ${FOLDER}/whole/*)
  file(GLOB_RECURSE found RELATIVE ${FOLDER}/${folder} ${FOLDER}/${folder}/*)
  if(NOT found STREQUAL expected)
    message(FATAL_ERROR "${folder}: its files are ${found}, those of the run that never stopped ${expected}")
  endif()
endfunction()

run(whole)

run_until(KILL 137 killed "")
execute_process(COMMAND sh -c "echo $$" OUTPUT_VARIABLE gone OUTPUT_STRIP_TRAILING_WHITESPACE)
file(WRITE ${FOLDER}/killed/model.safetensors.part${gone} "killed while it wrote this")
file(WRITE ${FOLDER}/killed/plots/loss.svg.part${gone} "and this")
file(APPEND ${FOLDER}/killed/metrics.csv "9,999999,1,1,1,1,1,1\n")  # killed between this line and its checkpoint
run(killed --resume)
expect_same(killed)
expect_same_files(killed)

foreach(signal INT TERM)
  set(status 130)
  set(beside "")
  if(signal STREQUAL TERM)
    set(status 143)
    set(beside "\"$@\" --resume > ${FOLDER}/beside.txt 2>&1; echo \"status $?\" >> ${FOLDER}/beside.txt")
  endif()
  run_until(${signal} ${status} interrupted-${signal} "${beside}")
  file(READ ${FOLDER}/interrupted-${signal}.txt text)
  if(NOT text MATCHES "--resume")
    message(FATAL_ERROR "an interrupted run does not say how to go on:\n${text}")
  endif()
  # What was done since the last checkpoint is saved: the next process begins in the middle of an epoch.
  file(SHA256 ${FOLDER}/interrupted-${signal}.safetensors before)
  file(SHA256 ${FOLDER}/interrupted-${signal}/model.safetensors saved)
  if(saved STREQUAL before)
    message(FATAL_ERROR "signal ${signal} saves nothing: the checkpoint is the one that was there before it")
  endif()
  run(interrupted-${signal} --resume)
  expect_same(interrupted-${signal})
  expect_same_files(interrupted-${signal})
endforeach()
file(READ ${FOLDER}/beside.txt text)
set(refusal "interrupted-TERM has a run already: process [0-9]+ on .*, since .*another folder with --out.*status 1\n$")
if(NOT text MATCHES "${refusal}")
  message(FATAL_ERROR "a second run in a folder is let in:\n${text}")
endif()
message("killed and interrupted runs end with the bits and the files of the run that never stopped")
