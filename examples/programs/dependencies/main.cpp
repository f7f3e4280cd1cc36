// dependencies: from sentences to their dependencies.
// SPDX-License-Identifier: Apache-2.0
#include "dependencies.hpp"

int main(int argc, char** argv) { return dependencies::task::main(argc, argv); }
