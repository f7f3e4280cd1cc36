# A killed and resumed run gives the same results as an uninterrupted run. This covers dropout, averages, swapped
# phrases, and what the notes of a checkpoint keep: the update at which the penalty of list members begins, and the
# threshold chosen on dev.
file(REMOVE_RECURSE ${FOLDER}-data)
include(${CMAKE_CURRENT_LIST_DIR}/queries.cmake)
write_queries(${FOLDER}-data)
set(arguments train --preset smoke --dropout 0.1 --average 0.9 --lists --choose-threshold --augment 0.5 --updates 1500 --evaluate-every 600 --data ${FOLDER}-data --threads 1)
include(${CMAKE_CURRENT_LIST_DIR}/../shared/tests/resume_test.cmake)

# The penalty has begun: without it, the losses of the later updates are others.
run("0|3" ${arguments} --list-penalty 0 --out ${FOLDER}/unpressed)
expect_different_losses(whole unpressed)
