#!/usr/bin/env bash
# Tests scripts/format with stubs of python3, apt-get and clang-format:  format.sh ROOT FOLDER
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/wheels_stub.sh"
wheels_stub "$1" "$2" format scripts/format.txt
cd "$stubbed"
git init --quiet
printf 'int a;\n' > a.hpp
printf 'int b;  // UGLY\n' > b.cpp
touch .clang-format

LACKS=venv says 77 "format: left out, python3 has no venv; no file was checked" --check
LACKS=index says 77 "format: left out, pip does not bring the tools: ERROR: No matching distribution found" --check
[[ $(cat b.cpp) == *UGLY* ]] || failed format "it changed a file without a formatter"

mkdir -p build/format/bin
cat > build/format/bin/clang-format <<'STUB'
#!/bin/sh
shift && sed -i 's/UGLY/nice/' "$@"
STUB
chmod +x build/format/bin/clang-format
says 1 "format: the files above are not formatted; run ./scripts/format" --check
called 'pip install .*--only-binary :all: -r scripts/format.txt'
[[ $(cat b.cpp) == *UGLY* ]] || failed "format --check" "it changed a file"
says 0 ""
not_called 'pip|venv'
[[ $(cat b.cpp) == *nice* && $(cat a.hpp) == "int a;" ]] || failed format "$(cat a.hpp b.cpp)"
says 0 "format: 2 files are formatted" --check
echo "format: all as expected"
