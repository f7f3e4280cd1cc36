# shellcheck shell=bash
# Sourced by the other scripts: finds which packages a fresh Debian or Ubuntu lacks, prints them, and installs them. On
# a terminal it asks before it installs. With may_install=false (the scripts' --no-install), or after a "no", it prints
# the command and stops. It searches for the command or header and not for the package, so that compilers and libraries
# from elsewhere are accepted.

missing=()
may_install=true
# CXX may have words after the compiler's name, as in CXX="ccache g++", and CMAKE_PREFIX_PATH may have libraries; CMake
# accepts both too.
compiler=("${CXX:-c++}")
if ! command -v "${compiler[0]}" > /dev/null; then read -r -a compiler <<< "${CXX:-c++}"; fi
IFS=: read -r -a prefixes <<< "${CMAKE_PREFIX_PATH:-}"
for prefix in ${prefixes[@]+"${prefixes[@]}"}; do compiler+=(-isystem "$prefix/include" "-L$prefix/lib"); done

need_command() {  # COMMAND PACKAGE
  command -v "$1" > /dev/null || missing+=("$2")
}

need_header() {  # HEADER PACKAGE [OTHER HEADER]: one of the headers is enough
  printf '#if !__has_include(<%s>) && !__has_include(<%s>)\n#error\n#endif\n' "$1" "${3:-$1}" |
    "${compiler[@]}" -std=c++20 -E -x c++ - > /dev/null 2>&1 || missing+=("$2")
}

# The header is not sufficient: Debian's reference BLAS also has cblas.h, but a library of another name, and it is slow.
need_cblas() {
  local library
  for library in openblas cblas; do
    if printf '#include <cblas.h>\nint main() { return cblas_sdot(0, nullptr, 1, nullptr, 1) != 0; }\n' |
      "${compiler[@]}" -x c++ - -o /dev/null "-l$library" 2> /dev/null; then
      return
    fi
  done
  missing+=(libopenblas-dev)
}

# CCCL's headers come from a CUDA toolkit, from TRIAD_CCCL_DIR, or through pip (cmake/fetch_cccl.cmake).
need_cccl() {
  local nvcc directory
  nvcc=$(command -v nvcc || true)
  for directory in "${TRIAD_CCCL_DIR:-}" "${CUDA_HOME:-}" "${CUDA_PATH:-}" "${nvcc%/bin/nvcc}" /usr/local/cuda /opt/cuda \
    build/deps/cccl/nvidia/cu13; do
    if [[ -n $directory && (-e $directory/cuda/std/mdspan || -e $directory/include/cuda/std/mdspan ||
      -e $directory/include/cccl/cuda/std/mdspan) ]]; then
      return
    fi
  done
  python3 -m pip --version > /dev/null 2>&1 || missing+=(python3-pip)
}

# Debian's python3 needs a separate package to make virtual environments.
need_venv() {
  python3 -c 'import ensurepip, venv' > /dev/null 2>&1 || missing+=(python3-venv)
}

