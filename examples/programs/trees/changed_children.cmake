# Makes rows in which the two children of the root are swapped (`text`), a command that trains on these rows (`learn`),
# and a run of this command.
include(${CMAKE_CURRENT_LIST_DIR}/../shared/tests/program_test.cmake)

set(text "")
foreach(a one two three)
  foreach(b "( left x )" "( right x y )")
    string(APPEND text "{\"id\": 1, \"source\": \"( R ${a} ${b} )\", \"target\": \"( R ${b} ${a} )\"}\n")
  endforeach()
endforeach()
foreach(part train dev test_own test_10)
  file(WRITE ${FOLDER}/data/${part}.jsonl "${text}")
endforeach()
set(learn train --preset smoke --data ${FOLDER}/data)
run("0|3" ${learn} --out ${FOLDER}/run)
