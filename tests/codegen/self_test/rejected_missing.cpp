// function: misspelt
// expect: function misspelt is not in the object file
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
extern "C" void named() {}
