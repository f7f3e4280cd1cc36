# Tests the program on a GPU, or on the stand-in for a GPU. The losses equal those of the reference backend up to
# rounding, with dropout, and the predicted graphs are the same.
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/program_test.cmake)

set(arguments train --preset smoke --dropout 0.1 --width 8 --sentences 20 --batch 10 --epochs 10 --test-size 2)
foreach(encoding "" --positional)
  run("0|3" ${arguments} ${encoding} --backend reference --out ${FOLDER}/plain)
  run("0|3" ${arguments} ${encoding} --backend cuda --out ${FOLDER}/device)
  expect_close(device)
endforeach()
expect_same_answer(predict ${FOLDER}/device --sentence "The fox saw Ada .")
