# A killed run that goes on is the run that was never killed: dropout, batches of every epoch and the last, shorter stretch included.
file(REMOVE_RECURSE ${FOLDER}-data)
include(${CMAKE_CURRENT_LIST_DIR}/questions.cmake)
write_questions(${FOLDER}-data)
set(arguments train --preset smoke --dropout 0.2 --updates 3000 --evaluate-every 1250 --data ${FOLDER}-data --threads 1)
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/resume_test.cmake)
