# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Conan 2 recipe: `conan create packaging/conan --build=missing`. It stands in the sources that it packages."""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, rmdir

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


class RondoConan(ConanFile):
    name = "rondo"
    description = "Sets a device graph up once and runs it round after round"
    license = "Apache-2.0"
    topics = ("npu", "header-only", "benchmark")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    # What each product beside the core depends on: Conan's reference and CMake's target.
    products = {
        "search": {"range-v3/0.12.0": "range-v3::range-v3"},
        "measure": {"range-v3/0.12.0": "range-v3::range-v3", "nlohmann_json/3.11.2": "nlohmann_json::nlohmann_json",
                    "fmt/9.1.0": "fmt::fmt"},
    }
    products["observe"] = products["measure"]
    products["mpi"] = products["measure"] | {"openmpi/4.1.6": "openmpi::openmpi"}
    options = {product: [True, False] for product in ("search", "measure", "observe", "mpi")}
    default_options = {product: False for product in ("search", "measure", "observe", "mpi")}
    generators = ("CMakeDeps",)

    def set_version(self):
        with open(os.path.join(ROOT, "include", "rondo", "version.hpp"), encoding="utf-8") as header:
            text = header.read()
        self.version = ".".join(re.search(rf"int {part} = (\d+);", text)[1] for part in ("major", "minor", "patch"))

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*"):
            copy(self, pattern, src=ROOT, dst=self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def chosen(self):
        return [product for product in self.products if getattr(self.options, product)]

    def requirements(self):
        for reference in sorted({reference for product in self.chosen() for reference in self.products[product]}):
            self.requires(reference, transitive_headers=True)

    def package_id(self):
        self.info.clear()

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "BENCHES", "EXAMPLES", "TOOLS"):
            toolchain.cache_variables[f"RONDO_BUILD_{part}"] = False
        toolchain.cache_variables["RONDO_PRODUCTS"] = ""  # their headers are installed, their targets are made below
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()

    def package(self):
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        cmake = CMake(self)
        cmake.install()
        rmdir(self, os.path.join(self.package_folder, "share"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "rondo")
        core = self.cpp_info.components["rondo"]
        core.set_property("cmake_target_name", "rondo::rondo")
        core.set_property("pkg_config_name", "rondo")
        core.system_libs = ["pthread"]
        core.bindirs = core.libdirs = []
        for product in self.chosen():
            component = self.cpp_info.components[product]
            component.set_property("cmake_target_name", f"rondo::{product}")
            component.bindirs = component.libdirs = []
            component.requires = ["rondo"] + list(self.products[product].values())
