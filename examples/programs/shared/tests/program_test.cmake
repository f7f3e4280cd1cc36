# Functions for the tests of all programs.  PROGRAM is the path of the program. FOLDER is a folder that only this test
# uses. It is emptied first.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})

function(run expected)
  execute_process(COMMAND ${PROGRAM} ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status MATCHES "^(${expected})$")
    message(FATAL_ERROR "${PROGRAM} ${ARGN}: status ${status}, expected ${expected}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# Writes a small encoder in the published format into ${FOLDER}/${name}, which must exist. kind: roberta, bert or
# mpnet.
function(make_encoder kind name seed)
  cmake_path(GET PROGRAM PARENT_PATH bin)
  execute_process(COMMAND ${bin}/triad-make-encoder ${kind} ${FOLDER}/${name} ${seed} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(expect what)
  if(NOT output MATCHES "${what}")
    message(FATAL_ERROR "\"${what}\" is not in the output:\n${output}")
  endif()
endfunction()

# Each of these functions runs the program with the arguments and expects `what` in the output. says() expects success,
# refused() expects that the input is refused, and misused() expects that the command line is refused.
function(says what)  # ARGUMENTS...
  run(0 ${ARGN})
  expect("${what}")
  set(output "${output}" PARENT_SCOPE)
endfunction()
function(refused what)  # ARGUMENTS...
  run(1 ${ARGN})
  expect("${what}")
  set(output "${output}" PARENT_SCOPE)
endfunction()
function(misused what)  # ARGUMENTS...
  run(2 ${ARGN})
  expect("${what}")
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_absent what why)
  if(output MATCHES "${what}")
    message(FATAL_ERROR "${why}: \"${what}\" is in the output:\n${output}")
  endif()
endfunction()

function(expect_times count what)
  string(REGEX MATCHALL "${what}" found "${output}")
  list(LENGTH found times)
  if(NOT times EQUAL count)
    message(FATAL_ERROR "\"${what}\" is ${times} times in the output, expected ${count}:\n${output}")
  endif()
endfunction()

function(expect_same why one other)
  if(NOT one STREQUAL other)
    message(FATAL_ERROR "${why}:\n${one}\ninstead of\n${other}")
  endif()
endfunction()

# Compares two files in ${FOLDER}. In files of a run, differences in measured times are ignored.
function(expect_same_files one other why)
  run_file(${FOLDER}/${one} text)
  run_file(${FOLDER}/${other} other_text)
  expect_same("${why}: ${one} and ${other}" "${text}" "${other_text}")
endfunction()

function(expect_files)  # FILES...
  foreach(file IN LISTS ARGN)
    if(NOT EXISTS ${FOLDER}/${file})
      message(FATAL_ERROR "there is no ${file}")
    endif()
  endforeach()
endfunction()

function(expect_no_file file why)
  if(EXISTS ${FOLDER}/${file})
    message(FATAL_ERROR "${why}: ${file}")
  endif()
endfunction()

function(expect_in_file file what why)
  file(READ ${FOLDER}/${file} text)
  if(NOT text MATCHES "${what}")
    message(FATAL_ERROR "${why}: \"${what}\" is not in ${file}:\n${text}")
  endif()
endfunction()

function(expect_lines file count)
  file(STRINGS ${FOLDER}/${file} lines)
  list(LENGTH lines found)
  if(NOT found EQUAL count)
    message(FATAL_ERROR "${file} has ${found} lines, expected ${count}")
  endif()
endfunction()

# Tests bad lines. Each case has the form "LINE|SAID". LINE is appended to the `count` lines of `good`. `inspect` must
# refuse the file, and print the number of LINE and SAID.
function(expect_bad_lines good count)  # CASES...
  math(EXPR number "${count} + 1")
  math(EXPR last "${ARGC} - 1")
  foreach(at RANGE 2 ${last})  # by index, since CMake would split a list at unclosed brackets
    string(REGEX MATCH "^(.*)\\|([^|]*)$" whole "${ARGV${at}}")
    set(said "${CMAKE_MATCH_2}")
    file(WRITE ${FOLDER}/bad.jsonl "${good}${CMAKE_MATCH_1}\n")
    run(1 inspect ${FOLDER}/bad.jsonl)
    expect("bad.jsonl:${number}:${said}")
  endforeach()
endfunction()

# Asks a question, which is a line of JSON, on the command line, in the file asked.jsonl, and on standard input. predict
# must give the same answer each time. Stores the answer in `output`.
function(expect_answer_of what question)
  run(0 predict ${FOLDER}/run "${question}")
  expect("${what}")
  set(answer "${output}")
  file(WRITE ${FOLDER}/asked.jsonl "${question}\n")
  run(0 predict ${FOLDER}/run --file ${FOLDER}/asked.jsonl)
  execute_process(COMMAND ${PROGRAM} predict ${FOLDER}/run INPUT_FILE ${FOLDER}/asked.jsonl OUTPUT_VARIABLE piped)
  if(NOT output STREQUAL answer OR NOT piped STREQUAL answer)
    message(FATAL_ERROR "the answer depends on where the question is read:\n${answer}${output}${piped}")
  endif()
  set(output "${answer}" PARENT_SCOPE)
endfunction()

# Asks a line of JSON three times: without an answer, with the predicted answer, and with a wrong answer, which has
# `wrong` in place of `pattern`. All three lines must get the same answer, and the note must count them. `what` is the
# name of an answer in the note.
function(expect_note_of_answers what pattern wrong question)
  execute_process(COMMAND ${PROGRAM} predict ${FOLDER}/run "${question}" OUTPUT_VARIABLE answer ERROR_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  expect_same("a question without an answer has a note" "${output}" "")
  string(STRIP "${answer}" given)
  string(REGEX REPLACE "${pattern}" "${wrong}" other "${given}")
  execute_process(COMMAND ${PROGRAM} predict ${FOLDER}/run "${given}" "${question}" "${other}" OUTPUT_VARIABLE answers ERROR_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  expect_same("answers in questions change predicted ones" "${answers}" "${answer}${answer}${answer}")
  expect("^[a-z]+: note: 2 of 3 questions already had ${what}, which predict replaced; 1 of these 2 equalled the answer; [^\n]*\n$")
endfunction()

# Appends to `lines` the expected lines of confusion.csv for one part: how often each "target,predicted" occurs in
# `pairs`.
function(count_pairs part pairs lines)
  list(SORT pairs)
  set(kinds ${pairs})
  list(REMOVE_DUPLICATES kinds)
  set(text "${${lines}}")
  foreach(kind IN LISTS kinds)
    set(same ${pairs})
    list(FILTER same INCLUDE REGEX "^${kind}$")
    list(LENGTH same count)
    string(APPEND text "${part},${kind},${count}\n")
  endforeach()
  set(${lines} "${text}" PARENT_SCOPE)
endfunction()

# Sets `result` to the memory that the program asks for ("need SIZE") if --memory is too small.
function(needed_memory result)  # ARGUMENTS...
  run(1 ${ARGN} --memory 1KiB)
  if(NOT output MATCHES "--memory 1KiB is too little: .* need ([0-9]+[KMG]iB)")
    message(FATAL_ERROR "it is not said how much memory is needed:\n${output}")
  endif()
  set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()

# Checks that the run has these files. With its config.toml, the same model must be trained again in the folder `again`.
function(expect_run folder expected)  # STATUS FILES...
  list(TRANSFORM ARGN PREPEND ${folder}/)
  expect_files(${ARGN})
  run(${expected} train --config ${FOLDER}/${folder}/config.toml --out ${FOLDER}/again)
  expect_same_files(${folder}/model.safetensors again/model.safetensors "--config config.toml makes another model")
endfunction()

# evaluate must print the same scores for the run as the train command before. Scores are the texts that match `what`.
function(expect_scores_of_run what folder)
  string(REGEX MATCHALL "${what}" trained "${output}")
  run(0 evaluate ${folder})
  string(REGEX MATCHALL "${what}" evaluated "${output}")
  if(trained STREQUAL "" OR NOT evaluated STREQUAL trained)
    message(FATAL_ERROR "evaluate ${folder} says ${evaluated}, where train said ${trained}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# Reads a file of a run without measured times: the last two columns of metrics.csv, seconds and examples per second.
function(run_file path result)
  if(path MATCHES "metrics.csv$")
    file(READ ${path} text)
    string(REGEX REPLACE ",[^,\n]*,[^,\n]*\n" "\n" text "${text}")
  else()
    file(SHA256 ${path} text)
  endif()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# `old` is an older name of the program `name`, and is a link to the program. Under both names, the program prints the
# name under which it was called, and reads runs that were made under either name.
function(expect_old_name name old)  # ARGUMENTS of a train
  cmake_path(GET PROGRAM PARENT_PATH bin)
  foreach(called ${name} ${old})
    set(PROGRAM ${bin}/${called})
    run("0|3" ${ARGN} --out ${FOLDER}/by-${called})
    expect_in_file(by-${called}/config.toml "(^|\n)program = \"${called}\"\n" "another program's run")
    run(2 no-verb)
    expect("^${called}: \"no-verb\" is no verb")
    run(0 train --help)
    string(REPLACE "bin/${called} " "bin/NAME " help_${called} "${output}")
  endforeach()
  expect_same_files(by-${old}/model.safetensors by-${name}/model.safetensors "${old} trains another model")
  expect_same("--help of ${old}" "${help_${old}}" "${help_${name}}")
  set(both ${name} ${old})
  set(turned ${old} ${name})
  foreach(called other IN ZIP_LISTS both turned)
    set(PROGRAM ${bin}/${called})
    run(0 evaluate ${FOLDER}/by-${other})
    run("0|3" train --config ${FOLDER}/by-${other}/config.toml --resume --out ${FOLDER}/by-${other})
    expect_in_file(by-${other}/config.toml "(^|\n)program = \"${called}\"\n" "another program's run")
  endforeach()
endfunction()

# Trains several seeds with one command, and also each seed in a separate process, as in a job array. The command with
# --resume then collects the runs of these processes, and trains the missing seeds. Both ways must write the same files.
function(expect_seeds_of_jobs expected)  # ARGUMENTS...
  set(together ${ARGN} --seed 3 --seeds 3)
  run(${expected} ${together} --out ${FOLDER}/together)
  expect("seed 3 +[0-9]+%")
  foreach(seed 3 5)
    run(${expected} ${ARGN} --seed ${seed} --resume --out ${FOLDER}/jobs/seed-${seed})
    file(GLOB files RELATIVE ${FOLDER}/together ${FOLDER}/together/seed-${seed}/*)
    expect_same_as_together("${files}")
  endforeach()
  find_program(FLOCK flock REQUIRED)
  execute_process(COMMAND ${FLOCK} ${FOLDER}/jobs/seed-5/run.lock ${PROGRAM} ${together} --resume --out ${FOLDER}/jobs
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  expect("jobs/seed-5 has a run already")
  if(NOT status EQUAL 1)
    message(FATAL_ERROR "a seed whose process is at it is gathered, status ${status}:\n${output}")
  endif()
  file(REMOVE_RECURSE ${FOLDER}/jobs/seed-4)
  run(${expected} ${together} --resume --out ${FOLDER}/jobs)
  expect("no checkpoint in ${FOLDER}/jobs/seed-4: this run begins at the beginning")
  if(output MATCHES "seed [35] +[0-9]+%")
    message(FATAL_ERROR "a seed that was trained is trained again:\n${output}")
  endif()
  file(GLOB_RECURSE files RELATIVE ${FOLDER}/together ${FOLDER}/together/*)
  expect_same_as_together("${files}")
endfunction()

function(expect_same_as_together files)
  if(files STREQUAL "")
    message(FATAL_ERROR "there are no files to compare")
  endif()
  foreach(file IN LISTS files)
    expect_files(jobs/${file})
    expect_same_files(together/${file} jobs/${file} "a process for each seed leaves another file than one process for all")
  endforeach()
endfunction()

# Seeds that do not fit into 64 bits are refused, and so is a range of seeds that exceeds the largest seed.
function(expect_bounded_seeds)  # ARGUMENTS...
  foreach(seed -1 18446744073709551616)
    run(2 ${ARGN} --seed ${seed})
    expect("--seed: ${seed} is not a whole number from 0 to 18446744073709551615")
  endforeach()
  run(1 ${ARGN} --seed 18446744073709551615 --seeds 2)
  expect("--seeds 2 from --seed 18446744073709551615 go beyond the largest seed")
endfunction()

# Both backends must give the same answer to a question.
function(expect_same_answer)  # ARGUMENTS...
  run(0 ${ARGN} --backend cuda)
  set(answer "${output}")
  run(0 ${ARGN} --backend reference)
  if(NOT output STREQUAL answer)
    message(FATAL_ERROR "the GPU says\n${answer}the reference\n${output}")
  endif()
endfunction()

# Sets `result` to the losses of a run, in millionths.
function(losses_of folder result)
  file(STRINGS ${FOLDER}/${folder}/metrics.csv lines REGEX "^[0-9]")
  if(lines STREQUAL "")
    message(FATAL_ERROR "${folder}/metrics.csv: no losses")
  endif()
  set(losses "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^[0-9]+,[0-9]+,([0-9])\\.?([0-9]*)e-0?([0-9]+),")  # less than 0.0001
      math(EXPR zeros "${CMAKE_MATCH_3} - 1")
      string(REPEAT 0 ${zeros} zeros)
      set(whole 0)
      set(fraction "${zeros}${CMAKE_MATCH_1}${CMAKE_MATCH_2}")
    elseif(line MATCHES "^[0-9]+,[0-9]+,([0-9]+)\\.?([0-9]*),")
      set(whole "${CMAKE_MATCH_1}")
      set(fraction "${CMAKE_MATCH_2}")
    else()
      message(FATAL_ERROR "${folder}/metrics.csv: no loss in ${line}")
    endif()
    string(SUBSTRING "${fraction}000000" 0 6 fraction)
    list(APPEND losses "${whole}${fraction}")
  endforeach()
  set(${result} ${losses} PARENT_SCOPE)
endfunction()

# No two runs may have the same losses.
function(expect_different_losses)  # FOLDERS...
  set(seen "")
  foreach(folder IN LISTS ARGN)
    losses_of(${folder} losses)
    string(JOIN " " losses ${losses})  # one string, so that a run is one entry of `seen`
    list(FIND seen "${losses}" at)
    if(NOT at EQUAL -1)
      list(GET ARGN ${at} other)
      message(FATAL_ERROR "${folder} has the losses of ${other}: ${losses}")
    endif()
    list(APPEND seen "${losses}")
  endforeach()
endfunction()

# The losses must be close to those of run `plain`, which used the reference backend.
function(expect_close folder)
  losses_of(plain expected)
  losses_of(${folder} found)
  list(LENGTH expected epochs)
  list(LENGTH found count)
  if(epochs LESS 2 OR NOT count EQUAL epochs)
    message(FATAL_ERROR "${folder}: ${count} epochs, the reference has ${epochs}")
  endif()
  foreach(a b IN ZIP_LISTS expected found)
    math(EXPR difference "${a} - ${b}")
    # The losses are about 3 000 000. After forty updates, they differ because sums are added in another order.
    if(difference GREATER 300 OR difference LESS -300)
      message(FATAL_ERROR "${folder}: the losses in millionths are ${found}, those of the reference ${expected}")
    endif()
  endforeach()
endfunction()
