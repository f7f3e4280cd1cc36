# A killed run that goes on is the run that was never killed: dropout, batches of every epoch and the last, shorter stretch included.
set(arguments train --preset smoke --dropout 0.2 --sentences 400 --updates 700 --evaluate-every 300 --threads 1)
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/resume_test.cmake)
