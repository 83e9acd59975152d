# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the compiled part of the package with CMake, so that there is one description of how that is done.

RONDO_PYTHON_BUILD names a folder in which Rondo was configured already, whose module is built, if it is not yet, and
taken: for the development of Rondo, and for its tests.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCE = pathlib.Path(__file__).resolve().parent.parent


def version():
    text = (SOURCE / "include" / "rondo" / "version.hpp").read_text(encoding="utf-8")
    return ".".join(re.search(rf"int {part} = (\d+);", text)[1] for part in ("major", "minor", "patch"))


class BuildWithCMake(build_ext):
    def build_extension(self, ext):
        folder = os.environ.get("RONDO_PYTHON_BUILD")
        if not folder:
            folder = os.path.abspath(os.path.join(self.build_temp, "cmake"))
            off = [f"-DRONDO_BUILD_{what}=OFF" for what in ("TESTS", "BENCHES", "EXAMPLES", "TOOLS")]
            generator = ["-G", "Ninja"] if shutil.which("ninja") else []
            options = ["-DCMAKE_BUILD_TYPE=Release", "-DRONDO_PYTHON_PACKAGE=ON", f"-DRONDO_PYTHON={sys.executable}"]
            try:
                import pybind11

                options.append(f"-DRONDO_PYBIND11_INCLUDE={pybind11.get_include()}")
            except ImportError:
                pass  # CMake looks for the system's
            subprocess.run(["cmake", "-S", SOURCE, "-B", folder, *generator, *off, *options], check=True)
        subprocess.run(["cmake", "--build", folder, "--target", "rondo_python"], check=True)
        target = self.get_ext_fullpath(ext.name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        (built,) = pathlib.Path(folder).glob("python/lib/_rondo.*so")
        shutil.copy(built, target)


setup(version=version(), ext_modules=[Extension("rondo._rondo", [])], cmdclass={"build_ext": BuildWithCMake})
