#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
# install.sh <python> <folder of the package> <build folder> <folder of test modules> <environment to make>
# Builds a wheel of the package and installs it into a fresh environment, without a network. What was compiled in the
# build folder is taken. The modules of the tests are put next to the package.
set -euo pipefail
python=$1 package=$2 build=$3 modules=$4 environment=$5

rm -rf "$environment" "$environment.wheels"
"$python" -m venv --without-pip --system-site-packages "$environment"
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
# setuptools leaves folders next to what it builds, and the source tree is not the place for them; what lies above the
# package is reached through links.
mkdir "$copy/python"
cp -r "$package"/{pyproject.toml,setup.py,rondo} "$copy/python"
for part in CMakeLists.txt cmake include src; do ln -s "$(realpath "$package/../$part")" "$copy/$part"; done
RONDO_PYTHON_BUILD=$build "$python" -m pip wheel "$copy/python" --no-build-isolation --no-deps --no-index \
  --disable-pip-version-check -q -w "$environment.wheels"
"$python" -m pip --python "$environment/bin/python" install --no-deps --no-index --disable-pip-version-check -q \
  "$environment.wheels"/rondo-*.whl
site=$("$environment/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
cp "$modules"/{rondo_kernels,rondo_test_kernels,my_kernels}.*so "$site"
cd /
"$environment/bin/python" -c "import rondo; assert rondo.__file__.startswith('$site'), rondo.__file__; print(rondo.__version__)"
