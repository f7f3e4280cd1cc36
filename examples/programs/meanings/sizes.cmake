# Checkpoints whose sizes describe no possible model are refused.
include(${CMAKE_CURRENT_LIST_DIR}/../shared/tests/sizes_test.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/queries.cmake)
write_queries(${FOLDER}/data)

foreach(head predicates edges)
  run("0|3" train --preset smoke --updates 2 --data ${FOLDER}/data --head ${head} --out ${FOLDER}/${head})
  expect_sizes_refused(${head} EVALUATE --data ${FOLDER}/data ARGUMENTS --sentence "Did M0 direct M2")
endforeach()
