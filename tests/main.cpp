// The test programs' main(), for a Catch2 that was installed as a header alone.
// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
