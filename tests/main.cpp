// main() of the test programs, for a Catch2 that is installed as a single header.
// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
