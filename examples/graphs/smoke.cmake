# Every verb of the program once, on grid relations: train, resume, evaluate, predict, explain, inspect; and bad lines.
file(REMOVE_RECURSE ${FOLDER})
include(${CMAKE_CURRENT_LIST_DIR}/../apps/program_test.cmake)

# Paths right and up: two nodes are apart to the right, above, or both.
set(train "")
set(test "")
set(directions right above)
foreach(first IN LISTS directions)
  foreach(second IN LISTS directions)
    set(target "right-above")
    if(first STREQUAL second)
      set(target "${first}")
    endif()
    string(APPEND train "{\"nodes\": 3, \"edges\": [[0, \"${first}\", 1], [1, \"${second}\", 2]], \"query\": [0, 2], \"target\": \"${target}\"}\n")
    string(APPEND test "{\"nodes\": 4, \"edges\": [[0, \"${first}\", 1], [1, \"${second}\", 2], [2, \"${first}\", 3]], \"query\": [0, 3], \"target\": \"${target}\"}\n")
  endforeach()
endforeach()
string(REPEAT "${train}" 8 many)
file(WRITE ${FOLDER}/data/train.jsonl "${many}")
file(WRITE ${FOLDER}/data/dev.jsonl "${train}")
file(WRITE ${FOLDER}/data/test_long.jsonl "${test}")
file(WRITE ${FOLDER}/data/test_short.jsonl "${train}")

set(learn train --data ${FOLDER}/data --preset smoke --learning-rate 0.01 --dropout 0.1)
run("0|3" ${learn} --out ${FOLDER}/run)
expect_run(run "0|3" metrics.csv config.toml model.safetensors plots/loss.svg)
expect_scores_of_run("(long|short) +[0-9.]+" ${FOLDER}/run)
expect("data: ${FOLDER}/data, those of the run\nlong   [0-9.]+  \\(4 questions\\)\nshort  ")
run("0|3" ${learn} --out ${FOLDER}/part --epochs 1)
run(1 ${learn} --out ${FOLDER}/part --resume --batch 16)
expect("was trained with batch = 32, this run has batch = 16")
run(0 evaluate ${FOLDER}/run --data ${FOLDER}/data/test_long.jsonl)
expect("test  [0-9.]+  \\(4 questions\\)")
run(0 inspect ${FOLDER}/data/train.jsonl)
expect("train.jsonl: 32 graphs of 3 to 3 nodes, 3.0 on the average, and 2.0 labelled pairs\n2 labels: above 32, right 32\n3 targets: ")

# A question comes back with its answer, from the command line, from a file, and from standard input.
set(question "{\"id\": 7, \"nodes\": 2, \"edges\": [[0, \"above\", 1]], \"query\": [0, 1]}")
run(0 predict ${FOLDER}/run ${question})
expect("^{\"id\":7,\"nodes\":2,\"edges\":\\[\\[0,\"above\",1\\]\\],\"query\":\\[0,1\\],\"target\":\"[a-z-]+\"}\n$")
set(answer "${output}")
file(WRITE ${FOLDER}/asked.jsonl "${question}\n")
run(0 predict ${FOLDER}/run --file ${FOLDER}/asked.jsonl)
execute_process(COMMAND ${PROGRAM} predict ${FOLDER}/run INPUT_FILE ${FOLDER}/asked.jsonl OUTPUT_VARIABLE piped)
if(NOT output STREQUAL answer OR NOT piped STREQUAL answer)
  message(FATAL_ERROR "the answer depends on where the question is read:\n${answer}${output}${piped}")
endif()
run(0 explain ${FOLDER}/run --file ${FOLDER}/data/test_long.jsonl --row 1 --out ${FOLDER}/proof)
expect("3 is the [a-z-]+ of 0, because.*the right answer: right-above\ndrawn in ")
if(NOT EXISTS ${FOLDER}/proof/proof.svg)
  message(FATAL_ERROR "explain draws no proof.svg")
endif()

# Labels of nodes, several of a pair, and a node's edge to itself.
file(WRITE ${FOLDER}/labels/train.jsonl "{\"nodes\": [\"red\", \"blue\"], \"edges\": [[0, \"a\", 1], [0, \"b\", 1], [1, \"a\", 1]], \"query\": [0, 1], \"target\": \"x\"}\n")
run(0 inspect ${FOLDER}/labels/train.jsonl)
expect("3 labels: a \\+ b 1, a \\+ node: blue 1, node: red 1\n1 targets: x 1\n")
run("0|3" train --data ${FOLDER}/labels --preset smoke)
expect("no test files, and nothing was held out")

