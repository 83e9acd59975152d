# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""What the compiled part needs, as objdump shows it."""

import subprocess
import unittest

import rondo


class ObjdumpTest(unittest.TestCase):
    def test_the_compiled_part_needs_the_libraries_of_any_system_only(self):
        dump = subprocess.run(["objdump", "-p", rondo._rondo.__file__], capture_output=True, text=True, check=True)
        needed = {line.split()[1].split(".so")[0] for line in dump.stdout.splitlines() if "NEEDED" in line}
        self.assertIn("libc", needed)
        system = {"libc", "libm", "libdl", "libpthread", "librt", "libstdc++", "libgcc_s"}
        self.assertEqual({name for name in needed if not name.startswith("ld-linux")} - system, set())


if __name__ == "__main__":
    unittest.main()
