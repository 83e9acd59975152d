#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""check_reference.py DOXYGEN DOXYFILE INCLUDE WORK [EXPECTED]

Runs doxygen over INCLUDE and prints its findings, a line each: faults in comments, classes, structs and concepts
without one, and members without one of what users write down, unless their name says it all. Fails if there are
findings, or, with EXPECTED, if they are not those of that file."""

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

# Members that their name, or the concept that asks for them, says all of: a comment could only repeat it.
PLAIN_NAMES = set(
    """access after allocate Arch args_of before begin bits capabilities code concurrency copies_in copies_out
    copy_in copy_out core_type_count count data data_type_count defined_at_start device dim direction edges
    element_type empty end handle has in index inout is_a5_only is_orchestrated is_pinned is_snapshot
    is_static is_symbolic kernels_may_write key launch load major max memory min minor name offset ok out
    output parameter patch reads release resident shape size subject tensor to_string unload
    update_level_count value value_type version wait what when writes""".split()
)

# What users write down and read: each other member of it has a comment. Everything else has one for each type.
FACE = r"rondo(::[A-Z]\w*(<[^:]*>)?)*$"


def is_public_face(text):
    """Of a finding about a member: does it belong to that, and is it more than what C++ says already?"""
    match = re.match(r"Member (.*) \(\w[\w ]*\) of (?:class|struct|namespace|concept) (\S+(?:<.*>)?) is not documented", text)
    if match is None:
        return True  # of no kind that is known: let it be seen
    member, scope = match.groups()
    if not re.match(FACE, re.sub(r"\s", "", scope).replace(",", "")):
        return False
    kind = re.sub(r"<.*", "", scope).split("::")[-1]
    name = re.match(r"[^\s(\[]+", member)[0]
    # Constructors, destructors, assignments, comparisons: the class block tells.
    return not ("operator" in member or name.startswith("~") or name == kind or name in PLAIN_NAMES)


findings = set()
for line in run.stderr.splitlines():
    match = re.match(r"(.*):(\d+): warning: (.*)", line)
    if match is None:
        findings.add(line)  # what belongs to no file, or goes on from the line before
        continue
    path, _, text = match.groups()
    if re.match(r"Member .* is not documented", text):
        if not is_public_face(text):
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
