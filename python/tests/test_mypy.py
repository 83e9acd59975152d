# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""The types of the package, as mypy checks them."""

import subprocess
import sys
import unittest


class MypyTest(unittest.TestCase):
    def test_the_types_hold(self):
        result = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "-p", "rondo"], capture_output=True, text=True
        )
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
