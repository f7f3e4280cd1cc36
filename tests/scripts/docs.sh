#!/usr/bin/env bash
# scripts/docs where python3 and apt-get are stubs:  docs.sh ROOT FOLDER
set -euo pipefail
root=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/root/scripts/docs.d"
cp "$root"/scripts/{docs,packages.sh,usage.sh} "$folder/root/scripts/"
cp "$root/scripts/docs.d/requirements.txt" "$folder/root/scripts/docs.d/"
export CALLS=$folder/calls PATH=$folder/bin:$PATH
cat > "$folder/bin/python3" <<'STUB'
#!/bin/sh
# $LACKS: venv, index, or nothing; the build ends with $STATUS.
echo "python $*" >> "$CALLS"
case "$*" in
  "-c import ensurepip, venv") [ "$LACKS" != venv ] ;;
  "-m venv --clear "*) mkdir -p "$4/bin" && rm -f "$4/requirements.txt" && cp "$0" "$4/bin/python" ;;
  "-m pip install "*) if [ "$LACKS" = index ]; then echo "ERROR: No matching distribution found" >&2; exit 1; fi ;;
  *build.py*) exit "$STATUS" ;;
esac
STUB
printf '#!/bin/sh\nexit 1\n' > "$folder/bin/apt-get"
cp "$folder/bin/apt-get" "$folder/bin/sudo"
chmod +x "$folder"/bin/*
failed() { echo "$1: $2" >&2 && exit 1; }
says() {  # STATUS TEXT ARGUMENTS...
  local expected=$1 text=$2 status=0
  shift 2
  : > "$CALLS"
  output=$("$folder/root/scripts/docs" "$@" 2>&1 < /dev/null) || status=$?
  ((status == expected)) || failed "docs $*" "status $status, expected $expected: $output"
  grep -qF -e "$text" <<< "$output" || failed "docs $*" "no \"$text\" in: $output"
}
called() { grep -qE -e "$1" "$CALLS" || failed "no call $1" "$(cat "$CALLS")"; }
not_called() { if grep -qE -e "$1" "$CALLS"; then failed "a call $1" "$(cat "$CALLS")"; fi; }
export LACKS='' STATUS=0

says 2 "--serve" --port 8000
not_called .
LACKS=venv says 0 "docs: left out, python3 has no venv; no site was built"
not_called build.py
LACKS=index says 0 "docs: left out, pip does not bring the tools: ERROR: No matching distribution found"
not_called build.py
says 0 ""
called 'pip install .*--only-binary :all: -r scripts/docs.d/requirements.txt'
called 'scripts/docs.d/build.py . build/docs$'
not_called http.server
says 0 "" --serve
not_called 'pip|venv'
called 'http.server 8000 --bind 127.0.0.1 --directory build/docs/site$'
says 0 "" --serve 8123 --no-install
called 'http.server 8123 '
STATUS=1 says 1 "" --serve
not_called http.server
echo "docs: all as expected"
