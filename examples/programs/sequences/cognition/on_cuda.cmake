# Tests the program on a GPU, or on the stand-in for a GPU. The losses equal those of the reference backend up to
# rounding, and the translations are the same.
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/program_test.cmake)

set(arguments train --preset smoke --width 8 --test-size 2 --updates 20 --evaluate-every 4 --max-length 12)
# Batches on a GPU are padded. Dropout draws the same masks as on the host, except in attention over sequences
# (docs/cuda.md).
foreach(model --model=lrf --model=transformer)
  run("0|3" ${arguments} --dropout 0 ${model} --backend reference --out ${FOLDER}/plain)
  run("0|3" ${arguments} --dropout 0 ${model} --backend cuda --out ${FOLDER}/device)
  expect_close(device)
endforeach()
# There is no dropout, because each part of a batch draws its own mask.
set(arguments train --preset smoke --width 8 --test-size 2 --updates 16 --evaluate-every 4 --max-length 12)
run("0|3" ${arguments} --backend reference --out ${FOLDER}/plain)
needed_memory(memory ${arguments} --backend cuda)
run("0|3" ${arguments} --backend cuda --memory ${memory} --out ${FOLDER}/parts)
expect("batches of 64 tokens in parts of [0-9]+, at most")
expect_close(parts)
expect_same_answer(predict ${FOLDER}/device --sentence "hop left then nod" --beam 2 --max-length 12)
