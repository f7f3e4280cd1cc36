# Checkpoints whose sizes describe no possible model are refused.
include(${CMAKE_CURRENT_LIST_DIR}/../shared/tests/sizes_test.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/queries.cmake)
write_queries(${FOLDER}/data)

foreach(options "--head predicates" "--head edges" "--slot-form anchors" "--model transformer" "--lists-after 1 --lists")
  separate_arguments(arguments UNIX_COMMAND "${options}")
  list(GET arguments 1 name)
  run("0|3" train --preset smoke --updates 2 --data ${FOLDER}/data ${arguments} --out ${FOLDER}/${name})
  expect_sizes_refused(${name} ZERO lists_after OPTIONAL slot_form EVALUATE --data ${FOLDER}/data ARGUMENTS --sentence "Did M0 direct M2")
endforeach()
