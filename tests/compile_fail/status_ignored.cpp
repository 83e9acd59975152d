// expect: -Werror=unused-result || -Werror,-Wunused-result || declared with attribute 'nodiscard' || declared with 'nodiscard' attribute
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/error.hpp>

rondo::Status run();
void ignore() { run(); }
