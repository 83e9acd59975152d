#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""tools.py <library to preload> <stand-in> <lifetimes> <tool>...

Runs each tool once for each use that it makes of a function of the system, with that use failing, and once more with
the tool killed there. A file that the tool writes must then be complete, or be the older one. Whether the tool
continues after a failure or ends, its exit code and the system's reason must say so, and no other file may be left."""
import errno
import json
import os
import pathlib
import subprocess
import sys
import tempfile

library, stand_in, lifetimes = sys.argv[1:4]
tools = {pathlib.Path(path).name: path for path in sys.argv[4:]}


def is_json(text):
    return bool(json.loads(text))


def is_svg(text):
    return text.startswith("<svg") and text.rstrip().endswith("</svg>")


def is_offsets(text):
    return text.startswith("id,lower,upper,size,offset") and text.endswith("\n")


# The arguments of each tool, and what makes each file that it writes whole.
RUNS = [
    ("plan_memory", [lifetimes, "--fast", "--offsets", "offsets.csv", "--svg", "plan.svg"],
     {"offsets.csv": is_offsets, "plan.svg": is_svg}),
    ("trace_digits", ["trace.json", "--rounds", "2", "--batch", "2", "--memory", "memory.svg"],
     {"trace.json": is_json, "memory.svg": is_svg}),
    ("bench_rounds", ["saxpy", "--rounds", "50", "--warm-up", "1", "--sessions", "1", "--engine", "pool", "--json", "rounds.json"],
     {"rounds.json": is_json}),
    ("calibrate", ["--platform", "a2a3_onboard", "--passes", "1", "--output", "costs.json"], {"costs.json": is_json}),
    ("replay", ["dump", "--example"], {}),
]
CALLS = {"open": errno.EMFILE, "write": errno.ENOSPC, "fsync": errno.EIO, "rename": errno.EACCES,
         "pthread_create": errno.EAGAIN}
OLDER = "older\n"


def run(tool, arguments, files, call, n, error):
    """Returns whether a use failed, and what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for name in files:
            (work / name).write_text(OLDER)
        failed = work / "failed"
        environment = dict(os.environ, LD_PRELOAD=library, RONDO_FAIL=f"{call} {n} {error}", RONDO_FAILED=str(failed),
                           RONDO_STAND_IN_CHIP="a2a3", LD_LIBRARY_PATH=os.path.dirname(stand_in))
        ended = subprocess.run([tools[tool], *arguments], cwd=work, env=environment, capture_output=True, text=True)
        wrong = []
        if not failed.exists():
            return False, [] if ended.returncode == 0 else [f"exit code {ended.returncode}: {ended.stderr}"]
        for name, is_whole in files.items():
            text = (work / name).read_text()
            try:
                good = is_whole(text) if text != OLDER else ended.returncode != 0
            except ValueError:
                good = False
            if not good:
                wrong.append(f"{name} begins with {text[:60]!r}")
        if tool == "replay" and (work / "dump" / "manifest.json").exists():
            for array in json.loads((work / "dump" / "manifest.json").read_text())["tasks"]:
                wrong += [f"there is no {each['file']}" for each in array["read"] + array["written"]
                          if "file" in each and not (work / "dump" / each["file"]).exists()]
        if error != 0:
            if ended.returncode not in (0, 1):
                wrong.append(f"exit code {ended.returncode}")
            if ended.returncode != 0 and os.strerror(error) not in ended.stderr and "could not be started" not in ended.stderr:
                wrong.append(f"it says: {ended.stderr}")
            others = {path.name for path in work.iterdir()} - set(files) - {"failed", "dump"}
            if others:
                wrong.append(f"it leaves {', '.join(others)}")
        elif ended.returncode != -9:
            wrong.append(f"it is not killed: exit code {ended.returncode}")
        return True, wrong


def main():
    failures = uses = 0
    for tool, arguments, files in RUNS:
        of_tool = 0
        for call, error in CALLS.items():
            if tool == "calibrate" and call == "pthread_create":
                continue  # those are threads of the stand-in
            for each in (error, 0):
                n, failed = 1, True
                while failed:
                    failed, wrong = run(tool, arguments, files, call, n, each)
                    for text in wrong:
                        failures += 1
                        print(f"{tool}: {call} {n} {'fails' if each else 'is where it is killed'}: {text}")
                    of_tool += failed
                    n += 1 + n // 4  # a dump has many files, each written in the same way
        print(f"{tool}: {of_tool} runs with a failure")
        if of_tool < 6:
            failures += 1
            print(f"{tool}: that is too few; do the calls still go through the library?")
        uses += of_tool
    print(f"{uses} runs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
