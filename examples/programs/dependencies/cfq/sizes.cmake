# Checkpoints whose sizes describe no possible model are refused.
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/sizes_test.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/questions.cmake)
write_questions(${FOLDER}/data)

foreach(model edge-transformer transformer)
  run("0|3" train --preset smoke --updates 2 --data ${FOLDER}/data --model ${model} --out ${FOLDER}/${model})
  expect_sizes_refused(${model} OPTIONAL attention EVALUATE --data ${FOLDER}/data ARGUMENTS --sentence "Did M0 marry M2 ?")
endforeach()
