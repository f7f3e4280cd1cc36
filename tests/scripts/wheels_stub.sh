# shellcheck shell=bash
# Tests of scripts that install pinned wheels (pinned_wheels of scripts/packages.sh) source this file:
#   wheels_stub ROOT FOLDER SCRIPT REQUIREMENTS   copies SCRIPT and the requirements from ROOT to FOLDER/root; makes
# stubs
#                                                 of python3 and apt-get
#   says STATUS TEXT ARGUMENTS...                 runs SCRIPT, which must exit with STATUS and print TEXT
#   called REGEX, not_called REGEX                check the calls of the stubs in that run
# $LACKS: what the machine lacks: venv, index, or nothing. A Python program of the project exits with $STATUS.

failed() { echo "$1: $2" >&2 && exit 1; }

wheels_stub() {
  local root=$1 folder=$2 requirements=$4
  script=$3 stubbed=$2/root
  rm -rf "$folder"
  mkdir -p "$folder/bin" "$stubbed/scripts" "$stubbed/$(dirname "$requirements")"
  cp "$root"/scripts/{"$script",packages.sh,usage.sh} "$stubbed/scripts/"
  cp "$root/$requirements" "$stubbed/$requirements"
  export CALLS=$folder/calls PATH=$folder/bin:$PATH LACKS='' STATUS=0
  cat > "$folder/bin/python3" <<'STUB'
#!/bin/sh
echo "python $*" >> "$CALLS"
case "$*" in
  "-c import ensurepip, venv") [ "$LACKS" != venv ] ;;
  "-m venv --clear "*) mkdir -p "$4/bin" && rm -f "$4/requirements.txt" && cp "$0" "$4/bin/python" ;;
  "-m pip install "*) if [ "$LACKS" = index ]; then echo "ERROR: No matching distribution found" >&2; exit 1; fi ;;
  *build.py* | *compare.py*) exit "$STATUS" ;;
esac
STUB
  printf '#!/bin/sh\necho "apt-get $*" >> "%s"\nexit 1\n' "$CALLS" > "$folder/bin/apt-get"
  printf '#!/bin/sh\nexit 1\n' > "$folder/bin/sudo"
  chmod +x "$folder"/bin/*
}

says() {  # STATUS TEXT ARGUMENTS...
  local expected=$1 text=$2 status=0 output
  shift 2
  : > "$CALLS"
  output=$("$stubbed/scripts/$script" "$@" 2>&1 < /dev/null) || status=$?
  ((status == expected)) || failed "$script $*" "status $status, expected $expected: $output"
  grep -qF -e "$text" <<< "$output" || failed "$script $*" "no \"$text\" in: $output"
}
called() { grep -qE -e "$1" "$CALLS" || failed "no call $1" "$(cat "$CALLS")"; }
not_called() { if grep -qE -e "$1" "$CALLS"; then failed "a call $1" "$(cat "$CALLS")"; fi; }
