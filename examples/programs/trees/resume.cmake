# A killed and resumed run gives the same results as an uninterrupted run. This covers dropout, the cooling of choices,
# and the last epoch, which is shorter.
set(data ${FOLDER}-data)
file(REMOVE_RECURSE ${data})
set(text "")
foreach(a RANGE 1 20)
  foreach(b "( left x )" "( right x y )" "( left ( right y x ) )")
    string(APPEND text "{\"source\": \"( R n${a} ${b} )\", \"target\": \"( R ${b} n${a} )\"}\n")
  endforeach()
endforeach()
file(WRITE ${data}/train.jsonl "${text}")
file(WRITE ${data}/test.jsonl "${text}")
set(arguments train --preset smoke --data ${data} --dropout 0.2 --temperature 10 --cooling 1200 --updates 1600
  --evaluate-every 650 --threads 1)
include(${CMAKE_CURRENT_LIST_DIR}/../shared/tests/resume_test.cmake)
