# A run is killed, or interrupted by SIGINT or SIGTERM, in the middle of an epoch, and then resumed with --resume. It
# must have the same bits and files as an uninterrupted run. During the run, no other run may use its folder.
# `arguments`: the arguments of a run of PROGRAM that takes some seconds and has three epochs.  FOLDER is a folder that
# only this test uses.  `says`, if set: a text that the run must print, which shows that the intended case is tested.
include(${CMAKE_CURRENT_LIST_DIR}/program_test.cmake)

# Trains to the end. The status is 0, or 3 if the run did not learn its task, because it is short.
function(train folder)
  run("0|3" ${arguments} --out ${FOLDER}/${folder} ${ARGN})
  if(DEFINED says)
    expect("${says}")
  endif()
endfunction()

# Starts a run, waits until it has written its first checkpoint and a little longer, and sends it a signal.  The run
# must end with status `expected`. Before the signal, the run is stopped while the shell lines `meanwhile` are executed.
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

# Run `folder` must have the same metrics, model and files as the uninterrupted run.
function(expect_whole folder)
  foreach(file metrics.csv model.safetensors)
    expect_same_files(whole/${file} ${folder}/${file} "another than of the run that never stopped")
  endforeach()
  file(GLOB_RECURSE expected RELATIVE ${FOLDER}/whole ${FOLDER}/whole/*)
  file(GLOB_RECURSE found RELATIVE ${FOLDER}/${folder} ${FOLDER}/${folder}/*)
  expect_same("${folder}: its files are" "${found}" "${expected}")
endfunction()

train(whole)

run_until(KILL 137 killed "")
execute_process(COMMAND sh -c "echo $$" OUTPUT_VARIABLE gone OUTPUT_STRIP_TRAILING_WHITESPACE)
file(WRITE ${FOLDER}/killed/model.safetensors.part${gone} "killed while it wrote this")
file(WRITE ${FOLDER}/killed/plots/loss.svg.part${gone} "and this")
# Simulates a run that was killed after it wrote this line and before it wrote the checkpoint.
file(APPEND ${FOLDER}/killed/metrics.csv "9,999999,1,1,1,1,1,1\n")
train(killed --resume)
expect_whole(killed)

foreach(signal INT TERM)
  set(status 130)
  set(beside "")
  if(signal STREQUAL TERM)
    set(status 143)
    set(beside "\"$@\" --resume > ${FOLDER}/beside.txt 2>&1; echo \"status $?\" >> ${FOLDER}/beside.txt")
  endif()
  run_until(${signal} ${status} interrupted-${signal} "${beside}")
  expect_in_file(interrupted-${signal}.txt "--resume" "an interrupted run does not say how to go on")
  # An interrupted run saves its work since the last checkpoint: the next process begins in the middle of an epoch.
  file(SHA256 ${FOLDER}/interrupted-${signal}.safetensors before)
  file(SHA256 ${FOLDER}/interrupted-${signal}/model.safetensors saved)
  if(saved STREQUAL before)
    message(FATAL_ERROR "signal ${signal} saves nothing: the checkpoint is the one that was there before it")
  endif()
  train(interrupted-${signal} --resume)
  expect_whole(interrupted-${signal})
endforeach()
set(refusal "interrupted-TERM has a run already: process [0-9]+ on .*, since .*another folder with --out.*status 1\n$")
expect_in_file(beside.txt "${refusal}" "a second run in a folder is let in")
message("killed and interrupted runs end with the bits and the files of the run that never stopped")
