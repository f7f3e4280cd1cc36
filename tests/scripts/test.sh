#!/usr/bin/env bash
# Tests scripts/test and scripts/quickstart with stubs of tools that only record their calls:  test.sh ROOT FOLDER
set -euo pipefail
root=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/root/scripts" "$folder/root/build/release/bin"
cp "$root"/scripts/{test,quickstart,packages.sh,usage.sh} "$folder/root/scripts/"
calls=$folder/calls
export CALLS=$calls PATH=$folder/bin:$PATH CXX=$folder/bin/compiler
for tool in ctest ninja pkg-config python3 nvcc apt-get sudo; do
  # shellcheck disable=SC2016  # for the stub
  printf '#!/bin/sh\necho "%s $*" >> "$CALLS"\n' $tool > "$folder/bin/$tool"
done
cat > "$folder/bin/compiler" <<'STUB'
#!/bin/sh
# Finds everything.
cat > /dev/null
STUB
cat > "$folder/bin/clang++" <<'STUB'
#!/bin/sh
# Reads all of its input: otherwise the writing process would be killed, and this would count as a broken compiler.
echo "clang++ $*" >> "$CALLS"
case "$*" in *"-x c++ -"*) cat > /dev/null ;; esac
STUB
cat > "$folder/bin/cmake" <<'STUB'
#!/bin/sh
# Behaves like ninja with the stand-in for a GPU ($STAND_IN) and without it.
echo "cmake $*" >> "$CALLS"
case "$*" in
  *"--target help"*) echo all: phony; if [ -n "$STAND_IN" ]; then echo triad-planted-faults: phony; fi ;;
  "--build --preset tsan"*)
    if [ -z "$STAND_IN" ]; then echo "ninja: error: unknown target 'triad-planted-faults'" >&2; exit 1; fi
    ;;
esac
STUB
cat > "$folder/bin/nvidia-smi" <<'STUB'
#!/bin/sh
case "$*" in
  -L) if [ -n "$CAPABILITY" ]; then echo "GPU 0: a stub"; fi ;;
  *compute_cap*) echo "$CAPABILITY" ;;
  *) echo "a stub" ;;
