# Tests the program on a GPU, or on the stand-in for a GPU: a model learns something and gives answers. The test of
# cognition tests what this program shares with cognition.
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/program_test.cmake)
file(MAKE_DIRECTORY ${FOLDER}/data ${FOLDER}/published)

file(WRITE ${FOLDER}/data/train.tsv "Did M0 marry M1\tSELECT count ( * ) WHERE { M0 spouse M1 }\nWas M0 M2\tSELECT count ( * ) WHERE { M0 is M2 }\n")
set(arguments train --preset smoke --width 8 --data ${FOLDER}/data --updates 8 --evaluate-every 4 --max-length 12)
make_encoder(roberta published 100)
# Batches on a GPU are padded. Dropout draws the same masks as on the host, except in attention over sequences
# (docs/cuda.md).
set(encoder --encoder=${FOLDER}/published --dropout 0)
foreach(model "--model=lrf;--dropout;0" --model=edge-transformer "${encoder}"
        "${encoder};--fuse;target;--freeze-encoder")
  run("0|3" ${arguments} ${model} --backend reference --out ${FOLDER}/plain)
  run("0|3" ${arguments} ${model} --backend cuda --out ${FOLDER}/device)
  expect_close(device)
  expect_same_answer(predict ${FOLDER}/device --sentence "Did M0 marry M2" --max-length 12)
endforeach()
