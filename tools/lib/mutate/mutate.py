#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""tools/mutate [option]...

Changes one operator, one constant, the order of two statements, one memory order or one early return at a time in
the headers of args/, update/, session/ and the queues of devices, and reports the changes that no test notices. A
program of tests is compiled once for all mutants; the environment chooses the one that it runs.

  --only REGEX    only headers whose path matches
  --tests REGEX   only the sources of tests whose path matches; by default several that are cheap to compile
  --part K/N      the K-th of N parts of the mutants that some test reaches, so that a full run may take several days
  --sample N      N mutants, chosen at random from those that some test reaches
  --seed S        the seed of the random choice; default 1
  --effort S      runs tests of at most S seconds for a mutant, the cheapest ones first; by default all that reach it
  --least P       fail below this score, in percent; default 100
  --list          print the mutants and stop; fail if explained.txt names one that there is not
  --folder F      the build folder; default build/mutate

tools/lib/mutate/explained.txt names the mutants that do no harm, and says why; they are not run. The last lines state
the score, the share of the mutants that a test notices among those that some test reaches and that are not explained."""
import argparse
import hashlib
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LIB = Path(__file__).resolve().parent
ROOT = LIB.parent.parent.parent
sys.path.insert(0, str(LIB))
sys.dont_write_bytecode = True
from rewrite import Mutant, rewrite  # noqa: E402

HEADERS = [
    "rondo/args/**/*.hpp",
    "rondo/update/**/*.hpp",
    "rondo/session/**/*.hpp",
    "rondo/platform/saved_file*.hpp",
    "rondo/platform/sim/device_queue.hpp",
    "rondo/platform/streams/device_queue.hpp",
]
# Those that come first are cheap to compile, so most mutants never get to the others.
TESTS = [
    "unit/update/**/*_test.cpp",
    "unit/args/**/*_test.cpp",
    "unit/session/**/*_test.cpp",
    "unit/binding/*_test.cpp",
    "unit/launch/**/*_test.cpp",
    "unit/platform/sim/*_test.cpp",
    "unit/platform/streams/*_test.cpp",
    "conformance/*_test.cpp",
    "onboard/*_test.cpp",
]
# Sources in tests/stand_in of other libraries than the runtime's; that of the profiler's ranges is built beside it.
OTHER_STAND_INS = {"hccl.cpp", "ranks.cpp", "tools_ext.cpp"}
MEMORY_ORDER = re.compile(r"memory_order_(acquire|release|acq_rel|seq_cst)")
LIMIT_BYTES = 8 << 30
CLANGS = ["clang++-19", "clang++-22", "clang++-21", "clang++-20", "clang++-18", "clang++-17", "clang++-16", "clang++"]


def headers_of(include, only):
    found = {path for pattern in HEADERS for path in include.glob(pattern)}
    return sorted(path for path in found if re.search(only, str(path.relative_to(include))))


def write_forms(include, overlay, headers, skipped):
    """Writes the headers with all their mutants below `overlay`, and removes what other runs left there, whose mutants
    have the same numbers; returns the mutants."""
    mutants, first, seen = [], 0, {}
    kept = {overlay / path.relative_to(include) for path in headers}
    for path in set(overlay.rglob("*.hpp")) - kept:
        path.unlink()
    for path in headers:
        name = str(path.relative_to(include))
        suffixes = {}  # mutants that read the same are told apart by their number in the header
        for mutant in rewrite(name, path.read_text(), first)[1]:
            seen[mutant.key()] = seen.get(mutant.key(), 0) + 1
            suffixes[mutant.number] = f" ({seen[mutant.key()]})" if seen[mutant.key()] > 1 else ""
        text, own, first = rewrite(name, path.read_text(), first, skipped)
        for mutant in own:
            mutant.text += suffixes[mutant.number]
        for number, line in enumerate(text.split("\n"), 1):
            for match in re.finditer(r"RONDO_M\((\d+)\)", line):
                for mutant in own:
                    if mutant.number == int(match[1]):
                        mutant.place = (number, match.start(), 0)
        mutants += own
        target = overlay / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text() != text:
            target.with_suffix(".new").write_text(text)
            target.with_suffix(".new").rename(target)  # a compiler may be reading it
    return mutants


def suspects(output, overlay, mutants):
    """The mutants that cause the compiler's errors: of those in the same line, the last one that begins before the
    error."""
    by_line = {}
    for mutant in mutants:
        by_line.setdefault((str(overlay / mutant.file), mutant.place[0]), []).append(mutant)
    found = set()
    blocks = re.split(r"(?m)^(?=[^\n]*: (?:fatal )?error: )", output)
    for block in blocks[1:]:
        for kind in ("error", "note"):
            places = re.findall(rf"(?m)^([^\s:]+):(\d+):(\d+): (?:fatal )?{kind}: ", block)
            here = [(by_line[(file, int(line))], int(column)) for file, line, column in places if (file, int(line)) in by_line]
            if here:
                for group, column in here[:1]:
                    before = [m for m in group if m.place[1] <= column]
                    found.add(max(before, key=lambda m: m.place[1]).number if before else group[0].number)
                break
    return found


class Program:
    """The tests of one source, compiled with all mutants."""

    def __init__(self, source, folder, command, link):
        self.source, self.command, self.link = source, command, link
        name = str(source.relative_to(ROOT / "tests")).replace("/", "_").removesuffix(".cpp")
        self.object, self.path = folder / f"{name}.o", folder / name
        self.cases = []  # of each: seconds, name, mutants that it reaches

    def compile(self):
        done = subprocess.run(self.command + ["-c", str(self.source), "-o", str(self.object)], capture_output=True, text=True)
        return None if done.returncode == 0 else done.stderr

    def finish(self):
        subprocess.run(self.link + [str(self.object), "-o", str(self.path)] + ["-ldl", "-lpthread"], check=True)

    def read_cases(self, note):
        """Reads what mutant.hpp wrote. What is reached outside of test cases counts for each of them."""
        lines = [line.split("\t") for line in note.read_text().rstrip("\n").split("\n")]
        cases = [(float(seconds), name, set(map(int, numbers.split()))) for seconds, name, numbers in lines]
        outside = cases.pop()[2]
        self.cases = [(seconds, name, numbers | outside) for seconds, name, numbers in cases]

    def reached(self):
        return set().union(*(numbers for _, _, numbers in self.cases))

    def cases_of(self, mutant):
        """The seconds and the names of the test cases that reach a mutant."""
        chosen = [(seconds, name) for seconds, name, numbers in self.cases if mutant in numbers]
        return sum(seconds for seconds, _ in chosen), [name for _, name in chosen]

    def run(self, mutant, limit, cases=(), reached=None):
        """Whether the test cases, by default all, pass in time."""
        environment = dict(os.environ, RONDO_MUTANT=str(mutant), TMPDIR=str(self.path.parent))
        names = ",".join(name.replace(",", "\\,") for name in cases)
        if reached is not None:
            environment["RONDO_MUTANTS_REACHED"] = str(reached)

        def limits():
            os.setsid()
            resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))

        child = subprocess.Popen(
            [str(self.path), "--abort-after=1", "--minimal"] + ([f"--test-case={names}"] if cases else []),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            cwd=self.path.parent,
            env=environment,
            preexec_fn=limits,
        )
        try:
            return child.wait(limit) == 0
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return False


def memory_orders(include, headers):
    """Returns the mutants whose memory order is relaxed, each with the header's text before and after the order."""
    found = []
    for path in headers:
        text = path.read_text()
        for order in MEMORY_ORDER.finditer(re.sub(r"//[^\n]*", lambda m: " " * len(m[0]), text)):
            line = text.count("\n", 0, order.start())
            code = " ".join(text.split("\n")[line].split())
            mutant = Mutant(-1, str(path.relative_to(include)), line + 1, "memory order", order[1], "relaxed", code)
            found.append((mutant, text[: order.start()], text[order.end() :]))
    return found


