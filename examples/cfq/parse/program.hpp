// `cfq --task parse`: from a question to its dependencies.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dependency {

/// All of main(): the exit status.
int run(int argc, char** argv);

}  // namespace dependency
