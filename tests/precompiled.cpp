// Empty: the target that owns the tests' precompiled header needs a source.
// SPDX-License-Identifier: Apache-2.0
