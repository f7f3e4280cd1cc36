# A killed and resumed run gives the same results as an uninterrupted run. This covers dropout, the batches of every
# epoch, and the last interval, which is shorter.
set(arguments train --preset smoke --dropout 0.2 --sentences 400 --updates 700 --evaluate-every 300 --threads 1)
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/resume_test.cmake)
