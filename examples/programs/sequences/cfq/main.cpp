// cfq: from questions to queries, or to dependencies.
// SPDX-License-Identifier: Apache-2.0
#include "cfq.hpp"

int main(int argc, char** argv) { return cfq::task::main(argc, argv); }
