# Checkpoints whose sizes describe no possible model are refused.
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/sizes_test.cmake)

foreach(model edge-transformer transformer)
  run(3 train --preset smoke --epochs 1 --model ${model} --out ${FOLDER}/${model})
  expect_sizes_refused(${model} EVALUATE --test-size 2 ARGUMENTS --sentence "The fox saw Ada .")
endforeach()
run(3 train --preset smoke --epochs 1 --max-offset 2 --verb-from-word --out ${FOLDER}/near)
expect_sizes_refused(near OPTIONAL verb_from_word EVALUATE --test-size 2 ARGUMENTS --sentence "The fox saw Ada .")