def judge_memory_orders(include, orders, folder):
    """Yields each mutant of memory_orders() and whether a test notices it. On x86 no program can notice most of them, but
    the models and the table of docs/threads.md name the orders on which the proofs rest, and tests compare both with
    the headers; `folder` becomes a copy of these."""
    if folder.exists():
        shutil.rmtree(folder)
    shutil.copytree(include / "rondo", folder)
    checks = [
        [sys.executable, str(ROOT / "tests/models/check_atomics.py"), str(ROOT / "docs/threads.md"), str(folder)],
        [sys.executable, str(ROOT / "tests/models/check_steps.py"), str(ROOT / "tests/models"), str(folder)],
    ]
    for mutant, before, after in orders:
        copy = folder.parent / mutant.file
        text = copy.read_text()
        copy.write_text(f"{before}memory_order_relaxed{after}")
        yield mutant, any(subprocess.run(check, capture_output=True).returncode != 0 for check in checks)
        copy.write_text(text)


def part(text):
    """K/N as two numbers."""
    found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text)
    if not found or int(found[1]) > int(found[2]):
        raise argparse.ArgumentTypeError(f"{text} is no part; write 1/4 for the first of four")
    return int(found[1]), int(found[2])


def say(text):
    print(text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--tests", action="append")
    parser.add_argument("--part", type=part, default=(1, 1))
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--effort", type=float, default=float("inf"))
    parser.add_argument("--least", type=float, default=100)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--folder", type=Path, default=ROOT / "build/mutate")
    parser.add_argument("--include", type=Path, default=ROOT / "include", help=argparse.SUPPRESS)
    parser.add_argument("--compiler", default=next(filter(shutil.which, CLANGS), CLANGS[0]), help=argparse.SUPPRESS)
    options = parser.parse_args()
    include, folder = options.include.resolve(), options.folder.resolve()
    overlay = folder / "include"
    headers = headers_of(include, options.only)
    explained = explanations()

    mutants = write_forms(include, overlay, headers, ())
    if options.list:
        for mutant in mutants:
            say(f"{mutant.number}: {mutant.key()}")
        known = {mutant.key() for mutant in mutants} | {mutant.key() for mutant, *_ in memory_orders(include, headers)}
        files = {str(header.relative_to(include)) for header in headers}
        unknown = [key for key in explained if key.split(":")[0] in files and key not in known]
        for key in unknown:
            print(f"explained.txt names a mutant that there is not: {key}", file=sys.stderr)
        return 1 if unknown else 0

    patterns = [re.compile(p) for p in options.tests or [""]]
    sources = [s for glob in TESTS for s in sorted((ROOT / "tests").glob(glob))]
    sources = [s for p in patterns for s in sources if p.search(str(s.relative_to(ROOT / "tests")))]
    programs, skipped = build(options, include, overlay, headers, folder, list(dict.fromkeys(sources)))
    mutants = [m for m in write_forms(include, overlay, headers, skipped)]
    say(f"{len(mutants)} mutants that compile, {len(skipped)} that do not, in {len(headers)} headers; {len(programs)} programs")

    reached = set().union(*(p.reached() for p in programs))
    chosen = [m for m in mutants if m.number in reached]
    unreached = [m for m in mutants if m.number not in reached]
    k, parts = options.part
    chosen = chosen[len(chosen) * (k - 1) // parts : len(chosen) * k // parts]
    if options.sample:
        chosen = sorted(random.Random(options.seed).sample(chosen, min(options.sample, len(chosen))), key=lambda m: m.number)
    if not chosen:
        say("no mutant was chosen: the options leave none that a program runs")
        return 1
    known = sum(m.key() in explained for m in chosen)
    judged = [m for m in chosen if m.key() not in explained]
    survivors = []
    start = time.monotonic()

    def judge(mutant):
        spent = 0
        costs = [(program.cases_of(mutant.number), program) for program in programs]
        for (seconds, cases), program in sorted(((c, p) for c, p in costs if c[1]), key=lambda c: c[0][0]):
            spent += seconds
            if spent > options.effort:
                break
            if not program.run(mutant.number, 5 + 20 * seconds, cases):
                return mutant, True
        return mutant, False

    with ThreadPoolExecutor(options.jobs) as pool:
        for count, (mutant, is_noticed) in enumerate(pool.map(judge, judged), 1):
            if not is_noticed:
                survivors.append(mutant)
                say(f"survived  {mutant.file}:{mutant.line}: {mutant.key()}")
            if count % 100 == 0:
                say(f"{count} of {len(judged)} after {time.monotonic() - start:.0f} s, {len(survivors)} survived")

    is_whole = not options.sample and parts == 1
    orders = list(judge_memory_orders(include, memory_orders(include, headers), folder / "orders/rondo")) if is_whole else []
    kept = [mutant for mutant, is_noticed in orders if not is_noticed and mutant.key() not in explained]
    for mutant in kept:
        say(f"survived  {mutant.file}:{mutant.line}: {mutant.key()}")
    if unreached and is_whole:
        say(f"{len(unreached)} are in code that these programs do not run, or run in the compiler only:")
        for mutant in unreached:
            say(f"unreached {mutant.file}:{mutant.line}: {mutant.key()}")
    killed = len(judged) - len(survivors)
    score = 100 * killed / len(judged) if judged else 100
    say(f"{killed} of {len(judged)} mutants were noticed: {score:.1f} %; {known} more are explained")
    if orders:
        say(f"{len(orders) - len(kept)} of {len(orders)} memory orders that were relaxed differ from what docs/threads.md or a model says")
    return 1 if score < options.least or kept else 0


def explanations():
    """Each line: the name of a mutant, two blanks and a bar, and the reason why no test can notice it."""
    found = {}
    for line in (LIB / "explained.txt").read_text().split("\n"):
        if line and not line.startswith("#"):
            key, _, why = line.partition("  | ")
            found[key.strip()] = why.strip()
    return found


def build(options, include, overlay, headers, folder, sources):
    """Compiles the sources; returns the programs and the numbers of the mutants that do not compile."""
    folder.mkdir(parents=True, exist_ok=True)
    tests = ROOT / "tests"
    flags = ["-std=c++20", "-O0", "-w", "-ferror-limit=0", "-D_GLIBCXX_ASSERTIONS", "-Wno-c++11-narrowing", f"-I{overlay}", f"-I{include}", f"-I{tests}"]
    flags += [f"-I{tests / 'conformance'}", f"-I{ROOT}", "-DRONDO_PLATFORM=a2a3_sim", "-DDOCTEST_CONFIG_SUPER_FAST_ASSERTS", "-DFMT_SHARED"]
    flags += [f'-DRONDO_TEST_DATA_DIR="{tests / "data"}"']
    start = [options.compiler] + flags
    plain = [f for f in start if f != f"-I{overlay}"]
    prelude = folder / "prelude.hpp"
    standard = sorted({line for path in (include / "rondo").rglob("*.hpp") for line in re.findall(r"(?m)^#include <[a-z_0-9]+>$", path.read_text())})
    unlikely = {"#include <mpi>", "#include <generator>"}
    text = f'#include "{LIB / "mutant.hpp"}"\n#include <doctest/doctest.h>\n' + "\n".join(s for s in standard if s not in unlikely) + "\n"
    if not prelude.exists() or prelude.read_text() != text:
        prelude.write_text(text)
    subprocess.run(start + ["-x", "c++-header", str(prelude), "-o", f"{prelude}.pch"], check=True)
    main_object, cases_object, library = folder / "main.o", folder / "cases.o", folder / "libacl_rt.so"
    for source, target in ((tests / "unit/main.cpp", main_object), (LIB / "cases.cpp", cases_object)):
        used = [source, tests / "random.hpp", tests / "listener.hpp", LIB / "mutant.hpp"]
        if not target.exists() or target.stat().st_mtime < max(f.stat().st_mtime for f in used):
            subprocess.run(plain + ["-c", str(source), "-o", str(target)], check=True)
    needs_stand_in = any(s.relative_to(tests).parts[0] != "unit" for s in sources)
    stand_in = sorted(f for f in (tests / "stand_in").glob("*.cpp") if f.name not in OTHER_STAND_INS)
    stand_in += [ROOT / "examples/06_onboard_saxpy/device" / name for name in ("dispatch.cpp", "orchestrator.cpp")]
    if needs_stand_in and (not library.exists() or library.stat().st_mtime < max(f.stat().st_mtime for f in stand_in)):
        shared = ["-shared", "-fPIC", "-O1", f"-I{tests / 'stand_in/ascend_c'}", "-Wl,-Bsymbolic", "-o", str(library), "-ldl", "-lpthread"]
        subprocess.run(plain + [*map(str, stand_in), *shared], check=True)
        ranges = ["-shared", "-fPIC", "-o", str(folder / "libms_tools_ext.so")]
        subprocess.run(plain + [str(tests / "stand_in/tools_ext.cpp"), *ranges], check=True)
    command = start + ["-include-pch", f"{prelude}.pch"]
    link = [options.compiler, "-fuse-ld=lld" if lld() else "-O0", str(main_object), str(cases_object), f"-Wl,-rpath,{folder}", "-lfmt"]
    link += [str(library)] * needs_stand_in
    digest = hashlib.sha256("".join(f"{path}\n{path.read_text()}" for path in headers).encode()).hexdigest()
    skipped_file = folder / f"skipped_{digest[:16]}"  # their numbers are those of these headers
    skipped = set(map(int, skipped_file.read_text().split())) if skipped_file.exists() else set()
    lock, version = threading.Lock(), 0
    mutants = write_forms(include, overlay, headers, skipped)

    def compile_without_errors(program):
        """Leaves out the mutants that the compiler refuses. Other threads may do the same for other programs."""
        nonlocal mutants, version
        for _ in range(40):
            began = version
            errors = program.compile()
            if errors is None:
                return True
            with lock:
                if version != began:
                    continue  # the headers have changed meanwhile
                more = suspects(errors, overlay, mutants) - skipped
                if not more:
                    (folder / "errors").write_text(errors)
                    break
                skipped.update(more)
                skipped_file.write_text("\n".join(map(str, sorted(skipped))))
                mutants = write_forms(include, overlay, headers, skipped)
                version += 1
        say(f"{program.source.name} does not compile, and no mutant is to blame: see {folder / 'errors'}")
        return False

    def prepare(source):
        program = Program(source, folder, command, link)
        began = time.monotonic()
        if not compile_without_errors(program):
            return None
        program.finish()
        compiled = time.monotonic() - began
        began = time.monotonic()
        note = program.path.with_suffix(".reached")
        note.unlink(missing_ok=True)
        if not program.run(-1, 600, reached=note) or not note.exists():
            say(f"{source.name} fails without a mutant, and is left out")
            return None
        seconds = time.monotonic() - began
        program.read_cases(note)
        say(f"{source.relative_to(tests)}: compiled in {compiled:.0f} s, runs {seconds:.1f} s, reaches {len(program.reached())}")
        return program

    with ThreadPoolExecutor(options.jobs) as pool:
        programs = [program for program in pool.map(prepare, sources) if program]
    return programs, skipped


def lld():
    return subprocess.run(["which", "ld.lld"], capture_output=True).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
