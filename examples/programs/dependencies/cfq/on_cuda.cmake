# Tests the program on a GPU, or on the emulation of a GPU on the host: a model learns something, and predict gives
# answers.
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/program_test.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/questions.cmake)
write_questions(${FOLDER}/trees)
set(arguments train --preset smoke --width 8 --data ${FOLDER}/trees --updates 8 --evaluate-every 4)
foreach(model "edge-transformer;--dropout;0.1" "transformer;--dropout;0")
  run("0|3" ${arguments} --model ${model} --backend reference --out ${FOLDER}/plain)
  run("0|3" ${arguments} --model ${model} --backend cuda --out ${FOLDER}/device)
  expect_close(device)
  expect_same_answer(predict ${FOLDER}/device --sentence "Did M0 marry M2 ?")
endforeach()
