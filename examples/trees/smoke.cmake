# Every verb of the program once, on JSON lines: train, resume, evaluate, predict, explain, inspect; and bad lines.
include(${CMAKE_CURRENT_LIST_DIR}/../apps/program_test.cmake)

# The two children of a root change places.
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
expect("data: 6 training rows, 8 labels, trees of depth 3\n")
expect_run(run "0|3" metrics.csv config.toml model.safetensors splits.txt plots/loss.svg plots/accuracy.svg)
expect_scores_of_run("(train|dev|own|10) +[0-9.]+ +[0-9.]+ +6" ${FOLDER}/run)
expect("data: ${FOLDER}/data, those of the run\n.*\ntrain .*\ndev .*\nown .*\n10 ")
run("0|3" ${learn} --updates 7 --out ${FOLDER}/part)
file(STRINGS ${FOLDER}/part/metrics.csv lines)
list(LENGTH lines count)
if(NOT count EQUAL 3)  # a checkpoint every 6 updates, and the last
  message(FATAL_ERROR "7 updates with a checkpoint every 6: ${count} lines in metrics.csv, expected 3")
endif()
run(1 ${learn} --updates 7 --batch 2 --out ${FOLDER}/part --resume)
expect("was trained with batch = 4, this run has batch = 2")
run("0|3" ${learn} --updates 7 --out ${FOLDER}/part --resume)
run(0 evaluate ${FOLDER}/run --data ${FOLDER}/data/test_own.jsonl --programs --threshold 0)
expect("\ntest +[0-9.]+ +6 ")
run(0 explain ${FOLDER}/run --row 2 --svg ${FOLDER}/e.svg)
expect("^data: [^\n]*\nT0  input\n      \\( R one \\( right x y \\) \\)\n")
run(0 explain ${FOLDER}/run --split 10)
expect("10: the machine is right about [0-6] of 6 rows")
run(1 explain ${FOLDER}/run --split test)
expect("there is no part test: the data have train, dev, own, 10")
run(0 inspect ${FOLDER}/data/train.jsonl)
expect("train.jsonl: 6 rows, 8 labels \\(8 in sources, 8 in targets\\)\ntrees of depth 3 at most; the largest has 5 nodes, in row 2\n")

# Without a dev file, what a run says of its checkpoints is about training rows.
file(WRITE ${FOLDER}/alone/train.jsonl "${text}")
run("0|3" train --preset smoke --data ${FOLDER}/alone --train-sample 4)
expect("no dev part: checkpoints are measured on 4 of the training rows\n")

expect_seeds_of_jobs("0|3" train --preset smoke --data ${FOLDER}/data --dropout 0.2)

# A tree comes back transformed: from the command line, from a file, and from standard input; of a line of JSON, other
# members stay.
set(tree "( R two ( left x ) )")
run(0 predict ${FOLDER}/run "${tree}")
set(answer "${output}")
run(0 predict ${FOLDER}/run --tree "${tree}")
if(NOT output STREQUAL answer)
  message(FATAL_ERROR "--tree has another answer: ${output}instead of ${answer}")
endif()
run(0 predict ${FOLDER}/run --json "${tree}")
expect("^{\"source\":\"\\( R two \\( left x \\) \\)\",\"target\":\"")
set(question "{\"id\": 7, \"source\": \"${tree}\", \"target\": null}")
run(0 predict ${FOLDER}/run "${question}")
expect("^{\"id\":7,\"source\":\"\\( R two \\( left x \\) \\)\",\"target\":\"[^\"]*\"}\n$")
set(answer "${output}")
file(WRITE ${FOLDER}/asked.jsonl "${question}\n")
run(0 predict ${FOLDER}/run --file ${FOLDER}/asked.jsonl)
execute_process(COMMAND ${PROGRAM} predict ${FOLDER}/run INPUT_FILE ${FOLDER}/asked.jsonl OUTPUT_VARIABLE piped)
if(NOT output STREQUAL answer OR NOT piped STREQUAL answer)
  message(FATAL_ERROR "the answer depends on where the question is read:\n${answer}${output}${piped}")
endif()

# A bad line is told with its place, and the others are answered.
file(APPEND ${FOLDER}/asked.jsonl "{\"source\": \"( R two\"}\n{\"id\": 8}\n( R zebra )\n${question}\n")
execute_process(COMMAND ${PROGRAM} predict ${FOLDER}/run --file ${FOLDER}/asked.jsonl RESULT_VARIABLE status OUTPUT_VARIABLE answers ERROR_VARIABLE output)
set(place "${FOLDER}/asked.jsonl")
expect("${place}:2: source, column 20: expected '\\)' after the children of 'R', found the end\n")
expect("${place}:3: expected \"source\", a tree as text, found none\n")
expect("${place}:4: the node at root.0: 'zebra' is not one of the 8 labels")
string(REGEX REPLACE "{\"error\":\"[^\n]*\",\"line\":([0-9])}" "error of line \\1" shown "${answers}")
if(NOT status EQUAL 1 OR NOT shown STREQUAL "${answer}error of line 2\nerror of line 3\n\n${answer}")
  message(FATAL_ERROR "three bad lines of five: status ${status}, answers\n${answers}")
endif()

# What is wrong with data is told with file, line and column, and what to do.
foreach(case "{\"source\": 3}| expected \"source\" to be a tree as text, found 3"
    "{\"source\": \"a\"|[0-9]+: expected JSON, found none"
    "[\"a\", \"b\"]| expected an object in braces, found "
    "{\"source\": \"a\"}| expected \"target\", a tree as text, found none"
    "{\"source\": \"a\", \"target\": \"\"}| target, column 28: expected a tree, found nothing"
    "{\"source\": \"( a b c d )\", \"target\": \"b\"}| source, column 21: expected '\\)' after 2 children of 'a', found another child"
    "{\"source\": \"a\", \"target\": \"( b\"}| target, column 31: expected '\\)' after the children of 'b', found the end")
  string(REGEX MATCH "^(.*)\\|([^|]*)$" whole "${case}")
  set(said "${CMAKE_MATCH_2}")
  file(WRITE ${FOLDER}/bad.jsonl "${text}${CMAKE_MATCH_1}\n")
  run(1 inspect ${FOLDER}/bad.jsonl)
  expect("bad.jsonl:7:${said}")
endforeach()
file(WRITE ${FOLDER}/new.jsonl "{\"source\": \"( R fox )\", \"target\": \"fox\"}\n")
run(1 evaluate ${FOLDER}/run --data ${FOLDER}/new.jsonl)
expect("test, row 1: the node at root.0: 'fox' is not one of the 8 labels that this machine was trained with")
file(WRITE ${FOLDER}/new.jsonl "{\"source\": \"( R ( R ( R R ) ) )\", \"target\": \"R\"}\n")
run(1 evaluate ${FOLDER}/run --data ${FOLDER}/new.jsonl)
expect("new.jsonl:1: a tree of depth 4, where the model's trees have 3: --skip-deeper leaves such rows out")
run(1 ${learn} --depth 2)
expect("train.jsonl:1: a tree of depth 3, where the model's trees have 2: take a larger --depth")
run(1 train)
expect("give a folder with train.jsonl and test.jsonl with --data")
run(2 train --steps 0 --data ${FOLDER}/data)
expect("--steps: 0 is not a number from 1 to 64")

# Its runs are its own.
cmake_path(GET PROGRAM PARENT_PATH bin)
if(EXISTS ${bin}/tree-transforms)
  set(PROGRAM ${bin}/tree-transforms)
  run(1 evaluate ${FOLDER}/run)
  expect("run is a run of trees, and this is tree-transforms")
endif()
