# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Runs what docs/python.md shows: its blocks of Python, one after the other, as one program."""

import pathlib
import re
import unittest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


class DocsTest(unittest.TestCase):
    def test_the_blocks_of_the_page_run(self):
        blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
        self.assertGreaterEqual(len(blocks), 3)
        names = {}
        for block in blocks:
            exec(compile(block, str(PAGE), "exec"), names)
        self.assertEqual(names["session"].rounds, 102)

    def test_the_kernel_of_the_page_is_that_of_the_example(self):
        page = re.search(r"^struct Saxpy \{\n(.*?)^\};", PAGE.read_text(encoding="utf-8"), re.M | re.S)[1]
        source = PAGE.parents[1] / "examples" / "python" / "kernels" / "rondo_kernels.cpp"
        self.assertIn(page, source.read_text(encoding="utf-8"))

    def test_a_module_of_kernels_is_imported(self):
        import my_kernels  # the page's block is its source; see tests/docs/every_block_test.cpp

        self.assertEqual(my_kernels.__name__, "my_kernels")


if __name__ == "__main__":
    unittest.main()
