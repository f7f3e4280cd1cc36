// cogs: from sentences to their logical forms.
// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

int main(int argc, char** argv) { return cogs::task::main(argc, argv); }
