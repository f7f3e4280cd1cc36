// clutrr: how are two people of a family related?
// SPDX-License-Identifier: Apache-2.0
#include "clutrr.hpp"

int main(int argc, char** argv) { return clutrr::task::main(argc, argv); }
