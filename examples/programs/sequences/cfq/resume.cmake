# A killed and resumed run of the Edge Transformer gives the same results as an uninterrupted run. This covers dropout,
# batches in parts, and a linear schedule.
file(REMOVE_RECURSE ${FOLDER}-data)
set(lines "")
foreach(m RANGE 0 3)
  foreach(n RANGE 0 3)
    string(APPEND lines "Did M${m} marry M${n}\tSELECT count ( * ) WHERE { M${m} spouse M${n} }\n")
  endforeach()
endforeach()
file(WRITE ${FOLDER}-data/train.tsv "${lines}")
file(WRITE ${FOLDER}-data/dev.tsv "${lines}")
set(arguments train --preset smoke --model edge-transformer --pairs 8 --recompute --memory 27MiB --schedule linear --dropout 0.2 --updates 350 --evaluate-every 150
    --max-length 14 --data ${FOLDER}-data --threads 1)
set(says "in parts of [0-9]+, at most [0-9]+ in the first epoch")
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/resume_test.cmake)
