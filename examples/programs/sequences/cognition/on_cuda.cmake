# The program on a GPU, or on its stand-in: the losses of the reference up to rounding, and the same translations.
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/program_test.cmake)

set(arguments train --preset smoke --width 8 --test-size 2 --updates 20 --evaluate-every 4 --max-length 12)
# A GPU's batches are padded: dropout draws the same, but not in attention over sequences (docs/cuda.md).
foreach(model --model=lrf --model=transformer)
  run("0|3" ${arguments} --dropout 0 ${model} --backend reference --out ${FOLDER}/plain)
  run("0|3" ${arguments} --dropout 0 ${model} --backend cuda --out ${FOLDER}/device)
  expect_close(device)
endforeach()
set(arguments train --preset smoke --width 8 --test-size 2 --updates 16 --evaluate-every 4 --max-length 12)  # no dropout: parts draw their own
run("0|3" ${arguments} --backend reference --out ${FOLDER}/plain)
needed_memory(memory ${arguments} --backend cuda)
run("0|3" ${arguments} --backend cuda --memory ${memory} --out ${FOLDER}/parts)
expect("batches of 64 tokens in parts of [0-9]+, at most")
expect_close(parts)
expect_same_answer(predict ${FOLDER}/device --sentence "hop left then nod" --beam 2 --max-length 12)
