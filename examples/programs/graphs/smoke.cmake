# Runs every verb of the program once, on directions in a grid: train, resume, evaluate, predict, explain and inspect.
# Also tests bad lines.
include(${CMAKE_CURRENT_LIST_DIR}/../shared/tests/program_test.cmake)

# Paths that go right and up. The second node of a question is to the right of the first, above it, or both.
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
refused("--validation is about data without a dev part, and this folder has one" ${learn} --validation 0.5)
run("0|3" ${learn} --out ${FOLDER}/part --epochs 1)
refused("was trained with batch = 32, this run has batch = 16" ${learn} --out ${FOLDER}/part --resume --batch 16)
says("test  [0-9.]+  \\(4 questions\\)" evaluate ${FOLDER}/run --data ${FOLDER}/data/test_long.jsonl)

# evaluate --by divides the questions by a member of the lines, with numbers in ascending order, or by the length of the
# path.
string(REPLACE "\"query\"" "\"kind\": \"plain\", \"turns\": 10, \"query\"" kinds "${train}")
string(REPLACE "\"query\"" "\"kind\": \"more\", \"turns\": 9, \"query\"" more "${test}")
file(WRITE ${FOLDER}/kinds.jsonl "${kinds}${more}")
run(0 evaluate ${FOLDER}/run --data ${FOLDER}/kinds.jsonl --by kind)
expect("\ntest kind=more   [0-9.]+  \\(4 questions\\)\ntest kind=plain  [0-9.]+  \\(4 questions\\)\n$")
says("\ntest turns=9   [0-9.]+ .*\ntest turns=10  " evaluate ${FOLDER}/run --data ${FOLDER}/kinds.jsonl --by turns)
string(REPLACE "\"turns\": 10" "\"turns\": \"9\"" kinds "${kinds}")  # the value is now a text instead of a number
file(WRITE ${FOLDER}/mixed.jsonl "${kinds}${more}")
run(0 evaluate ${FOLDER}/run --data ${FOLDER}/mixed.jsonl --by turns)
expect("\ntest turns=9  +[0-9.]+  \\(4 questions\\)\ntest turns=\"9\"  [0-9.]+  \\(4 questions\\)\n")
execute_process(COMMAND sh -c "\"$0\" evaluate \"$1\" --by ''" ${PROGRAM} ${FOLDER}/run RESULT_VARIABLE status ERROR_VARIABLE output)
expect("--by: is empty: give a value, or leave the option out")
refused("--compare rat is the model of the run itself" train --data ${FOLDER}/data --preset smoke --model rat --compare rat)
says("\nlong path=3   *[0-9.]+  \\(4 questions\\)\nshort path=2  " evaluate ${FOLDER}/run --by path)
refused("_long.jsonl:1: " evaluate ${FOLDER}/run --by kind)
refused("kinds.jsonl:1: .*a text, a number, true or false" evaluate ${FOLDER}/run --data ${FOLDER}/kinds.jsonl --by edges)

# Answers of runs with different words cannot be averaged. With --dense-loss, training also works if all graphs have two
# edges, so that no question is added.
run("0|3" ${learn} --dense-loss 0.5 --out ${FOLDER}/dense)
run(0 evaluate ${FOLDER}/run ${FOLDER}/dense ${FOLDER}/again)
expect("3 runs answer together, by the mean of their log-probabilities\nlong   [0-9.]+  \\(4 questions\\)\nshort  ")
string(REPLACE "right" "beside" other "${many}")
file(WRITE ${FOLDER}/words/train.jsonl "${other}")
run("0|3" train --data ${FOLDER}/words --preset smoke --out ${FOLDER}/words/run)
refused("words/run knows other words than ${FOLDER}/run: " evaluate ${FOLDER}/run ${FOLDER}/words/run)

