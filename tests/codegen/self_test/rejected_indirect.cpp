// function: named
// indirect: 1
// expect: 2 indirect calls, of which 1 may be
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
extern "C" int named(int (*f)(int)) { return f(1) + f(2); }
