# A killed and resumed run gives the same results as an uninterrupted run. This covers dropout, the batches of every
# epoch, and the last interval, which is shorter.
file(REMOVE_RECURSE ${FOLDER}-data)
include(${CMAKE_CURRENT_LIST_DIR}/questions.cmake)
write_questions(${FOLDER}-data)
set(arguments train --preset smoke --dropout 0.2 --updates 3000 --evaluate-every 1250 --data ${FOLDER}-data --threads 1)
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/resume_test.cmake)
