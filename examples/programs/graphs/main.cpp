// graphs: what is one node of a labelled graph to another?
// SPDX-License-Identifier: Apache-2.0
#include "graphs.hpp"

int main(int argc, char** argv) { return graphs::task::main(argc, argv); }
