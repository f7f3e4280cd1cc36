# A killed run that goes on is the run that was never killed: dropout, noise and the last, shorter epoch included.
set(arguments train --preset smoke --choice gumbel --dropout 0.2 --depth 8 --skip-deeper --rows 240 --updates 150 --threads 1)
include(${CMAKE_CURRENT_LIST_DIR}/../apps/resume_test.cmake)
