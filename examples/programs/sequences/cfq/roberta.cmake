# Tests a pre-trained encoder. A small encoder with random values is fine-tuned, and the model gives answers. An encoder
# is refused if its files or its sizes do not fit.
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/program_test.cmake)
file(MAKE_DIRECTORY ${FOLDER}/data ${FOLDER}/published ${FOLDER}/other ${FOLDER}/empty)
make_encoder(roberta published 100)
make_encoder(roberta other 200)

set(pairs "")
foreach(m RANGE 0 3)
  foreach(n RANGE 0 3)
    string(APPEND pairs "Did M${m} marry M${n}\tSELECT count ( * ) WHERE { M${m} spouse M${n} }\n")
  endforeach()
endforeach()
foreach(part train dev test)
  file(WRITE ${FOLDER}/data/${part}.tsv "${pairs}")
endforeach()
set(train train --preset smoke --data ${FOLDER}/data)

foreach(model lrf transformer)
  run("0|3" ${train} --model ${model} --roberta ${FOLDER}/published --out ${FOLDER}/${model})
  expect("16 training pairs, 260 source and [0-9]+ target words")
  expect_run(${model} "0|3" scores.csv)

  # A run in two sessions. The second session continues from the checkpoint, and does not load the published weights
  # again.
  run("0|3" ${train} --model ${model} --roberta ${FOLDER}/published --updates 10 --out ${FOLDER}/halves)
  run("0|3" ${train} --model ${model} --roberta ${FOLDER}/published --resume --out ${FOLDER}/halves)
  expect_same_files(${model}/model.safetensors halves/model.safetensors "${model}: another model in two sittings")

  # A trained run gives answers without the published files.
  file(RENAME ${FOLDER}/published ${FOLDER}/elsewhere)
  says("test  exact match [0-9.]+" evaluate ${FOLDER}/${model} --data ${FOLDER}/data)
  run(0 predict ${FOLDER}/${model} --sentence "Did M0 marry M1" --max-length 5 --beam 2)
  set(answer "${output}")
  run(0 predict ${FOLDER}/${model} --sentence "  Did M0  marry M1 " --max-length 5 --beam 2)
  expect_same("white space changes the answer from ${answer} to ${output}" "${output}" "${answer}")
  file(RENAME ${FOLDER}/elsewhere ${FOLDER}/published)
endforeach()
says("encoder +embedding +layer 1 +layer 2" explain ${FOLDER}/lrf --data ${FOLDER}/data)

# The published weights are the initial values, so another encoder has other losses.
run("0|3" ${train} --roberta ${FOLDER}/other --out ${FOLDER}/lrf-other)
expect_different_losses(lrf lrf-other)
refused("fuse: checkpoint has" ${train} --roberta ${FOLDER}/published --model transformer --resume --out ${FOLDER}/lrf)
refused("was trained with roberta-weights = " ${train} --roberta ${FOLDER}/other --resume --out ${FOLDER}/lrf)

refused("--roberta brings its own tokens" ${train} --roberta ${FOLDER}/published --joined-dictionary)
refused("--roberta is an encoder of --model lrf or transformer" ${train} --roberta ${FOLDER}/published --model edge-transformer)
refused("as many layers as its config.json says" ${train} --roberta ${FOLDER}/published --encoder-layers 3)
refused("give --fuse target with it" ${train} --roberta ${FOLDER}/published --accumulate)
refused("config.json" ${train} --roberta ${FOLDER}/empty)
# If files of another format are found in place of the expected weights or token files, the error names them.
file(COPY ${FOLDER}/published/config.json DESTINATION ${FOLDER}/empty)
file(WRITE ${FOLDER}/empty/pytorch_model.bin "")
refused("model.safetensors: found only a pytorch_model.bin next to it" ${train} --roberta ${FOLDER}/empty)
file(WRITE ${FOLDER}/empty/model.safetensors.index.json "{}")
refused("model.safetensors: found several files with a model.safetensors.index.json" ${train} --roberta ${FOLDER}/empty)
file(COPY ${FOLDER}/published/model.safetensors DESTINATION ${FOLDER}/empty)
file(WRITE ${FOLDER}/empty/tokenizer.json "{}")
refused("vocab.json: found only a tokenizer.json next to it" ${train} --roberta ${FOLDER}/empty)
refused("--preset roberta needs --roberta" train --preset roberta --data ${FOLDER}/data)
file(WRITE ${FOLDER}/data/test.tsv "Did M0 marry M1 and M1 and M1 and M1 and M1 and M1 and M1 and M1\tSELECT\n")
run(1 ${train} --roberta ${FOLDER}/published)
expect("test: the source of pair 1 has [0-9]+ tokens, <s> and </s> among them, and the encoder has positions for 38")
file(READ ${FOLDER}/published/config.json config)
string(REPLACE "264" "200" config "${config}")
file(WRITE ${FOLDER}/published/config.json "${config}")
refused("expected files of one model" ${train} --roberta ${FOLDER}/published)
