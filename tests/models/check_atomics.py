#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the table of docs/threads.md with the atomics of the sources.

    check_atomics.py <docs/threads.md> <folder>...

Below a heading that names a file of one of the folders, and after it others that use its atomics, stand rows: `name` | orders | pairs with |
why that suffices. Each std::atomic and Signal that a file declares has a row, with the memory orders of its calls;
an order more stands for a call through a pointer, so the file must at least use it.
"""
import pathlib
import re
import sys
from collections import Counter

DECLARATION = re.compile(r"(?:std::atomic<[^<>;()]*>{1,2}(?:, \w+>)?|\bSignal)\s+(\w+)\s*(?:\[[\w:]+\])?\s*(?:[{=;]|\(count\))")
CALL = r"\b%s(?:\[[^\]]*\])?(?:\.|->)(load|store|exchange|fetch_add|fetch_sub|compare_exchange_\w+|wait)\("


def code_of(path):
    return re.sub(r"//[^\n]*", "", path.read_text())


def orders_of(name, code):
    orders = set()
    for call in re.finditer(CALL % name, code):
        depth, end, own = 1, call.end(), ""
        while depth:
            depth += {"(": 1, ")": -1}.get(code[end], 0)
            own += code[end] if depth == 1 else ""
            end += 1
        orders.update(re.findall(r"memory_order_(\w+)", own) or ["seq_cst"])
    return orders


def rows_of(page):
    files = []
    for line in page.read_text().split("\n"):
        if line.startswith("#"):
            files = re.findall(r"`([\w/]+\.[ch]pp)`", line)
        row = re.match(r"\| `(\w+)`[^|]*\|([^|]*)\|[^|]*\|([^|]*)\|", line)
        if row:
            yield files, row.group(1), set(re.findall(r"[a-z_]+", row.group(2))), row.group(3).strip()


def main():
    page, *folders = (pathlib.Path(argument) for argument in sys.argv[1:])
    faults = []
    code = {str(path.relative_to(f)): code_of(path) for f in folders for path in sorted(f.rglob("*.[ch]pp"))}
    declared = Counter((file, name) for file, text in code.items() for name in DECLARATION.findall(text))
    listed = Counter()
    for files, name, orders, why in rows_of(page):
        if not files:
            faults.append(f"{name} stands below no header")
            continue
        listed[files[0], name] += 1
        used = set().union(*(orders_of(name, code.get(file, "")) for file in files))
        known = set().union(*(re.findall(r"memory_order_(\w+)", code.get(file, "")) for file in files))
        if not used and orders - known:
            faults.append(f"{files[0]}: {name} has no call that is seen, and no call has the orders that the page says")
        if used and not used <= orders <= used | known:
            faults.append(f"{files[0]}: {name} is used with {' '.join(sorted(used))}; the page says {' '.join(sorted(orders))}")
        if len(why) < 5:
            faults.append(f"{files[0]}: {name} does not say why its orders suffice")
    for key in sorted(set(declared) | set(listed)):
        if declared[key] != listed[key]:
            faults.append(f"{key[0]}: {key[1]} is declared {declared[key]} times and has {listed[key]} rows")
    for fault in faults:
        print(fault)
    print(f"{sum(declared.values())} atomics, {len(faults)} faults")
    return 1 if faults or not declared else 0


if __name__ == "__main__":
    sys.exit(main())
