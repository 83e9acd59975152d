# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""The package as it is installed: its examples, its types, its names."""

import doctest
import importlib
import pathlib
import shutil
import unittest

import rondo


class PackageTest(unittest.TestCase):
    def test_the_examples_in_docstrings_hold(self):
        found = 0
        for module in map(importlib.import_module, ("rondo", "rondo._kernel", "rondo._measure", "rondo._rondo")):
            finder = doctest.DocTestFinder(exclude_empty=True)
            tests = [t for t in finder.find(module, module.__name__) if t.examples]
            if module.__name__ == "rondo._rondo":  # functions of C are found by no finder
                tests = [
                    doctest.DocTestParser().get_doctest(object_.__doc__, {}, name, None, 0)
                    for name, object_ in vars(module).items()
                    if ">>>" in (getattr(object_, "__doc__", None) or "")
                ]
            runner = doctest.DocTestRunner()
            for test in tests:
                runner.run(test)
                found += len(test.examples)
            self.assertEqual(runner.failures, 0)
        self.assertGreater(found, 12)

    def test_every_name_of_the_compiled_part_has_a_type(self):
        stub = (pathlib.Path(rondo.__file__).parent / "_rondo.pyi").read_text(encoding="utf-8")
        self.assertTrue((pathlib.Path(rondo.__file__).parent / "py.typed").exists())
        names = {}
        exec(compile("from __future__ import annotations\n" + stub, "_rondo.pyi", "exec"), names)
        for name, real in vars(rondo._rondo).items():
            if name.startswith("__"):
                continue
            with self.subTest(name):
                self.assertTrue(name in names, "it has no type")
                if isinstance(real, type) and real is not rondo.Error and real is not rondo.Errc:
                    for member in vars(real):
                        if not member.startswith("_"):
                            self.assertTrue(hasattr(names[name], member), f"{name}.{member} has no type")
        for code in rondo.Errc.__members__:
            self.assertIn(f"    {code}: ClassVar[Errc]", stub)

    def test_a_notebook_shows_a_picture_of_a_graph(self):
        graph = rondo.Graph()
        kernel = rondo.kernel("x: in f32[n], y: out f32[n]", lambda x, y: None, name="copy_it", quiet=True)
        graph.add(kernel, *graph.declare("x: in f32[4], y: out f32[4]"))
        try:
            self.assertIn("copy_it", graph.to_dot())
        except rondo.Error as error:
            self.assertIn("without pictures", str(error))
            self.assertIsNone(graph._repr_svg_())
            return
        if shutil.which("dot"):
            self.assertRegex(graph._repr_svg_(), r"(?s)<svg.*copy_it.*</svg>")

    def test_all_names_that_are_promised_are_there(self):
        for name in rondo.__all__:
            self.assertTrue(hasattr(rondo, name), name)


if __name__ == "__main__":
    unittest.main()
