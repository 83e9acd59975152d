#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# Makes the single header, and compiles a program with no other file of Rondo.
source "$(dirname "$0")/common.sh"

"$PYTHON" "$ROOT/tools/amalgamate" --output rondo_all.hpp
if grep -nE '^ *# *include *<rondo/' rondo_all.hpp; then fail "the single header includes headers of Rondo"; fi
mkdir again
"$PYTHON" "$ROOT/tools/amalgamate" --output again/rondo_all.hpp
cmp rondo_all.hpp again/rondo_all.hpp || fail "made again, the single header is another one"

# As in an online compiler: one file, one header next to it. A second file reveals functions that are not inline, and so
# are defined twice.
sed 's|<rondo/rondo.hpp>|"rondo_all.hpp"|' "$ROOT/examples/01_saxpy.cpp" >saxpy.cpp
cat >second.cpp <<'end'
#include "rondo_all.hpp"
constexpr auto build = [] { return rondo::TaskGraph(); };
static_assert(rondo::static_graph<build>.view().tasks.empty());
end
"$COMPILER" -std=c++20 -Wall -Wextra -Werror -c second.cpp
"$COMPILER" -std=c++20 -Wall -Wextra -Werror saxpy.cpp second.o -pthread -o saxpy -MD -MF read.txt
if tr -s ' \\' '\n' <read.txt | grep -F "$ROOT/include"; then fail "Rondo's own headers were read"; fi
[ "$(./saxpy)" = "a2a3_sim: y[0] = 10100 after 100 rounds" ] || fail "saxpy printed: $(./saxpy)"

# The example is the header's own comment.
sed -n '/^#pragma once/q; s|^//   ||p; s|^//$||p' rondo_all.hpp >example.cpp
grep -q '#include "rondo_all.hpp"' example.cpp || fail "the comment of the single header has no example"
"$COMPILER" -std=c++20 -Wall -Wextra -Werror example.cpp second.o -pthread -o example
[ "$(./example)" = "y[0] = 200" ] || fail "the example printed: $(./example)"

# The headers that an optional part includes come before its condition, so that they are present even if the part is
# left out.
"$PYTHON" "$ROOT/tools/amalgamate" --output dlpack_all.hpp rondo/memory/dlpack.hpp
awk '/^#if __has_include\(<dlpack/ { inside = 1 }
     inside && /^\/\/ --- / && !/, continued$/ { print; bad = 1 }
     END { exit bad || !inside }' dlpack_all.hpp || fail "headers are hidden behind the condition of another"
if "$PYTHON" "$ROOT/tools/amalgamate" --output none.hpp rondo/none.hpp 2>error.log; then fail "a missing header was found"; fi
grep -q "rondo/none.hpp: there is no such header" error.log || { cat error.log; fail "a missing header is told otherwise"; }
