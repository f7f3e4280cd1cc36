// grid: where does a path on a grid lead?
// SPDX-License-Identifier: Apache-2.0
#include "grid.hpp"

int main(int argc, char** argv) { return grid::task::main(argc, argv); }
