#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# Makes the Debian package and checks its contents.
source "$(dirname "$0")/common.sh"

package=librondo-dev_${VERSION}_all.deb
(cd "$BUILD" && "${CMAKE%cmake}cpack" -G DEB -B "$WORK/pack") >pack.log 2>&1 || { cat pack.log; fail "packing"; }
[ -f "pack/$package" ] || { ls pack; fail "there is no $package"; }

expect_field() {
  local value
  value=$(dpkg-deb -f "pack/$package" "$1")
  [ "$value" = "$2" ] || fail "the field $1 is '$value', expected '$2'"
}
expect_field Package librondo-dev
expect_field Version "$VERSION"
expect_field Architecture all
expect_field Section libdevel
expect_field Depends ""
description=$(dpkg-deb -f "pack/$package" Description)
[[ $description == "sets a device graph up once and runs it round after round"$'\n'* ]] \
  || fail "the description starts in another way: $description"

# Unpacked, it has the files of an installation, below /usr.
dpkg-deb -x "pack/$package" unpacked
"$CMAKE" --install "$BUILD" --prefix "$WORK/usr" >install.log 2>&1 || { cat install.log; fail "installing"; }
diff -r usr unpacked/usr || fail "the package holds something else than an installation"
[ "$(ls unpacked)" = usr ] || fail "the package holds files outside of /usr: $(ls unpacked)"
for file in include/rondo/rondo.hpp share/cmake/rondo/rondoConfig.cmake share/pkgconfig/rondo.pc \
  share/doc/librondo-dev/copyright; do
  [ -f "unpacked/usr/$file" ] || fail "the package lacks $file"
done
if dpkg-deb -c "pack/$package" | grep -vE '^(d|-)rw.r-.r-. root/root ' | grep -v '^drwxr-xr-x root/root '; then
  fail "files of the package belong to somebody, or are executable"
fi
