# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Rondo's types in gdb: `source tools/debuggers/rondo_gdb.py`, or that line in ~/.gdbinit."""
import os
import re
import sys

import gdb
import gdb.printing

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rondo_summaries  # noqa: E402


class Value:
    def __init__(self, value):
        self.value = value

    def field(self, name):
        return Value(self.value[name])

    def number(self):
        return int(self.value)

    def enumerator(self):
        return str(self.value).rsplit("::", 1)[-1]

    def type_name(self):
        return str(self.value.type.strip_typedefs().unqualified())

    def elements(self):
        if self.value.type.strip_typedefs().code == gdb.TYPE_CODE_ARRAY:
            first, last = self.value.type.strip_typedefs().range()
            return [Value(self.value[i]) for i in range(first, last + 1)]
        if any(field.name == "__begin_" for field in self.value.type.strip_typedefs().fields()):  # libc++
            begin, end = self.value["__begin_"], self.value["__end_"]
        else:
            begin, end = (self.value["_M_impl"][part] for part in ("_M_start", "_M_finish"))
        return [Value((begin + i).dereference()) for i in range(int(end - begin))]


class Printer:
    def __init__(self, function, value):
        self.function = function
        self.value = value

    def to_string(self):
        return self.function(Value(self.value))


class PrinterWithChildren(Printer):
    def children(self):
        for name, child in rondo_summaries.CHILDREN[self.function](Value(self.value)):
            yield name, child.value if isinstance(child, Value) else child


class Lookup(gdb.printing.PrettyPrinter):
    def __init__(self):
        super().__init__("rondo", [])
        self.patterns = [(re.compile(pattern), function) for pattern, function in rondo_summaries.SUMMARIES.items()]

    def __call__(self, value):
        name = Value(value).type_name()
        for pattern, function in self.patterns:
            if pattern.match(name):
                has_children = function in rondo_summaries.CHILDREN and not re.match(rondo_summaries.SHAPED, name)
                return (PrinterWithChildren if has_children else Printer)(function, value)
        return None


gdb.printing.register_pretty_printer(gdb.current_objfile(), Lookup(), replace=True)
