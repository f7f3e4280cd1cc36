# shellcheck shell=bash disable=SC2154
# Compiles in build/cuda on the machine with the GPU, if nothing was prebuilt.

configure() {
  local options=(-DTRIAD_TESTS=ON -DTRIAD_INSTALL=OFF -DCMAKE_CUDA_ARCHITECTURES="$1") python_cuda
  if [[ -d $state/include ]]; then options+=(-DCMAKE_PREFIX_PATH="$PWD/$state"); fi
  # If the toolkit has no cuBLAS, PyTorch's is used.
  if ! printf '#include <cublas_v2.h>\n' | nvcc -E -x cu - > /dev/null 2>&1; then
    python_cuda=$(python3 -c 'import nvidia.cu13 as n; print(list(n.__path__)[0])' 2> /dev/null || true)
    if [[ -n $python_cuda ]]; then
      options+=(-DCUDA_cublas_LIBRARY="$(ls "$python_cuda"/lib/libcublas.so.*)"
        -DCUDA_cublasLt_LIBRARY="$(ls "$python_cuda"/lib/libcublasLt.so.*)"
        -DCMAKE_CXX_FLAGS="-isystem $python_cuda/include" -DCMAKE_CUDA_FLAGS="-isystem $python_cuda/include")
    fi
  fi
  cmake --preset cuda "${options[@]}"
}

stage_build() {
  local architecture=${TRIAD_GPU_ARCHITECTURE:-} targets
  if [[ -z $architecture ]] && ! find_gpu && ! $dry_run; then
    echo "gpu: there is no GPU here; TRIAD_GPU_ARCHITECTURE=90 compiles without one" >&2 && exit 2
  fi
  if [[ -z $architecture ]]; then architecture=$(gpu_architecture 2> /dev/null || true); fi
  step configure configure "$architecture" || return 0
  for targets in "triad-test-cuda triad-golden clutrr" "triad-bench-cuda cogs tree-transforms cfq cognition" \
    triad-test-cuda-typed; do
    # shellcheck disable=SC2086  # several words
    step "compile-${targets##* }" cmake --build build/cuda --parallel "$(nproc)" --target $targets || true
  done
}
