#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""without.py <libacl_rt.so> <folder> <program> <symbol>...

Copies the stand-in into the folder with the symbols renamed, so that they are not found, and runs the program's tests
of incomplete runtimes over that copy."""
import os
import pathlib
import struct
import subprocess
import sys

library, folder, program, *symbols = sys.argv[1:]
image = bytearray(pathlib.Path(library).read_bytes())
assert image[:5] == b"\x7fELF\x02", "not a 64-bit ELF file"
(sections_at,) = struct.unpack_from("<Q", image, 0x28)
entry_size, count, names_index = struct.unpack_from("<HHH", image, 0x3A)


def section(i):
    name, _, _, _, offset, size = struct.unpack_from("<IIQQQQ", image, sections_at + i * entry_size)
    return name, offset, size


names_at = section(names_index)[1]
for i in range(count):
    name, begin, size = section(i)
    if image[names_at + name : names_at + name + 8] == b".dynstr\0":
        break
else:
    sys.exit("no .dynstr")
for symbol in symbols:
    at = image.find(b"\0" + symbol.encode() + b"\0", begin, begin + size)
    assert at >= 0, f"{symbol} is not among the dynamic symbols"
    image[at + 1] = ord("X")

place = pathlib.Path(folder)
place.mkdir(parents=True, exist_ok=True)
(place / "libacl_rt.so").write_bytes(image)
environment = dict(os.environ, LD_LIBRARY_PATH=str(place), RONDO_TEST_WITHOUT=" ".join(symbols))
tests = "--source-file=*onboard/without_test.cpp,*onboard/faults_test.cpp"
sys.exit(subprocess.run([program, tests], env=environment).returncode)
