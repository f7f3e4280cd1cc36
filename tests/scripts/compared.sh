#!/usr/bin/env bash
# scripts/compared where python3, apt-get and the program are stubs:  compared.sh ROOT FOLDER
set -euo pipefail
root=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/root/scripts" "$folder/root/tests/compared" "$folder/root/build/ci/bin"
cp "$root"/scripts/{compared,packages.sh,usage.sh} "$folder/root/scripts/"
cp "$root/tests/compared/requirements.txt" "$folder/root/tests/compared/"
export CALLS=$folder/calls PATH=$folder/bin:$PATH
cat > "$folder/bin/python3" <<'STUB'
#!/bin/sh
# $LACKS: venv, index, or nothing; the comparison ends with $STATUS.
echo "python $*" >> "$CALLS"
case "$*" in
  "-c import ensurepip, venv") [ "$LACKS" != venv ] ;;
  "-m venv --clear "*) mkdir -p "$4/bin" && rm -f "$4/requirements.txt" && cp "$0" "$4/bin/python" ;;
  "-m pip install "*) if [ "$LACKS" = index ]; then echo "ERROR: No matching distribution found" >&2; exit 1; fi ;;
  *compare.py*) exit "$STATUS" ;;
esac
STUB
printf '#!/bin/sh\necho "apt-get $*" >> "%s"\nexit 1\n' "$CALLS" > "$folder/bin/apt-get"
printf '#!/bin/sh\nexit 1\n' > "$folder/bin/sudo"
chmod +x "$folder"/bin/*
failed() { echo "$1: $2" >&2 && exit 1; }
says() {  # STATUS TEXT ARGUMENTS...
  local expected=$1 text=$2 status=0
  shift 2
  : > "$CALLS"
  output=$("$folder/root/scripts/compared" "$@" 2>&1 < /dev/null) || status=$?
  ((status == expected)) || failed "compared $*" "status $status, expected $expected: $output"
  grep -qF -e "$text" <<< "$output" || failed "compared $*" "no \"$text\" in: $output"
}
called() { grep -qE -e "$1" "$CALLS" || failed "no call $1" "$(cat "$CALLS")"; }
not_called() { if grep -qE -e "$1" "$CALLS"; then failed "a call $1" "$(cat "$CALLS")"; fi; }
export LACKS='' STATUS=0

says 2 "no build/ci/bin/triad-answers"
not_called .
touch "$folder/root/build/ci/bin/triad-answers"
chmod +x "$folder/root/build/ci/bin/triad-answers"
says 2 "expected a whole number" --seed x
LACKS=venv says 0 "left out, python3 has no venv"
not_called compare.py
LACKS=index says 0 "left out, pip does not bring the tools: ERROR: No matching distribution found"
not_called compare.py
says 0 ""
called 'pip install .*--only-binary :all: -r tests/compared/requirements.txt'
called 'compare.py build/ci/bin docs/formats.md 1$'
STATUS=1 says 1 "" --seed 7
not_called 'pip|venv'
called 'compare.py build/ci/bin docs/formats.md 7$'
echo "another==1" >> "$folder/root/tests/compared/requirements.txt"
says 0 ""
called 'pip install'
echo "compared: all as expected"