# --confusion counts how often each answer is given in place of each right answer. The counts must agree with the
# answers of predict to the same questions.
run(0 evaluate ${FOLDER}/run --confusion --out ${FOLDER}/asked)
set(told "${output}")
set(expected "part,target,predicted,count\n")
foreach(part long short)
  file(STRINGS ${FOLDER}/data/test_${part}.jsonl lines)
  set(pairs "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE ", \"target\": \"[a-z-]+\"" "" question "${line}")
    run(0 predict ${FOLDER}/run "${question}")
    string(JSON right GET "${line}" target)
    string(JSON answered GET "${output}" target)
    list(APPEND pairs "${right},${answered}")
  endforeach()
  count_pairs(${part} "${pairs}" expected)
  list(REMOVE_DUPLICATES pairs)
  foreach(kind IN LISTS pairs)
    if(NOT kind MATCHES "^(.*),(.*)$" OR CMAKE_MATCH_1 STREQUAL CMAKE_MATCH_2)
      continue()
    endif()
    if(NOT told MATCHES "\n${CMAKE_MATCH_1} +${CMAKE_MATCH_2} +[0-9]+ +[0-9]+\n")
      message(FATAL_ERROR "--confusion does not say that ${CMAKE_MATCH_2} is answered for ${CMAKE_MATCH_1}:\n${told}")
    endif()
  endforeach()
endforeach()
file(READ ${FOLDER}/asked/confusion.csv found)
expect_same("confusion.csv is" "${found}" "${expected}")
if(NOT told MATCHES "\ntarget +predicted +count +of\n")  # after so short a training, some answers are wrong
  message(FATAL_ERROR "--confusion tells of no mistake:\n${told}")
endif()

run(0 inspect ${FOLDER}/data/train.jsonl)
expect("train.jsonl: 32 graphs of 3 to 3 nodes, 3.0 on the average, and 2.0 labelled pairs\n2 labels: above 32, right 32\n3 targets: ")

# predict returns a question with its answer, for questions on the command line, in a file and on standard input.
set(question "{\"id\": 7, \"nodes\": 2, \"edges\": [[0, \"above\", 1]], \"query\": [0, 1]}")
expect_answer_of("^{\"id\":7,\"nodes\":2,\"edges\":\\[\\[0,\"above\",1\\]\\],\"query\":\\[0,1\\],\"target\":\"[a-z-]+\"}\n$" "${question}")
# --probabilities adds the probabilities of the likeliest targets. The first of them is the answer.
string(REGEX MATCH "\"target\":\"([a-z-]+)\"" whole "${output}")
set(target ${CMAKE_MATCH_1})
run(0 predict ${FOLDER}/run --probabilities "${question}")
expect("\"target\":\"${target}\",\"probability\":[01][.0-9]*,\"probabilities\":{\"${target}\":[01][.0-9]*,\"[a-z-]+\":[01][-e.0-9]*.*}}\n$")
string(REGEX MATCH "\"probability\":([0-9.]+),\"probabilities\":{\"[a-z-]+\":([0-9.]+)" whole "${output}")
expect_same("the answer's probability is not that of the likeliest" "${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}")
# The other members of a question are returned byte for byte.
set(beside "\"id\":123456789012345678901234567890,\"id\":-0,\"\\u0061\":[1.0,2.50,1E5]")
run(0 predict ${FOLDER}/run "{${beside},\"nodes\":2,\"target\":null,\"edges\":[[0,\"above\",1]],\"query\":[0,1]}")
string(FIND "${output}" "{${beside},\"nodes\":2,\"target\":\"" at)
if(NOT at EQUAL 0)
  message(FATAL_ERROR "members of a question are other ones in its answer:\n${output}")
