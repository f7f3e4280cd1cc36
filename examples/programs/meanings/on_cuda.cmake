# Tests the program on a GPU, or on the stand-in for a GPU. The losses equal those of the reference backend up to
# rounding, with dropout, and the predicted graphs are the same.
include(${CMAKE_CURRENT_LIST_DIR}/../shared/tests/program_test.cmake)

run(0 generate --out ${FOLDER}/data --count 20)
set(arguments train --preset smoke --dropout 0.1 --width 8 --batch 4 --updates 6 --evaluate-every 3 --dev-size 4 --data ${FOLDER}/data)
file(REMOVE ${FOLDER}/data/test.jsonl)
file(STRINGS ${FOLDER}/data/dev.jsonl lines)
list(SUBLIST lines 0 4 lines)
list(JOIN lines "\n" text)
file(WRITE ${FOLDER}/data/dev.jsonl "${text}\n")
foreach(option --lists "--lists --lists-after 1" --implied-labels --head=edges --slot-form=anchors "--model=transformer --lists")
  separate_arguments(options UNIX_COMMAND "${option}")
  run("0|3" ${arguments} ${options} --backend reference --out ${FOLDER}/plain)
  run("0|3" ${arguments} ${options} --backend cuda --out ${FOLDER}/device)
  expect_close(device)
  expect_same_answer(predict ${FOLDER}/device --threshold 0.001 --unknown --sentence "take the red cup")
endforeach()
