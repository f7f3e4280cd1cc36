# Checkpoints whose sizes describe no possible model are refused.
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/sizes_test.cmake)

file(MAKE_DIRECTORY ${FOLDER}/roberta)
make_encoder(roberta roberta 7)
# Generated commands would be longer than the encoder's positions.
string(REPEAT "hop left\tLTURN HOP\nrun twice\tRUN RUN\n" 40 pairs)
file(WRITE ${FOLDER}/pairs.tsv "${pairs}")
run("0|3" train --task pairs --data ${FOLDER}/pairs.tsv --preset smoke --updates 2 --encoder ${FOLDER}/roberta
    --out ${FOLDER}/published)
run("0|3" train --preset smoke --updates 2 --out ${FOLDER}/lrf)
run("0|3" train --preset smoke --updates 2 --relative --max-offset 2 --out ${FOLDER}/near)
foreach(folder lrf near published)
  expect_sizes_refused(${folder} LEGAL published.padding OPTIONAL tokenise ARGUMENTS --sentence "hop left" --max-length 3)
endforeach()
