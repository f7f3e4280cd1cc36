// cognition: from sentences to sentences whose compounds are new.
// SPDX-License-Identifier: Apache-2.0
#include "cognition.hpp"

int main(int argc, char** argv) { return cognition::task::main(argc, argv); }
