#!/usr/bin/env bash
# nvcc compiles a template on the host that calls a device function, without a message. The program ends at the call.
# One would guess: an error, as nvcc gives for the same call outside of a template.
# What happens: the call ends the program with status 1, and prints nothing.
# Seen in: nvcc 13.0.88 with g++ 12.2.
# Why it matters: a test that calls a kernel's functions on the host passes with a host compiler. Compiled by nvcc, it
# ends the test program, and the cases after it are never run.
# It needs g++, and no GPU.
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
packages nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-runtime==13.0.88
toolkit=$(dirname "$(dirname "$(find "$finding/venv" -path '*bin/nvcc')")")
cat > called.cu <<'CU'
#include <cstdio>
template <int N>
__device__ int add(int x) {
  return x + N;
}
template <int N>
int on_the_host() {
  return add<N>(1);
}
int main() {
  std::puts("before the call");
  std::printf("after the call: %d\n", on_the_host<2>());
}
CU
cat > refused.cu <<'CU'
__device__ int add(int x) { return x + 1; }
int main() { return add(1); }
CU
compiled() {  # FILE
  local status=0
  "$toolkit/bin/nvcc" -std=c++17 -arch=sm_90 -c "$1.cu" -o "$1.o" > "$1.log" 2>&1 || status=$?
  echo "nvcc $1.cu: status $status, $(grep -c . "$1.log" || true) lines"
}
{
  compiled refused
  compiled called
  g++ called.o "$(find "$toolkit" -name 'libcudart.so.*' | head -n 1)" -Wl,-rpath,"$toolkit/lib" -o called
  status=0
  ./called || status=$?
  echo "the program: status $status"
} | expect "nvcc refused.cu: status 2, 4 lines
nvcc called.cu: status 0, 0 lines
before the call
the program: status 1"
