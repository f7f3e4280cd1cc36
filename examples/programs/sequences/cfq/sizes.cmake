# Checkpoints whose sizes describe no possible model are refused.
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/sizes_test.cmake)

foreach(model lrf edge-transformer)
  run("0|3" train --preset smoke --updates 2 --questions 60 --model ${model} --out ${FOLDER}/${model})
  expect_sizes_refused(${model} OPTIONAL tokenise EVALUATE --questions 60 ARGUMENTS --sentence "Did M0 marry M1" --max-length 3)
endforeach()
