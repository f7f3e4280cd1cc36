# Tests the Edge Transformer that translates a question to a query: batches in one part and in several parts, forms of
# the model, answers, and refused options.
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/program_test.cmake)

set(train "")
foreach(m RANGE 0 3)
  foreach(n RANGE 0 3)
    string(APPEND train "Did M${m} marry M${n}\tSELECT count ( * ) WHERE { M${m} spouse M${n} }\n")
  endforeach()
endforeach()
file(WRITE ${FOLDER}/data/train.tsv "${train}")
file(WRITE ${FOLDER}/data/test.tsv "${train}")

set(arguments train --preset smoke --model edge-transformer --data ${FOLDER}/data --max-length 14)
run("0|3" ${arguments} --updates 20 --out ${FOLDER}/run)
expect("edge-transformer, [0-9]+ parameters")
expect("test  exact match [0-9.]+  up to the order of conjuncts [0-9.]+")
says("test  exact match [0-9.]+" evaluate ${FOLDER}/run --beam 2)
run(0 predict ${FOLDER}/run --sentence "Did M0 marry M1" --beam 3 --n-best 3)
refused("no layer of this model has fuse-attention" explain ${FOLDER}/run)
expect_run(run "0|3" metrics.csv config.toml model.safetensors scores.csv test.hypotheses.txt plots/loss.svg)

# With --memory, batches are cut into parts that fit. The losses are the same up to rounding.
run("0|3" ${arguments} --updates 20 --pairs 8 --recompute --out ${FOLDER}/plain)
needed_memory(least ${arguments} --updates 20 --pairs 8 --recompute)
run("0|3" ${arguments} --updates 20 --pairs 8 --recompute --memory ${least} --out ${FOLDER}/parts)
expect("in parts of [0-9]+, at most [0-9]+ in the first epoch")
expect_close(parts)

# Every option that only this model has.
foreach(form "--untied" "--positional" "--from-begin" "--attention;value-ablation" "--attention;attention-ablation")
  run("0|3" ${arguments} --updates 2 ${form} --dropout 0.1 --out ${FOLDER}/form)
  run(0 predict ${FOLDER}/form --sentence "Did M0 marry M1")
endforeach()
refused("is not causal" ${arguments} --attention flat)
refused("as many layers on either side" ${arguments} --encoder-layers 3)
refused("states of tokens" ${arguments} --relative)
refused("are about --model edge-transformer" train --preset smoke --data ${FOLDER}/data --untied)
