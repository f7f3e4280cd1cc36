# The program on a GPU, or on its stand-in: a model learns something and is asked; what is common to both programs is tested in cognition.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER}/data)
include(${CMAKE_CURRENT_LIST_DIR}/../common/program_test.cmake)

file(WRITE ${FOLDER}/data/train.tsv "Did M0 marry M1\tSELECT count ( * ) WHERE { M0 spouse M1 }\nWas M0 M2\tSELECT count ( * ) WHERE { M0 is M2 }\n")
set(arguments train --preset smoke --width 8 --data ${FOLDER}/data --updates 8 --evaluate-every 4 --longest 12)
run("0|2" ${arguments} --backend reference --out ${FOLDER}/plain)
run("0|2" ${arguments} --backend cuda --out ${FOLDER}/device)
expect_close(device)
expect_same_answer(predict ${FOLDER}/device --sentence "Did M0 marry M2" --longest 12)
