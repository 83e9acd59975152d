#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs Rondo, moves it elsewhere, and compiles a program by hand with the flags of pkg-config.
source "$(dirname "$0")/common.sh"

"$CMAKE" --install "$BUILD" --prefix "$WORK/first" >install.log 2>&1 || { cat install.log; fail "installing"; }
mv first moved
export PKG_CONFIG_PATH=$WORK/moved/share/pkgconfig
export PKG_CONFIG_LIBDIR=/nowhere
found=$(pkg-config --modversion rondo) || fail "pkg-config finds no rondo"
[ "$found" = "$VERSION" ] || fail "pkg-config says version $found"
if pkg-config --exists "rondo >= 99"; then fail "pkg-config takes any version for enough"; fi

read -r -a cflags <<<"$(pkg-config --cflags rondo)"
read -r -a libs <<<"$(pkg-config --libs rondo)"
[ "${cflags[0]#-I}" -ef "$WORK/moved/include" ] || fail "--cflags names another folder: ${cflags[*]}"
"$COMPILER" -std=c++20 "${cflags[@]}" "$ROOT/examples/01_saxpy.cpp" "${libs[@]}" -o saxpy
[ "$(./saxpy)" = "a2a3_sim: y[0] = 10100 after 100 rounds" ] || fail "the program printed: $(./saxpy)"
