// This file is empty. The target of the tests' precompiled header needs a source file.
// SPDX-License-Identifier: Apache-2.0
