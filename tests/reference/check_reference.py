#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""check_reference.py DOXYGEN DOXYFILE INCLUDE WORK [EXPECTED]

Runs doxygen over INCLUDE and prints its findings, a line each: faults in comments, and classes, structs and concepts
without one. Fails if there are findings, or, with EXPECTED, if they are not those of that file."""

import pathlib
import re
import subprocess
import sys

doxygen, doxyfile, include, work = sys.argv[1:5]
pathlib.Path(work).mkdir(parents=True, exist_ok=True)
settings = pathlib.Path(doxyfile).read_text(encoding="utf-8")
# Later settings win.
settings += f"\nINPUT = {include}\nOUTPUT_DIRECTORY = {work}\nSTRIP_FROM_PATH = {include}\n"
settings += "WARN_IF_UNDOCUMENTED = YES\n"
run = subprocess.run([doxygen, "-"], input=settings, text=True, capture_output=True, check=False)
if run.returncode != 0:
    sys.exit(f"doxygen failed:\n{run.stderr}")
pages = len(list((pathlib.Path(work) / "html").glob("*.html")))

# Types that the comment before them, or the language, says all of.
SELF_EVIDENT = {
    "rondo::BFloat16",
    "rondo::Fp8E4M3Fn",
    "rondo::Fp8E8M0",
    "rondo::SnapshotPair",
    "rondo::RoundLoop::promise_type",
}

findings = set()
for line in run.stderr.splitlines():
    match = re.match(r"(.*):(\d+): warning: (.*)", line)
    if match is None:
        findings.add(line)  # what belongs to no file, or goes on from the line before
        continue
    path, _, text = match.groups()
    # A member whose name and type say all there is to say needs no comment; a type does.
    if re.match(r"Member .* is not documented", text):
        continue
    if (compound := re.match(r"Compound (\S+) is not documented", text)) and compound[1] in SELF_EVIDENT:
        continue
    findings.add(f"{pathlib.Path(path).relative_to(include)}: {text}")

for finding in sorted(findings):
    print(finding)
print(f"{len(findings)} findings on {pages} pages")
if pages == 0:
    sys.exit("doxygen wrote nothing")
if len(sys.argv) > 5:
    expected = pathlib.Path(sys.argv[5]).read_text(encoding="utf-8").splitlines()
    sys.exit(0 if sorted(findings) == expected else "expected:\n" + "\n".join(expected))
sys.exit(1 if findings else 0)