# pinned_wheels FOLDER REQUIREMENTS makes a virtual environment in FOLDER with the wheels of REQUIREMENTS, and makes it
# again if that list has changed. Returns 1 if they cannot be installed; why_no_wheels then has the reason.
pinned_wheels() {
  local venv=$1 wanted=$2 output
  if cmp -s "$wanted" "$venv/requirements.txt" && "$venv/bin/python" -c '' 2> /dev/null; then return; fi
  why_no_wheels="there is no python3"
  command -v python3 > /dev/null || return 1
  why_no_wheels="python3 has no venv"
  need_venv
  if ((${#missing[@]})); then (install_missing) || return 1; fi
  if ! output=$(python3 -m venv --clear "$venv" 2>&1); then
    why_no_wheels="python3 makes no virtual environment: ${output##*$'\n'}"
    return 1
  fi
  if ! output=$(timeout 600 "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --retries 1 \
    --no-deps --only-binary :all: -r "$wanted" 2>&1); then
    why_no_wheels="pip does not bring the tools: ${output##*$'\n'}"
    return 1
  fi
  cp "$wanted" "$venv/requirements.txt"
}

# If there is a clang++, finds its fuzzing library. Since Debian 12 that is a separate package, named by clang's
# version.
need_libfuzzer() {
  command -v clang++ > /dev/null || return 0
  printf 'extern "C" int LLVMFuzzerTestOneInput(char const*, unsigned long) { return 0; }\n' |
    clang++ -fsanitize=fuzzer,address,undefined -x c++ - -o /dev/null 2> /dev/null ||
    missing+=("libclang-rt-$(clang++ -dumpversion | cut -d . -f 1)-dev")
}

need_to_build() {
  need_command "${compiler[0]}" g++
  need_command cmake cmake
  need_command ninja ninja-build
  need_cblas
  if [[ $(uname -m) == x86_64 ]]; then need_header oneapi/dnnl/dnnl.hpp libdnnl-dev; fi  # others compute by BLAS
  need_header nlohmann/json.hpp nlohmann-json3-dev
  need_header CLI/CLI.hpp libcli11-dev
  need_header zlib.h zlib1g-dev
  need_header fmt/core.h libfmt-dev
  need_header toml++/toml.h libtomlplusplus-dev
  need_header utf8proc.h libutf8proc-dev
  need_cccl
}

leave_to_user() {  # WHY
  echo "Nothing was installed: $1.  Run this as root, then run this script again:" >&2
  echo "  ${update[*]} && ${install[*]}" >&2
  exit 1
}

# Asks no question without a terminal, as in a container.
ask_first() {
  local answer
  if [[ ! -t 0 || ! -t 1 ]]; then return; fi
  read -r -p "Install them with $1? [Y/n] " answer || answer=n
  if [[ ! $answer =~ ^([yY]([eE][sS])?)?$ ]]; then leave_to_user "you answered no"; fi
}

install_missing() {
  ((${#missing[@]})) || return 0
  local update=(apt-get update)
  local install=(apt-get install --yes --no-install-recommends "${missing[@]}")
  echo "Missing packages: ${missing[*]}"
  if ! $may_install; then
    leave_to_user "--no-install was given"
  elif ! command -v apt-get > /dev/null; then
    echo "apt-get was not found.  If CMake does not find the packages, install them with the package manager of this system." >&2
  elif ((EUID == 0)); then
    ask_first "apt-get"
    echo "Installing them (--no-install prevents it): ${install[*]}"
    export DEBIAN_FRONTEND=noninteractive
    "${update[@]}" && "${install[@]}"
  elif command -v sudo > /dev/null && { [[ -t 0 ]] || sudo -n true 2> /dev/null; }; then
    ask_first "sudo apt-get"
    echo "Installing them (--no-install prevents it): sudo ${install[*]}"
    sudo "${update[@]}" && sudo DEBIAN_FRONTEND=noninteractive "${install[@]}"
  else
    echo "Installing them needs root.  Run this as root, then run this script again:" >&2
    echo "  ${update[*]} && ${install[*]}" >&2
    exit 1
  fi
}

# Succeeds if there is a CUDA compiler of toolkit 12 or later. CMake then uses the same compiler.
find_nvcc() {
  local nvcc major
  for nvcc in "${CUDACXX:-}" "$(command -v nvcc || true)" "${CUDA_HOME:-}/bin/nvcc" /usr/local/cuda/bin/nvcc; do
    if [[ ! -x $nvcc ]]; then continue; fi
    major=$("$nvcc" --version 2> /dev/null | sed -n 's/.*release \([0-9]*\).*/\1/p')
    if ((${major:-0} >= 12)); then export CUDACXX=$nvcc && return 0; fi
  done
  return 1
}

# Succeeds if there is an NVIDIA GPU with a working driver.
find_gpu() {
  command -v nvidia-smi > /dev/null && nvidia-smi -L 2> /dev/null | grep '^GPU' > /dev/null
}

# Prints the compute capability of the first GPU, such as 9.0.
gpu_capability() {
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1
}

# Prints the same in the form of CMAKE_CUDA_ARCHITECTURES, such as 90.
gpu_architecture() {
  gpu_capability | tr -d .
}
