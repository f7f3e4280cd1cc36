// tree-transforms: sentences of the Basic Sentence Transforms from tree to tree.
// SPDX-License-Identifier: Apache-2.0
#include "transforms.hpp"

int main(int argc, char** argv) { return transforms::task::main(argc, argv); }
