#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""check_calls.py [--objdump PROGRAM] <source> <compiler> <flag>...

Compiles <source>, disassembles the functions that it names, and checks what they call. Calls into functions of the same
object file are followed, so that the answer covers all code that is reached. x86-64 only.

The directives are comment lines at the top of the source:
  // function: <name>      a function to look at, by its symbol (extern "C"); one or more
  // allow: <regex>        what may be called: must match the whole symbol, mangled or demangled. An allowed function
                           is not looked into. Any number; none means that nothing may be called
  // indirect: <n>         how many indirect call instructions there may be at most; 0 if not stated
  // instructions: <regex> instructions to let pass that are refused otherwise: system calls, clock reads, and locked
                           or serialising memory operations
  // flags: <flag>...      further compiler flags
A source whose name begins with rejected_ tests this program: it must be refused, and each
  // expect: <text>        must be part of the reasons.
"""
import os
import re
import subprocess
import sys
import tempfile

# Instructions that are a clock read, a system call, or a lock in themselves, with no call to show for it.
REFUSED = re.compile(r"(rdtscp?|rdpmc|syscall|sysenter|int|[ml]fence|lock|xacquire|cpuid|rdrand|pause)\b")
CALL = re.compile(r"(?:bnd |notrack |data16 |rex\.W )*(callq?|jmpq?|j[a-z]+)\s+(.*)")


def run(command):
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{result.stdout}{result.stderr}")
    return result.stdout


def directives(path):
    found = {"function": [], "allow": [], "indirect": [], "instructions": [], "flags": [], "expect": []}
    with open(path, encoding="utf-8") as source:
        for line in source:
            if not line.startswith("//"):
                break
            match = re.match(r"// ([a-z]+): *(.+?) *$", line)
            if match and match[1] in found:
                found[match[1]].append(match[2])
    return found


class Object:
    """The functions of an object file: the instructions of each, and the targets of its jumps and calls."""

    def __init__(self, path, objdump):
        self.symbols = {}  # (section, address) -> name
        self.sizes = {}
        for line in run([objdump, "-t", path]).splitlines():
            match = re.match(r"([0-9a-f]{16}) (.{7}) (\S+)\s+([0-9a-f]{16})\s+(?:\.hidden )?(\S.*)$", line)
            if match and "F" in match[2]:
                self.symbols[match[3], int(match[1], 16)] = match[5]
                self.sizes[match[5]] = int(match[4], 16)
        self.functions = {}  # name -> [(instruction text, target)]
        self.read(run([objdump, "-d", "-r", "-w", "--no-show-raw-insn", path]))

    def at(self, section, address):
        """The function that holds an address: compilers may refer to static code by section and offset."""
        best = None
        for (symbol_section, start), name in self.symbols.items():
            if symbol_section == section and start <= address < start + max(self.sizes[name], 1):
                best = name
        return best

    def read(self, listing):
        section, body, name = None, None, None
        for line in listing.splitlines():
            if match := re.match(r"Disassembly of section (\S+):", line):
                section = match[1]
            elif match := re.match(r"[0-9a-f]+ <(.+)>:$", line):
                name = match[1]
                body = self.functions.setdefault(name, [])
            elif match := re.match(r"\s*[0-9a-f]+:\t(.+?)\s*$", line):
                text, _, relocation = match[1].partition("\t")
                target = None
                call = CALL.match(text)
                if call and not call[2].startswith("*"):
                    target = self.target(section, call[2], relocation)
                    if target == name:
                        target = None  # a jump within the function
                body.append((text, target))

    def target(self, section, operand, relocation):
        match = re.search(r"R_X86_64_\S+\s+(\S+?)([+-]0x[0-9a-f]+)?$", relocation)
        if match:
            symbol, addend = match[1], int(match[2] or "0", 16)
            if symbol.startswith("."):  # relative to the end of a four-byte field
                return self.at(symbol, addend + 4) or f"{symbol}{addend + 4:+#x}"
            return symbol
        match = re.match(r"([0-9a-f]+)", operand)
        return self.at(section, int(match[1], 16)) if match else operand


def demangle(names):
    if not names:
        return {}
    names = sorted(names)
    return dict(zip(names, run(["c++filt", *names]).splitlines()))


def check(source, compiler, objdump):
    """The reasons to refuse the source; none if it is accepted."""
    wanted = directives(source)
    if not wanted["function"]:
        sys.exit(f"{source}: names no function; the first lines must hold '// function: <symbol>'")
    flags = [flag for line in wanted["flags"] for flag in line.split()]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "code.o")
        # Without jump tables each indirect jump is a call in tail position.
        run([*compiler, *flags, "-fno-jump-tables", "-c", "-o", path, source])
        code = Object(path, objdump)

    targets = {t for body in code.functions.values() for _, t in body if t}
    plain = demangle(targets | set(code.functions))
    allow = [re.compile(pattern) for pattern in wanted["allow"]]
    excepted = [re.compile(pattern) for pattern in wanted["instructions"]]

    def allowed(name):
        bare = re.sub(r"@.*", "", name)
        return any(p.fullmatch(n) for p in allow for n in (name, bare, plain.get(name, name)))

    reasons, calls, indirect, count = [], {}, [], 0
    seen, todo = set(), list(wanted["function"])
    for name in todo:
        if name not in code.functions:
            reasons.append(f"function {name} is not in the object file")
    while todo:
        name = todo.pop()
        if name in seen or name not in code.functions:
            continue
        seen.add(name)
        if not code.functions[name]:
            reasons.append(f"function {name} has no instructions")
        for text, target in code.functions[name]:
            count += 1
            where = f"in {plain.get(name, name)}: {text}"
            if REFUSED.match(text) or re.match(r"xchg\b.*\(", text):
                if not any(p.search(text) for p in excepted):
                    reasons.append(f"instruction {where}")
            call = CALL.match(text)
            if call and call[2].startswith("*"):
                indirect.append(where)
            if not target:
                continue
            calls[target] = calls.get(target, 0) + 1
            if allowed(target):
                continue
            if target in code.functions:
                todo.append(target)
            else:
                reasons.append(f"call of {plain.get(target, target)} {where}")

    limit = sum(int(n) for n in wanted["indirect"])
    if len(indirect) > limit:
        reasons.append(f"{len(indirect)} indirect calls, of which {limit} may be:")
        reasons.extend(f"  {line}" for line in indirect)
    print(f"{os.path.basename(source)}: {count} instructions in {len(seen)} functions, {len(indirect)} indirect calls")
    for target in sorted(calls):
        verdict = "allowed" if allowed(target) else "followed" if target in code.functions else "refused"
        print(f"  {verdict}: {plain.get(target, target)} ({calls[target]})")
    return reasons, wanted["expect"]


def main(arguments):
    objdump = "objdump"
    if arguments[:1] == ["--objdump"]:
        objdump, arguments = arguments[1], arguments[2:]
    source, compiler = arguments[0], arguments[1:]
    reasons, expected = check(source, compiler, objdump)
    for reason in reasons:
        print(f"  {reason}")
    if not os.path.basename(source).startswith("rejected_"):
        return 1 if reasons else 0
    missing = [text for text in expected if not any(text in reason for reason in reasons)]
    if not reasons or not expected or missing:
        print(f"must be refused for what its expect lines say; missing: {missing}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
