#!/usr/bin/env bash
# Tests scripts/docs with stubs of python3 and apt-get:  docs.sh ROOT FOLDER
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/wheels_stub.sh"
wheels_stub "$1" "$2" docs scripts/docs.d/requirements.txt

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
