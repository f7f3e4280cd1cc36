# Checkpoints whose sizes describe no possible model are refused.
include(${CMAKE_CURRENT_LIST_DIR}/../../shared/tests/sizes_test.cmake)

foreach(model edge-transformer rrat gat)
  run(3 train --preset smoke --epochs 1 --chains 64 --model ${model} --out ${FOLDER}/${model})
  expect_sizes_refused(${model} EVALUATE --test-size 2 ARGUMENTS --facts "ann:mother:bea bea:brother:carl" --ask ann:carl)
endforeach()

# Two legal sizes whose product exceeds 32 bits are refused. If the product wrapped around, the model would be smaller.
run(1 train --preset smoke --width 16 --hidden-factor 268435457)
expect("--width 16 times --hidden-factor 268435457 = 4294967312 wide, expected 1 to 2147483647")
