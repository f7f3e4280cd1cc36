// This file is empty: the target that owns the precompiled header of the tests needs a source file.
// SPDX-License-Identifier: Apache-2.0
