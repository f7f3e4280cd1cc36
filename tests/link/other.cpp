// The second of two source files that include every header. A function that is not inline would be defined twice.
// SPDX-License-Identifier: Apache-2.0
#include "triad/triad.hpp"

char const* version_seen_elsewhere() { return triad::version; }
