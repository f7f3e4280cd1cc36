# Runs every verb of the program once, on a few questions that the test makes.
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/program_test.cmake)

set(train "")
set(test "")
foreach(m RANGE 0 3)
  foreach(n RANGE 0 3)
    string(APPEND train "Did M${m} marry M${n}\tSELECT count ( * ) WHERE { M${m} spouse M${n} }\n")
    string(APPEND test "Did M${m} marry M${n} and M1\tSELECT count ( * ) WHERE { M${m} spouse M${n} . M${m} spouse M1 }\n")
  endforeach()
endforeach()
file(WRITE ${FOLDER}/data/train.tsv "${train}${test}")
file(WRITE ${FOLDER}/data/dev.tsv "${train}")
file(WRITE ${FOLDER}/data/test.tsv "${test}")

set(files metrics.csv config.toml model.safetensors scores.csv dev.hypotheses.txt test.hypotheses.txt plots/loss.svg)
run(3 train --preset smoke --max-train-length 12 --data ${FOLDER}/data --out ${FOLDER}/run)
expect("16 longer ones left out")
expect("test  exact match [0-9.]+  up to the order of conjuncts [0-9.]+")
expect_run(run 3 ${files})
says("dev  exact match [0-9.]+  up to the order of conjuncts [0-9.]+" evaluate ${FOLDER}/run)
run(0 predict ${FOLDER}/run --sentence "Did M0 marry M1" --max-length 5)
says("encoder +embedding +layer 1" explain ${FOLDER}/run)
run("0|3" train --preset smoke --updates 2 --out ${FOLDER}/own)  # generated questions
expect("200 generated questions; divergence of atoms")
run(0 evaluate ${FOLDER}/own)
refused("--questions is about what the run was trained on, which decides its tests" evaluate ${FOLDER}/own --questions 100)
run(1 evaluate ${FOLDER}/own --data ${FOLDER}/data --data-seed 2)
expect("--data-seed is about generated questions, and [^\n]*data is asked: leave it out")
run(1 train --preset smoke --questions 150 --resume --out ${FOLDER}/own)
expect_bounded_seeds(train --preset smoke)
run(2 train --task parse)
expect("--task: parse, expected semantic")  # help does not show this option
misused("seed: -1 is not a whole number from 0 to" train --preset smoke --data-seed -1)

# The published form of the data, dataset.json.
file(WRITE ${FOLDER}/archive/dataset.json [=[[
  {"questionPatternModEntities": "Did M0 marry M1", "sparqlPatternModEntities": "SELECT count(*) WHERE {\nM0 ns:a.b M1\n}"},
  {"questionPatternModEntities": "Did M1 marry M0", "sparqlPatternModEntities": "SELECT count(*) WHERE {\nM1 ns:a.b M0\n}"}
]]=])
file(WRITE ${FOLDER}/archive/splits/mine.json [=[{"trainIdxs": [1], "devIdxs": [], "testIdxs": [0]}]=])
run("0|3" train --preset smoke --updates 2 --data ${FOLDER}/archive --split mine --sort-conjuncts --out ${FOLDER}/published)
run(0 evaluate ${FOLDER}/published)
run(0 evaluate ${FOLDER}/published --data ${FOLDER}/data)
refused("give its split, too" train --preset smoke --data ${FOLDER}/archive)
refused("--split is about CFQ's dataset.json" train --preset smoke --split mine)

# Raw queries are refused as training data, and a run that was trained on preprocessed queries refuses raw data.
file(WRITE ${FOLDER}/raw/train.tsv "Did M0 marry M1\tSELECT count(*) WHERE { M0 ns:a.b M1 }\n")
file(WRITE ${FOLDER}/raw/test.tsv "Did M0 marry M1\tSELECT count(*) WHERE { M0 ns:a.b M1 }\n")
run(1 train --preset smoke --data ${FOLDER}/raw)
expect("raw/train.tsv:1: the query has \"count\\(\\*\\)\", expected one that is preprocessed")
foreach(verb evaluate explain)
  run(1 ${verb} ${FOLDER}/run --data ${FOLDER}/raw)
  expect("the data's queries are raw, with \"count\\(\\*\\)\", and those of the run's training were preprocessed")
endforeach()
refused("question 1: column 16: found a tab" predict ${FOLDER}/run --unknown "Did M0 marry M1\tSELECT")
