#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""conan_recipe.py RECIPE WORK VERSION CMAKE GENERATOR COMPILER

Runs the recipe as Conan 2 would, over stand-ins for the classes that it uses, from sources to package, and checks the
contents of the package."""

import collections
import importlib.util
import os
import pathlib
import py_compile
import shutil
import subprocess
import sys
import types

recipe, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
version, cmake_program, generator, compiler = sys.argv[3:7]


def check(condition, text):
    if not condition:
        sys.exit(f"failed: {text}")


class ConanFile:
    requires_seen = ()

    def requires(self, reference, **traits):
        self.requires_seen += ((reference, traits),)


class CMakeToolchain:
    def __init__(self, conanfile):
        self.conanfile, self.cache_variables = conanfile, {}

    def generate(self):
        self.conanfile.cache_variables = self.cache_variables


class CMake:
    def __init__(self, conanfile):
        self.conanfile = conanfile

    def configure(self):
        variables = [f"-D{k}={v if isinstance(v, str) else 'ON' if v else 'OFF'}"
                     for k, v in self.conanfile.cache_variables.items()]
        run = subprocess.run(
            [cmake_program, "-S", self.conanfile.source_folder, "-B", work / "build", "-G", generator]
            + [f"-DCMAKE_CXX_COMPILER={compiler}"] + variables,
            capture_output=True, text=True, check=False)
        check(run.returncode == 0, run.stdout + run.stderr)
        check("variables were not used" not in run.stderr, "the recipe sets variables that Rondo does not know")

    def install(self):
        subprocess.run([cmake_program, "--install", work / "build", "--prefix", self.conanfile.package_folder],
                       check=True, capture_output=True)


def copy(conanfile, pattern, src, dst):
    """Conan's patterns also match in subfolders: `include/*` matches everything in include/."""
    found = 0
    for path in pathlib.Path(src).resolve().glob(pattern.replace("/*", "/**/*")):
        if path.is_file():
            target = pathlib.Path(dst) / path.relative_to(pathlib.Path(src).resolve())
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
            found += 1
    check(found > 0, f"the recipe copies {pattern}, which matches nothing in {src}")


def stand_in(name, **members):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)


def load(path, name):
    py_compile.compile(str(path), cfile=str(work / "compiled.pyc"), doraise=True)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
standards = []
stand_in("conan", ConanFile=ConanFile)
stand_in("conan.tools")
stand_in("conan.tools.build", check_min_cppstd=lambda _, standard: standards.append(standard), can_run=lambda _: True)
stand_in("conan.tools.cmake", CMake=CMake, CMakeToolchain=CMakeToolchain, cmake_layout=lambda _: None)
stand_in("conan.tools.files", copy=copy, rmdir=lambda _, folder: shutil.rmtree(folder))

package = load(recipe / "conanfile.py", "recipe").RondoConan()


def information():
    properties = {}
    return types.SimpleNamespace(properties=properties, set_property=properties.__setitem__, requires=[],
                                 components=collections.defaultdict(information))


package.cpp_info = information()
package.options = types.SimpleNamespace(**{product: product == "search" for product in package.options})
package.info = types.SimpleNamespace(clear=lambda: None)
package.export_sources_folder = package.source_folder = str(work / "source")
package.package_folder = str(work / "package")
for step in ("set_version", "export_sources", "layout", "requirements", "package_id", "validate", "generate", "build",
             "package", "package_info"):
    getattr(package, step)()

check(package.name == "rondo" and package.version == version, f"the recipe is of {package.name} {package.version}")
check([reference for reference, _ in package.requires_seen] == ["range-v3/0.12.0"], "it requires another thing for search")
check(standards == [20], "it asks for another standard than C++20")
components = package.cpp_info.components
check(sorted(components) == ["rondo", "search"], f"it has the components {sorted(components)}")
for name, requires in (("rondo", []), ("search", ["rondo", "range-v3::range-v3"])):
    check(components[name].properties["cmake_target_name"] == f"rondo::{name}", "a CMake target has another name")
    check(components[name].requires == requires, f"{name} requires {components[name].requires}")
files = sorted(str(p.relative_to(work / "package")) for p in (work / "package").rglob("*") if p.is_file())
headers = sorted(str(p.relative_to(recipe.parents[1])) for p in (recipe.parents[1] / "include").rglob("*") if p.suffix in (".hpp", ".cpp"))
check(files == sorted(headers + ["licenses/LICENSE"]), f"the package has files other than headers, the kernels that users compile, and licence: {files}")

test = load(recipe / "test_package" / "conanfile.py", "test_recipe").RondoTestConan
check(all(hasattr(test, step) for step in ("requirements", "build", "test")), "the test package lacks a step")
check(os.path.exists(recipe / "test_package" / "test_package.cpp"), "the test package has no program")
