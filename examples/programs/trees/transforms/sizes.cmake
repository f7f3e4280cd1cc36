# Checkpoints whose sizes describe no possible model are refused.
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/sizes_test.cmake)

run(0 generate --one-way --rows 24 --test-size 4 --out ${FOLDER}/data)
file(STRINGS ${FOLDER}/data/test.jsonl rows)
list(GET rows 0 row)
string(REGEX MATCH "\"source\":\"([^\"]+)\"" unused "${row}")
set(tree "${CMAKE_MATCH_1}")
run(3 train --preset smoke --updates 2 --data ${FOLDER}/data --out ${FOLDER}/run)
# If the rows are read from a folder, the settings of generated rows are stored but not used.
expect_sizes_refused(run LEGAL rows data_seed role_seed EVALUATE --data ${FOLDER}/data ARGUMENTS --tree "${tree}")
