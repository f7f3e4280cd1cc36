# A killed and resumed run gives the same results as an uninterrupted run. This covers dropout, noise, all values that
# fall from update to update, and the last epoch, which is shorter.
set(arguments train --preset smoke --choice gumbel --empty-tree --recency 4 --evenness 0.3 --even-updates 100 --dropout 0.2 --depth 8 --skip-deeper --rows 240 --updates 150 --threads 1)
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/resume_test.cmake)
