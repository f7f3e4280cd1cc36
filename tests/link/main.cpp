// The first of two source files that include every header. other.cpp is the second.
// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "triad/triad.hpp"

char const* version_seen_elsewhere();

int main() { return std::string_view(triad::version) == version_seen_elsewhere() ? 0 : 1; }
