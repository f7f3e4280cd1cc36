#!/bin/sh
# Builds the program without CMake: PKG_CONFIG_PATH=PREFIX/lib/pkgconfig ./build.sh
set -e
flags=$(pkg-config --cflags --libs triad)
${CXX:-c++} -std=c++20 -O2 "$(dirname "$0")/../main.cpp" $flags -o "${1:-consume}"
