// sequences: from sequences to sequences.
// SPDX-License-Identifier: Apache-2.0
#include "sequences.hpp"

int main(int argc, char** argv) { return sequences::task::main(argc, argv); }
