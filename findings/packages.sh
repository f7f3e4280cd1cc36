# shellcheck shell=bash
# Sourced by each finding: packages of the public index in a folder that is removed afterwards, and what is expected of them.
set -euo pipefail

packages() {  # NAME==VERSION...: afterwards $python has them, and the working folder is empty
  finding=$(mktemp -d "${TMPDIR:-/tmp}/finding-XXXXXX")
  trap 'rm -rf "$finding"' EXIT
  python3 -m venv "$finding/venv"
  python=$finding/venv/bin/python
  "$python" -m pip install --quiet --disable-pip-version-check --only-binary :all: "$@"
  mkdir "$finding/work"
  cd "$finding/work"
  printf 'python %s, %s\n' "$("$python" -c 'import platform; print(platform.python_version())')" "$*"
}

expect() {  # EXPECTED, of what is read from standard input
  local found
  found=$(cat)
  printf '%s\n' "$found"
  if [[ $found != "$1" ]]; then
    printf 'This has changed.  Expected:\n%s\n' "$1" >&2
    exit 1
  fi
  echo "as described"
}

onednn_packages() {  # ends with status 77 where the processor has no AVX-512
  packages onednn-cpu-gomp==2023.2.0 onednn-devel-cpu-gomp==2023.2.0
  if ! grep -q avx512dq /proc/cpuinfo; then echo "this processor has no AVX-512" && exit 77; fi
}

compile_with_onednn() {  # PROGRAM, from PROGRAM.cpp
  local data
  data=$(dirname "$(find "$finding/venv" -path '*include/oneapi/dnnl/dnnl.hpp')")/../../..
  g++ -std=c++17 -O1 -I"$data/include" "$1.cpp" -L"$data/lib" -ldnnl -Wl,-rpath,"$data/lib" -o "$1"
}
