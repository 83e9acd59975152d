// function: named
// expect: call of elsewhere
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
// A call that the compiler turns into a jump is a call.
extern "C" void elsewhere();
extern "C" void named() { elsewhere(); }
