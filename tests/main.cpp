// main() of the test programs, for an installed Catch2 that is a single header.
// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
