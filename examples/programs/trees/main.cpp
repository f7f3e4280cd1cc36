// trees: from trees to trees.
// SPDX-License-Identifier: Apache-2.0
#include "trees.hpp"

int main(int argc, char** argv) { return trees::task::main(argc, argv); }
