# What the tests of programs share.  PROGRAM is the program, FOLDER a folder of the test's own.
function(run expected)
  execute_process(COMMAND ${PROGRAM} ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status MATCHES "^(${expected})$")
    message(FATAL_ERROR "${PROGRAM} ${ARGN}: status ${status}, expected ${expected}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# A small published RoBERTa in the folder of that name, which is there.
function(make_roberta name seed)
  cmake_path(GET PROGRAM PARENT_PATH bin)
  execute_process(COMMAND ${bin}/triad-make-roberta ${FOLDER}/${name} ${seed} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(expect what)
  if(NOT output MATCHES "${what}")
    message(FATAL_ERROR "\"${what}\" is not in the output:\n${output}")
  endif()
endfunction()

# What the program says that it needs where --memory is too little: "need SIZE", in `result`.
function(needed_memory result)  # ARGUMENTS...
  run(1 ${ARGN} --memory 1KiB)
  if(NOT output MATCHES "--memory 1KiB is too little: .* need ([0-9]+[KMG]iB)")
    message(FATAL_ERROR "it is not said how much memory is needed:\n${output}")
  endif()
  set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()

# The run has these files, and its resolved options are enough to make the same model again, in folder `again`.
function(expect_run folder expected)  # STATUS FILES...
  foreach(file IN LISTS ARGN)
    if(NOT EXISTS ${FOLDER}/${folder}/${file})
      message(FATAL_ERROR "no ${file} in the run's folder")
    endif()
  endforeach()
  run(${expected} train --config ${FOLDER}/${folder}/config.toml --out ${FOLDER}/again)
  file(SHA256 ${FOLDER}/${folder}/model.safetensors first)
  file(SHA256 ${FOLDER}/again/model.safetensors second)
  if(NOT first STREQUAL second)
    message(FATAL_ERROR "--config config.toml makes another model")
  endif()
endfunction()

# evaluate says of the run the same as the train that was run last, in all that matches `what`.
function(expect_scores_of_run what folder)
  string(REGEX MATCHALL "${what}" trained "${output}")
  run(0 evaluate ${folder})
  string(REGEX MATCHALL "${what}" evaluated "${output}")
  if(trained STREQUAL "" OR NOT evaluated STREQUAL trained)
    message(FATAL_ERROR "evaluate ${folder} says ${evaluated}, where train said ${trained}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# A seed that does not fit 64 bits is none, and neither are seeds that go on beyond the largest.
function(expect_bounded_seeds)  # ARGUMENTS...
  foreach(seed -1 18446744073709551616)
    run(2 ${ARGN} --seed ${seed})
    expect("--seed: ${seed} is not a whole number from 0 to 18446744073709551615")
  endforeach()
  run(1 ${ARGN} --seed 18446744073709551615 --seeds 2)
  expect("--seeds 2 from --seed 18446744073709551615 go beyond the largest seed")
endfunction()

# The backends say the same of a question.
function(expect_same_answer)  # ARGUMENTS...
  run(0 ${ARGN} --backend cuda)
  set(answer "${output}")
  run(0 ${ARGN} --backend reference)
  if(NOT output STREQUAL answer)
    message(FATAL_ERROR "the GPU says\n${answer}the reference\n${output}")
  endif()
endfunction()

# The losses of a run in millionths.
function(losses_of folder result)
  file(STRINGS ${FOLDER}/${folder}/metrics.csv lines REGEX "^[0-9]")
  set(losses "")
  foreach(line IN LISTS lines)
    if(NOT line MATCHES "^[0-9]+,[0-9]+,([0-9]+)\\.?([0-9]*),")
      message(FATAL_ERROR "${folder}/metrics.csv: no plain loss in ${line}")
    endif()
    string(SUBSTRING "${CMAKE_MATCH_2}000000" 0 6 fraction)
    list(APPEND losses "${CMAKE_MATCH_1}${fraction}")
  endforeach()
  set(${result} ${losses} PARENT_SCOPE)
endfunction()

# Of run `plain`, which is the reference's.
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
    if(difference GREATER 300 OR difference LESS -300)  # of about 3 000 000: sums of floats in another order, forty updates
      message(FATAL_ERROR "${folder}: the losses in millionths are ${found}, those of the reference ${expected}")
    endif()
  endforeach()
endfunction()
