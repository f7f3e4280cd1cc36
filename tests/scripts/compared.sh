#!/usr/bin/env bash
# Tests scripts/compared with stubs of python3, apt-get and the program:  compared.sh ROOT FOLDER
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/wheels_stub.sh"
wheels_stub "$1" "$2" compared tests/compared/requirements.txt
mkdir -p "$stubbed/build/ci/bin"

says 2 "no build/ci/bin/triad-answers"
not_called .
touch "$stubbed/build/ci/bin/triad-answers"
chmod +x "$stubbed/build/ci/bin/triad-answers"
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
echo "another==1" >> "$stubbed/tests/compared/requirements.txt"
says 0 ""
called 'pip install'
echo "compared: all as expected"
