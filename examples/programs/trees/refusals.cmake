# The program refuses bad data, and options that have no effect.
include(${CMAKE_CURRENT_LIST_DIR}/changed_children.cmake)

# An error in the data is reported with file, line and column, and with a way to correct it.
expect_bad_lines("${text}" 6
    "{\"source\": 3}| expected \"source\" to be a tree as text, found 3"
    "{\"source\": \"a\"|[0-9]+: this is not JSON"
    "[\"a\", \"b\"]| expected an object in braces, found "
    "{\"source\": \"a\"}| expected \"target\", a tree as text, found none"
    "{\"source\": \"a\", \"target\": \"\"}| target, column 28: expected a tree, found nothing"
    "{\"source\": \"( a b c d )\", \"target\": \"b\"}| source, column 21: expected '\\)' after 2 children of 'a', found another child"
    "{\"source\": \"a\", \"target\": \"( b\"}| target, column 31: expected '\\)' after the children of 'b', found the end")
file(WRITE ${FOLDER}/new.jsonl "{\"source\": \"( R fox )\", \"target\": \"fox\"}\n")
run(1 evaluate ${FOLDER}/run --data ${FOLDER}/new.jsonl)
expect("test, row 1 of the file: the node at root.0: 'fox' is not one of the 8 labels that this machine was trained with")
file(WRITE ${FOLDER}/new.jsonl "{\"source\": \"( R ( R ( R R ) ) )\", \"target\": \"R\"}\n")
run(1 evaluate ${FOLDER}/run --data ${FOLDER}/new.jsonl)
expect("new.jsonl:1: a tree of depth 4, where the model's trees have 3: --skip-deeper leaves such rows out")
run(1 evaluate ${FOLDER}/run --data ${FOLDER}/new.jsonl --skip-deeper)
expect("no part of the data has a row whose trees are as deep as the machine's or less: give rows that are less deep, or train a machine on these")
refused("train.jsonl:1: a tree of depth 3, where the model's trees have 2: take a larger --depth" ${learn} --depth 2)
set(deep "R")
foreach(level RANGE 2 80)
  set(deep "( R ${deep} )")
endforeach()
file(WRITE ${FOLDER}/deep/train.jsonl "{\"source\": \"${deep}\", \"target\": \"R\"}\n")
says("trees of depth 80 at most; the largest has 80 nodes, in row 1\n" inspect ${FOLDER}/deep/train.jsonl)
run(1 train --data ${FOLDER}/deep)
expect("train.jsonl:1: a tree of depth 80, where the model's trees have 12: a model's trees have at most 24; --skip-deeper leaves such rows out")
run(1 train --data ${FOLDER}/deep --depth 24 --skip-deeper)
expect("train.jsonl: each of the 1 rows that count has a tree deeper than 24: a model's trees have at most 24\n")
refused("give a folder with train.jsonl and test.jsonl with --data" train)
misused("--steps: 0 is not a number from 1 to 64" train --steps 0 --data ${FOLDER}/data)

# Options that have no effect.
refused("--threshold is about --programs: give that, or leave it out" evaluate ${FOLDER}/run --threshold 0.5)
refused("--train-sample is about training rows" evaluate ${FOLDER}/run --programs --train-sample 4)
foreach(option "role-seed;2" "floor;0.1" "last-updates;3" "last-learning-rate;0.1")
  run(1 ${learn} --${option})
  list(GET option 0 name)
  expect("trees: --${name} ")
endforeach()
