# A killed and resumed run gives the same results as an uninterrupted run.
set(arguments train --preset smoke --chains 36000 --epochs 3 --dropout 0.2 --dropout-until 0.7 --average 0.95 --dense-loss 0.5 --layers-from 1 --augment 0.5 --threads 1)
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/resume_test.cmake)
