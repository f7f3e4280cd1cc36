# shellcheck shell=bash disable=SC2086,SC2154
# Compiles programs, tests and benchmarks for one GPU architecture and any x86-64-v3 processor, stripped, into
# build/gpu/bin.

# A stage reports which of these programs it lacks. TRIAD_GPU_ALSO may add triad-test-cuda-typed, for example, which
# takes many minutes more.
prebuild_programs=(${TRIAD_GPU_PROGRAMS:-triad-test-cuda triad-golden triad-bench-cuda clutrr cogs tree-transforms cfq
  cognition} ${TRIAD_GPU_ALSO:-})

stage_prebuild() {
  need_to_build
  install_missing
  local options=(-DTRIAD_TESTS=ON -DTRIAD_INSTALL=OFF -DCMAKE_CUDA_ARCHITECTURES="${TRIAD_GPU_ARCHITECTURE:-90}")
  # The other machine's processor may lack instructions of this machine's.
  if [[ $(uname -m) == x86_64 ]]; then options+=(-DTRIAD_NATIVE=OFF -DCMAKE_CXX_FLAGS=-march=x86-64-v3); fi
  if $dry_run; then
    echo "    cmake --preset cuda -B build/gpu-prebuild ${options[*]}, then ${prebuild_programs[*]}" && return
  fi
  cmake --preset cuda -B build/gpu-prebuild "${options[@]}"
  cmake --build build/gpu-prebuild --parallel "$(nproc)" --target "${prebuild_programs[@]}"
  local name commit
  commit=$(git describe --always --dirty --exclude '*' 2> /dev/null || echo unknown)
  # Programs of another commit must not be packed under the name of this one.
  if [[ $commit == *-dirty || $commit != "$(cat $state/commit 2> /dev/null)" ]]; then rm -rf $state/bin; fi
  mkdir -p $state/bin
  for name in "${prebuild_programs[@]}"; do strip -o "$state/bin/$name" "build/gpu-prebuild/bin/$name"; done
  # Copies the links of older names that lead to a packed program.
  find build/gpu-prebuild/bin -maxdepth 1 -type l | while IFS= read -r name; do
    if [[ -f $state/bin/$(readlink "$name") && ! -e $state/bin/${name##*/} ]]; then cp -P "$name" $state/bin/; fi
  done
  echo "$commit" > $state/commit
  du -sh $state/bin
}