endif()
# Questions against the edges are answered like all other questions. One note about all of them is printed on standard
# error.
set(along "{\"nodes\":2,\"edges\":[[0,\"above\",1]],\"query\":[0,1]}")
string(REPLACE "[0,1]}" "[1,0]}" against "${along}")
string(REPLACE "[0,1]}" "[1,1]}" itself "${along}")
string(REPLACE "]],\"query" "],[1,\"above\",0]],\"query" around "${against}")
file(WRITE ${FOLDER}/ways.jsonl "${along}\n${itself}\n${against}\n${around}\n${against}\n")
execute_process(COMMAND ${PROGRAM} predict ${FOLDER}/run --file ${FOLDER}/ways.jsonl OUTPUT_VARIABLE answers ERROR_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
expect("^graphs: note: 2 of 5 questions ask against the edges \\(first: [^ ]*/ways.jsonl:3\\): a path leads from the second node [^\n]*\n$")
string(REGEX REPLACE ",\"target\":\"[a-z-]+\"}" "}" questions "${answers}")
file(READ ${FOLDER}/ways.jsonl asked)
expect_same("notes change the answers" "${questions}" "${asked}")
execute_process(COMMAND ${PROGRAM} predict ${FOLDER}/run "${along}" "${around}" OUTPUT_QUIET ERROR_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
expect_same("there is a note without a question against the edges" "${output}" "")
run(0 explain ${FOLDER}/run --file ${FOLDER}/data/test_long.jsonl --row 2 --out ${FOLDER}/proof)
expect("0 -[a-z-]+-> 3, because.*the right answer: right-above\ndrawn in ")
expect_files(proof/proof.svg)
# An existing file is replaced only with --force.
set(again explain ${FOLDER}/run --file ${FOLDER}/data/test_long.jsonl --row 2)
run(1 ${again} --out ${FOLDER}/proof)
expect("graphs: --out: [^\n]*proof/proof.svg is there already, and would be replaced; give another name or folder, or --force\n")
run(0 ${again} --out ${FOLDER}/proof --force)
refused("--force is about files that are written, and none is" ${again} --force)
refused("--out: [^\n]*asked/confusion.csv is there already" evaluate ${FOLDER}/run --out ${FOLDER}/asked)
file(STRINGS ${FOLDER}/data/test_long.jsonl rows)
list(LENGTH rows last)
math(EXPR past "${last} + 1")
run(0 explain ${FOLDER}/run --file ${FOLDER}/data/test_long.jsonl --row ${last})
run(1 explain ${FOLDER}/run --file ${FOLDER}/data/test_long.jsonl --row ${past})
expect("test_long.jsonl has ${last} graphs; --row counts from 1")
refused("--row is about --file: leave it out" explain ${FOLDER}/run "${question}" --row 3)
misused("--row: 0 is not a number above 0" explain ${FOLDER}/run --file ${FOLDER}/data/test_long.jsonl --row 0)

# Labels of nodes, several labels of one pair, and an edge from a node to itself.
file(WRITE ${FOLDER}/labels/train.jsonl "{\"nodes\": [\"red\", \"blue\"], \"edges\": [[0, \"a\", 1], [0, \"b\", 1], [1, \"a\", 1]], \"query\": [0, 1], \"target\": \"x\"}\n")
says("3 labels: a \\+ b 1, a \\+ node: blue 1, node: red 1\n1 targets: x 1\n" inspect ${FOLDER}/labels/train.jsonl)
run("0|3" train --data ${FOLDER}/labels --preset smoke)
expect("no test files, and nothing was held out")

# Control characters in labels and names are not printed, because they could send commands to the terminal or break a
# line.
file(WRITE ${FOLDER}/wild/train.jsonl "{\"nodes\": 2, \"edges\": [[0, \"a\\u001b[31m\\nb\", 1]], \"query\": [0, 1], \"target\": \"x\\u009by\\u202e\"}\n")
says("\n1 labels: a.\\[31m.b 1\n1 targets: x.y. 1\n$" inspect ${FOLDER}/wild/train.jsonl)
file(WRITE ${FOLDER}/wild/test_one.jsonl "{\"nodes\": 2, \"edges\": [[0, \"a\\u001b[31m\\nb\", 1]], \"query\": [0, 1], \"target\": \"x\\u009by\\u202e\", \"kind\": \"k\\u001b[2J\\nl\"}\n")
run("0|3" train --data ${FOLDER}/wild --preset smoke --out ${FOLDER}/wild/run)
says("\n[^\n]*k.\\[2J.l[^\n]*\\(1 questions\\)\n$" evaluate ${FOLDER}/wild/run --by kind)
run(0 explain ${FOLDER}/wild/run --file ${FOLDER}/wild/test_one.jsonl --row 1)
expect("0 -x.y.-> 1, because\n.*the right answer: x.y.\n$")
string(ASCII 27 escape)
expect_absent("${escape}" "explain prints an escape sequence of the data")

# An error in the data is reported with file and line, and with a way to correct it.
foreach(case "{\"nodes\": 2|bad.jsonl:2:[0-9]+: this is not JSON"
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
    expect("bad.jsonl:2: the target \"nowhere\" is not in the training file, so the model cannot answer it; it knows ")
  elseif(said STREQUAL "missing")
    run(1 evaluate ${FOLDER}/run --data ${FOLDER}/bad.jsonl)
    expect("bad.jsonl:2: expected \"target\", the answer, a text, found none")
    says("2 targets: \\(no target\\) 1, right 1" inspect ${FOLDER}/bad.jsonl)
  else()
    refused("${said}" inspect ${FOLDER}/bad.jsonl)
  endif()
endforeach()
run(1 predict ${FOLDER}/run "{}" --file ${CMAKE_CURRENT_LIST_FILE})
expect("2 ways to ask, questions on the command line and --file: give one")
run(1 predict ${FOLDER}/run "{\"nodes\": 2, \"edges\": [[0, \"under\", 1]], \"query\": [0, 1]}")
expect("question 1: \"under\" of nodes 0 and 1 is on no pair of the training file, so the model does not know it; it knows above, right")
refused("give a folder with train.jsonl and test.jsonl with --data" train)
refused("nowhere: a folder with train, dev and test .jsonl, gzipped or not, is expected" train --data ${FOLDER}/nowhere)
file(WRITE ${FOLDER}/other/config.toml "train-lengths = [2]\n")
refused("other is a run of clutrr, and this is graphs: give it to clutrr evaluate" evaluate ${FOLDER}/other)

foreach(name test_dev.jsonl test_train.jsonl)
  file(WRITE ${FOLDER}/names/${name} "${train}")
  refused("a test cannot be called (dev|train); give it another name, test_NAME" evaluate ${FOLDER}/run --data ${FOLDER}/names)
  file(REMOVE ${FOLDER}/names/${name})
endforeach()
# A question that cannot be answered has no effect on the answers to other questions. Each question gets one line of
# output.
set(answered "{\"nodes\": 2, \"edges\": [[0, \"above\", 1]], \"query\": [0, 1]}")
file(WRITE ${FOLDER}/asked.jsonl "${answered}\n{\"nodes\": 2}\n\n[\n${answered}\n")
execute_process(COMMAND ${PROGRAM} predict ${FOLDER}/run --file ${FOLDER}/asked.jsonl RESULT_VARIABLE status OUTPUT_VARIABLE answers ERROR_VARIABLE output)
expect("asked.jsonl:2: expected \"edges\"")
expect("asked.jsonl:4:2: this is not JSON")
string(REGEX REPLACE "\"target\":\"[a-z-]+\"" "\"target\":T" shown "${answers}")
string(REGEX REPLACE "{[^\n]*\"target\":T}" "answer" shown "${shown}")
string(REGEX REPLACE "{\"error\":\"[^\n]*\",\"line\":([0-9])}" "error of line \\1" shown "${shown}")
expect_same("two bad lines of five: status and answers" "${status} ${shown}" "1 answer\nerror of line 2\n\nerror of line 4\nanswer\n")

# The weights are checked after the last update, before the model is scored or saved.
run(3 train --data ${FOLDER}/data --preset smoke --epochs 1 --batch 200 --learning-rate 1e300 --warmup 0 --out ${FOLDER}/lost)
expect("value [0-9]+ of [a-z0-9_.]+ is -?(nan|inf) after update 0 \\(batch 0 of epoch 1\\): stopped\n")
expect_no_file(lost/model.safetensors "weights that are no numbers were kept")
run("0|3" ${learn} --warmup 2)
expect("--warmup 2 is no shorter than the 2 updates of this run, so the learning rate never comes to --learning-rate 0.01: ")
run("0|3" ${learn} --warmup 2 --seeds 2)
expect_times(1 "is no shorter than the 2 updates")

# If there is not enough memory, the error names the lines that need too much. No address space is large enough for this
# model.
set(edge "\"edges\": [[0, \"right\", 1]], \"query\": [0, 1], \"target\": \"right\"}\n")
file(WRITE ${FOLDER}/far/train.jsonl "${train}")
file(WRITE ${FOLDER}/far/test.jsonl "{\"nodes\": 40, ${edge}\n{\"nodes\": 3, ${edge}{\"nodes\": 50, ${edge}")
# Without this setting, AddressSanitizer would end the process at this request.
set(ENV{ASAN_OPTIONS} "$ENV{ASAN_OPTIONS}:allocator_may_return_null=1")
set(huge train --data ${FOLDER}/far --preset smoke --width 1048576 --layers 8 --untied --heads 1)
run(1 ${huge})
expect("far/test.jsonl:1, [^ ]*far/test.jsonl:4 have 40, 50 nodes: [0-9]+TiB of memory, and this run has .*; leave them out, or take")
run(1 train --data ${FOLDER}/data --preset smoke --width 1048576 --layers 8 --untied --heads 1 --batch 100000)
expect("not enough memory for batches of 32 graphs of up to 3 nodes \\([0-9]+TiB of memory, .*: take a smaller --batch, or --recompute\n")

# Tasks of SLURM without MPI, and numbers of threads and shares that no machine has.
set(ENV{SLURM_STEP_NUM_TASKS} 2)
set(ENV{SLURM_PROCID} 0)
run("0|3" ${learn} --epochs 1)
expect("srun has started 2 tasks without MPI, so they do not know each other and each does all of the work: ")
unset(ENV{SLURM_STEP_NUM_TASKS})
unset(ENV{SLURM_PROCID})
misused("--shares: 1073741824 is not a power of two from 1 to 65536" ${learn} --shares 1073741824)
misused("--threads: 40000 is not a number from 0 to 32767" ${learn} --threads 40000)

# A missing run is reported before any data are read.
foreach(verb evaluate predict explain)
  run(1 ${verb} ${FOLDER}/no_run)
  expect("no_run: there is no checkpoint here: give the folder that train wrote with --out, or its model.safetensors")
endforeach()
# A test file without a name is refused.
file(WRITE ${FOLDER}/names/test_.jsonl "${train}")
refused("test_.jsonl: a test is called test, or test_NAME; give this one a name" evaluate ${FOLDER}/run --data ${FOLDER}/names)
file(REMOVE ${FOLDER}/names/test_.jsonl)

# predict ignores a target in the question, because it computes the target.
run(0 predict ${FOLDER}/run "{\"nodes\": 2, \"edges\": [[0, \"above\", 1]], \"query\": [0, 1], \"target\": null}")
expect_absent("note" "null is no target")
expect_note_of_answers("a target" "\"target\":\"[a-z-]*\"" "\"target\":[1]" "${along}")

# A task in one file has the same verbs.
cmake_path(GET PROGRAM PARENT_PATH bin)
if(EXISTS ${bin}/grid)
  set(PROGRAM ${bin}/grid)
  run("0|3" train --preset smoke --epochs 1 --dense-loss 0.3 --out ${FOLDER}/grid)
  expect_scores_of_run("(6|10) +[0-9.]+" ${FOLDER}/grid)
  expect("10    [0-9.]+  \\(200 questions\\)")
  run(0 predict ${FOLDER}/grid "{\"nodes\": 2, \"edges\": [[0, \"left\", 1]], \"query\": [0, 1]}")
  refused("run is a run of graphs, and this is grid" evaluate ${FOLDER}/run)
  run(1 evaluate ${FOLDER}/grid ${FOLDER}/run)
  expect("run is a run of graphs, and this is grid: runs that answer together are of one program")
endif()