esac
STUB
printf '#!/bin/sh\necho "clutrr $*"\n' > "$folder/root/build/release/bin/clutrr"
# shellcheck disable=SC2016
printf '#!/bin/sh\necho "kill-test $*" >> "$CALLS"\n' > "$folder/root/scripts/kill-test"
mkdir -p "$folder/root/tests/scripts"
# shellcheck disable=SC2016
printf '#!/bin/sh\necho "slurm $*" >> "$CALLS"\nexit $SLURM_STATUS\n' > "$folder/root/tests/scripts/slurm.sh"
chmod +x "$folder"/bin/* "$folder"/root/{scripts/kill-test,tests/scripts/slurm.sh,build/release/bin/clutrr}
failed() { echo "$1: $2" >&2 && exit 1; }
says() {  # STATUS TEXT SCRIPT ARGUMENTS...
  local expected=$1 text=$2 status=0
  shift 2
  : > "$calls"
  output=$("$folder/root/scripts/$1" "${@:2}" 2>&1) || status=$?
  ((status == expected)) || failed "$*" "status $status, expected $expected: $output"
  grep -qF -e "$text" <<< "$output" || failed "$*" "no \"$text\" in: $output"
}
called() { grep -qE -e "$1" "$calls" || failed "no call $1" "$(cat "$calls")"; }
not_called() { if grep -qE -e "$1" "$calls"; then failed "a call $1" "$(cat "$calls")"; fi; }
export STAND_IN='' CAPABILITY='' SLURM_STATUS=0

# Without CUDA's headers --full passes, runs everything else, and says what it left out.
says 0 "Left out: the stand-in for a GPU (tests/cuda_on_host) in asan tsan clang ci," test --full
not_called '^ctest --preset tsan'
for preset in asan clang ci; do called "^ctest --preset $preset"; done
called '^kill-test build/ci/bin 100$'
called '^slurm .*/root .*/build/ci/slurm$'
if grep -q 'by SLURM' <<< "$output"; then failed "test --full" "says that SLURM was left out: $output"; fi
says 0 "Left out: the stand-in for a GPU (tests/cuda_on_host) in ci," test --all
says 0 "Left to .ci/run, or --all: the stand-in for a GPU" test
if grep -q 'Left out: the stand-in' <<< "$output"; then failed "test" "needs no stand-in: $output"; fi
# scripts/test says which tests only .ci/run runs, and .ci/run runs these tests.
called '^cmake --preset ci .*-DTRIAD_SLOW_TESTS=OFF'
grep -q 'Left to .ci/run' <<< "$output" || failed test "does not say what is left: $output"
says 0 "" test --all
called '^cmake --preset ci .*-DTRIAD_SLOW_TESTS=ON'
if grep -q 'Left to .ci/run' <<< "$output"; then failed "test --all" "$output"; fi
grep -q 'scripts/test --all --werror --nvcc --bench' "$root/.ci/run" || failed .ci/run "does not ask for all tests"
# With the headers nothing is left out.
STAND_IN=1 says 0 "" test --full
if grep -q 'Left out' <<< "$output"; then failed "test --full" "$output"; fi
called '^ctest --preset tsan'
called '^cmake --preset ci .*-DTRIAD_SLOW_TESTS=ON'
not_called '^apt-get|^sudo'
# A missing SLURM is reported. A failure under SLURM is a failure.
SLURM_STATUS=77 STAND_IN=1 says 0 "Left out: job arrays by SLURM (tests/scripts/slurm.sh)" test --full
SLURM_STATUS=1 STAND_IN=1 says 1 "" test --full
STAND_IN=1 says 0 "" test --all
not_called '^slurm'

# With --no-install nothing is installed.
for script in test quickstart; do
  CXX=$folder/bin/none says 1 "Missing packages: g++" $script --no-install
  grep -q 'apt-get install --yes --no-install-recommends g++' <<< "$output" ||
    failed $script "does not say what to install: $output"
  not_called '^apt-get|^sudo|^cmake'
done

# --help only prints the help.
says 0 'Options go to `clutrr train`.' quickstart --help
not_called '^apt-get|^sudo|^cmake|^clutrr'

# The reason why the processor trains.
says 0 "Training on the CPU: no NVIDIA GPU was found" quickstart --no-install --seed 2
grep -q '^clutrr train --preset quickstart .* --seed 2$' <<< "$output" ||
  failed quickstart "hands on other options: $output"
for capability in 8.6 8.9 12.0; do
  needs="the kernels need 163 KiB of shared memory a block"
  CAPABILITY=$capability says 0 "the GPU has compute capability $capability; $needs" quickstart
done

# On a terminal, it asks before it installs, and accepts "no". Without a terminal, it installs.
if ((EUID == 0)) && command -v script > /dev/null; then
  on_terminal() {  # ANSWER: puts the output of quickstart in `output`
    : > "$calls"
    status=0
    output=$(printf '%s\n' "$1" | CXX=$folder/bin/none script -qec "$folder/root/scripts/quickstart" /dev/null) ||
      status=$?
  }
  on_terminal n
  [[ $status == 1 && $output == *"Install them with apt-get? [Y/n]"*"Nothing was installed: you answered no."* ]] ||
    failed "quickstart, no" "$output"
  not_called '^apt-get|^cmake'
  on_terminal ""
  [[ $status == 0 ]] || failed "quickstart, yes" "status $status: $output"
  called '^apt-get install --yes'
  CXX=$folder/bin/none says 0 "Installing them" quickstart < /dev/null
  called '^apt-get install --yes'
else
  echo "test: the question on a terminal is left out, which needs root and script(1)"
fi
