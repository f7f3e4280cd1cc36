# Runs every verb of `cfq-dependencies` once, on a few generated questions.
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/program_test.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/questions.cmake)
write_questions(${FOLDER}/data)

# A model learns these questions within seconds.
set(learn --preset smoke --learning-rate 0.01 --updates 120 --evaluate-every 60 --data ${FOLDER}/data)
set(files metrics.csv config.toml model.safetensors scores.csv plots/loss.svg plots/validation.svg)
foreach(model edge-transformer transformer universal-transformer)
  says("32 training sentences, 8 words, 7 relations" train ${learn} --model ${model} --out ${FOLDER}/${model})
  expect("test  exact match 100.00  UAS 100.00  LAS 100.00  \\(16 sentences, 112 words\\)")
  expect_run(${model} 0 ${files})
  run(0 evaluate ${FOLDER}/${model} --out ${FOLDER}/parsed --force)  # the task and the data are taken from the run
  expect("dev  exact match 100.00  UAS 100.00  LAS 100.00")
  foreach(part dev test)
    expect_same_files(data/${part}.conllu parsed/${part}.conllu "${model}: ${part} is all right by its scores, and its parses are written as")
  endforeach()
  run(0 predict ${FOLDER}/${model} --sentence "Did M0 marry M2 ?")
  expect("1\tDid\t_\t_\t_\t_\t3\taux\t_\t_\n2\tM0\t_\t_\t_\t_\t3\tnsubj\t_\t_\n3\tmarry\t_\t_\t_\t_\t0\troot\t_\t_\n")
  says("3 marry +\\(root\\) +root" explain ${FOLDER}/${model} --sentence "Did M0 marry M2 ?" --out ${FOLDER}/${model}-tree)
  expect_in_file(${model}-tree/tree.svg "nsubj" "explain draws no relations")
endforeach()

# predict --file changes only the columns of heads and relations. The file need not have heads.
set(rows "# sent_id = 7\n1-2\tDid M1\t_\t_\t_\t_\t_\t_\t_\t_\n1\tDid\tdo\tAUX\t_\t_\t_\t_\t_\tx=y\n2\tM1\t_\t_\t_\t_\t_\t_\t_\t_\n3\tmarry\t_\t_\t_\t_\t_\t_\t_\t_\n4\tM0\t_\t_\t_\t_\t_\t_\t_\t_\n5\t?\t_\t_\t_\t_\t_\t_\t_\t_\n")
file(WRITE ${FOLDER}/ask.conllu "${rows}")
run(0 predict ${FOLDER}/transformer --file ${FOLDER}/ask.conllu)
expect("# sent_id = 7\n1-2\tDid M1\t_\t_\t_\t_\t_\t_\t_\t_\n1\tDid\tdo\tAUX\t_\t_\t3\taux\t_\tx=y\n")

# Words that the model does not know, and relations that only another data set has.
run(1 predict ${FOLDER}/transformer --sentence "Did M9 marry M1 ?")
expect("\"M9\" is not one of the 8 words that the model knows; with --unknown")
says("2\tM9\t" predict ${FOLDER}/transformer --sentence "Did M9 marry M1 ?" --unknown)
file(MAKE_DIRECTORY ${FOLDER}/other)
file(WRITE ${FOLDER}/other/test.conllu "1\tDid\t_\t_\t_\t_\t2\tdep\t_\t_\n2\tgo\t_\t_\t_\t_\t0\troot\t_\t_\n")
says("1 unknown word, such as 'go', read as <unk>; 1 unknown relation, such as 'dep'" evaluate ${FOLDER}/transformer --data ${FOLDER}/other)

run("0|3" train --preset smoke --updates 40 --learning-rate 0.01 --seeds 2 --model edge-transformer --tied --recompute --min-count 9 --data ${FOLDER}/data --out ${FOLDER}/seeds)
expect("seed +part +exact match +UAS +LAS")
expect("mean +test")
expect("\nmean of 2 seeds")
expect_bounded_seeds(train --preset smoke)

# Forms of attention: each form has different losses, and the checkpoint stores the form.
set(short --preset smoke --updates 20 --evaluate-every 20 --data ${FOLDER}/data)
run("0|3" train ${short} --out ${FOLDER}/full)
set(forms value-ablation attention-ablation both-ablations flat)
foreach(form IN LISTS forms)
  run("0|3" train ${short} --attention ${form} --out ${FOLDER}/${form})
  expect_run(${form} "0|3" config.toml)
  says("test  exact match" evaluate ${FOLDER}/${form})
endforeach()
expect_different_losses(full ${forms})
refused("attention: checkpoint has \"value-ablation\"" train ${short} --resume --out ${FOLDER}/value-ablation)
run(1 train ${learn} --model transformer --attention value-ablation)
expect("--attention is about the states of edges, which --model transformer does not have")

# The paper's preset ties the layers. An untied run of this preset can be resumed with its own options.
set(paper --preset paper-dependency --width 8 --heads 2 --layers 2 --evaluate-every 2 --data ${FOLDER}/data)
run("0|3" train ${paper} --updates 2 --out ${FOLDER}/tied)
run("0|3" train ${paper} --updates 4 --untied --out ${FOLDER}/untied)
expect_in_file(tied/config.toml "\ntied = true\n" "paper-dependency is not tied")
expect_in_file(untied/config.toml "\ntied = false\n" "paper-dependency is tied with --untied")
refused("tied: checkpoint has false, this program wants true" train ${paper} --updates 4 --resume --out ${FOLDER}/untied)
run("0|3" train --config ${FOLDER}/untied/config.toml --resume --out ${FOLDER}/untied)

says("--tokens" train --help)

refused("give a folder with train, dev and test .conllu with --data" train --preset smoke)
run(1 train --preset smoke --data ${FOLDER}/nowhere)
expect("a folder with train, dev and test .conllu or .jsonl, gzipped or not, is expected")
refused("training sentences? [0-9][^:]* 7 words: give --tokens 7, or leave (it|them) out" train ${learn} --tokens 6)
refused("a Transformer with --tied is --model universal-transformer" train ${learn} --model transformer --tied)
refused("that is always tied" train ${learn} --model universal-transformer --untied)
refused("--width 16 is no multiple of --heads 3" train ${learn} --heads 3)
run(1 train ${learn} --resume --tokens 30 --model transformer --out ${FOLDER}/transformer)
expect("was trained with tokens = 40, this run has tokens = 30")
file(WRITE ${FOLDER}/other/train.conllu "1\tDid\t_\t_\t_\t_\t2\tdep\t_\t_\n2\tgo\t_\t_\t_\t_\t1\troot\t_\t_\n")
refused("train.conllu:1: the heads from word 1 upward come back to it" train --preset smoke --data ${FOLDER}/other)

# An error message names this option, although help does not show it.
misused("--task: semantic, expected parse" train --task semantic)