# What is wrong is told with file and line, and what to do.
foreach(case "{\"nodes\": 2|bad.jsonl:2:[0-9]+: expected JSON"
    "{\"nodes\": 2, \"edges\": [[0, \"a\", 2]], \"query\": [0, 1], \"target\": \"x\"}|bad.jsonl:2: an edge names node 2, expected a whole number from 0 to 1"
    "{\"nodes\": 0, \"edges\": [], \"query\": [0, 1], \"target\": \"x\"}|bad.jsonl:2: a graph of 0 nodes, expected 1 to 4096"
    "{\"nodes\": 2, \"edges\": [[0, 1]], \"query\": [0, 1], \"target\": \"x\"}|an edge is .0,1., expected .node, \"label\", node."
    "{\"nodes\": 2, \"edges\": [[0, \"a + b\", 1]], \"query\": [0, 1], \"target\": \"x\"}|the label \"a \\+ b\" is empty, begins with .* give it another name"
    "{\"nodes\": 2, \"edges\": [], \"query\": [0], \"target\": \"x\"}|expected \"query\" to be a pair of nodes, found"
    "{\"nodes\": 2.7, \"edges\": [], \"query\": [0, 1], \"target\": \"x\"}|expected \"nodes\" to be a number of nodes or a list"
    "{\"nodes\": 4294967298, \"edges\": [], \"query\": [0, 1], \"target\": \"x\"}|expected \"nodes\" to be a number of nodes or a list"
    "{\"nodes\": 2, \"edges\": [], \"query\": [0, 1]}|missing"
    "{\"nodes\": 2, \"edges\": [], \"query\": [0, 1], \"target\": \"nowhere\"}|none")
  string(REGEX MATCH "^(.*)\\|([^|]*)$" whole "${case}")
  set(said "${CMAKE_MATCH_2}")
  file(WRITE ${FOLDER}/bad.jsonl "{\"nodes\": 1, \"edges\": [], \"query\": [0, 0], \"target\": \"right\"}\n${CMAKE_MATCH_1}\n")
  if(said STREQUAL "none")
    run(1 evaluate ${FOLDER}/run --data ${FOLDER}/bad.jsonl)
    expect("bad.jsonl:2: the target \"nowhere\" is none of the training file, and the model cannot answer it; it knows ")
  elseif(said STREQUAL "missing")
    run(1 evaluate ${FOLDER}/run --data ${FOLDER}/bad.jsonl)
    expect("bad.jsonl:2: expected \"target\", the answer, a text, found none")
    run(0 inspect ${FOLDER}/bad.jsonl)
    expect("2 targets: \\(no target\\) 1, right 1")
  else()
    run(1 inspect ${FOLDER}/bad.jsonl)
    expect("${said}")
  endif()
endforeach()
run(1 predict ${FOLDER}/run "{\"nodes\": 2, \"edges\": [[0, \"under\", 1]], \"query\": [0, 1]}")
expect("question 1: \"under\" of nodes 0 and 1 is on no pair of the training file, and the model cannot know it; it knows above, right")
run(1 train)
expect("give a folder with train.jsonl and test.jsonl with --data")
run(1 train --data ${FOLDER}/nowhere)
expect("nowhere: a folder with train, dev and test .jsonl, gzipped or not, is expected")
file(WRITE ${FOLDER}/other/config.toml "train-lengths = [2]\n")
run(1 evaluate ${FOLDER}/other)
expect("other is a run of clutrr, and this is graphs: give it to clutrr evaluate")

foreach(name test_dev.jsonl test_train.jsonl)
  file(WRITE ${FOLDER}/names/${name} "${train}")
  run(1 evaluate ${FOLDER}/run --data ${FOLDER}/names)
  expect("a test cannot be called (dev|train); give it another name, test_NAME")
  file(REMOVE ${FOLDER}/names/${name})
endforeach()
# The target is what is asked for: one that is there does not count.
run(0 predict ${FOLDER}/run "{\"nodes\": 2, \"edges\": [[0, \"above\", 1]], \"query\": [0, 1], \"target\": null}")

# A task of one file has the same verbs.
cmake_path(GET PROGRAM PARENT_PATH bin)
if(EXISTS ${bin}/grid)
  set(PROGRAM ${bin}/grid)
  run("0|3" train --preset smoke --epochs 1 --out ${FOLDER}/grid)
  expect_scores_of_run("(6|10) +[0-9.]+" ${FOLDER}/grid)
  expect("10    [0-9.]+  \\(200 questions\\)")
  run(0 predict ${FOLDER}/grid "{\"nodes\": 2, \"edges\": [[0, \"left\", 1]], \"query\": [0, 1]}")
  run(1 evaluate ${FOLDER}/run)
  expect("run is a run of graphs, and this is grid")
endif()
