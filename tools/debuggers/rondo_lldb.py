# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Rondo's types in lldb: `command script import tools/debuggers/rondo_lldb.py`, or that line in ~/.lldbinit."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rondo_summaries  # noqa: E402


class Value:
    def __init__(self, value):
        self.value = value

    def field(self, name):
        found = self.find(self.value, name)
        if found is None:
            raise KeyError(name)
        return Value(found)

    @staticmethod
    def find(value, name):
        member = value.GetChildMemberWithName(name)
        if member.IsValid():
            return member
        for i in range(value.GetType().GetNumberOfDirectBaseClasses()):
            found = Value.find(value.GetChildAtIndex(i), name)
            if found is not None:
                return found
        return None

    def number(self):
        return self.value.GetValueAsUnsigned()

    def enumerator(self):
        return self.value.GetValue().rsplit("::", 1)[-1]

    def type_name(self):
        return self.value.GetType().GetCanonicalType().GetUnqualifiedType().GetName()

    def elements(self):
        # A vector's synthetic children, which lldb itself provides, or an array's own.
        self.value.SetPreferSyntheticValue(True)
        children = [self.value.GetChildAtIndex(i) for i in range(self.value.GetNumChildren())]
        for child in children:
            child.SetPreferSyntheticValue(False)
        return [Value(child) for child in children]


def summarise(function):
    def one_line(value, _):
        wrapped = Value(value.GetNonSyntheticValue())
        lines = [function(wrapped)]
        if function in rondo_summaries.CHILDREN and not re.match(rondo_summaries.SHAPED, wrapped.type_name()):
            for name, child in rondo_summaries.CHILDREN[function](wrapped):
                lines.append(f"{name}: {rondo_summaries.graph(child) if isinstance(child, Value) else child}")
        return "\n  ".join(lines)

    return one_line


def __lldb_init_module(debugger, _):
    for pattern, function in rondo_summaries.SUMMARIES.items():
        name = f"summary_of_{function.__name__}"
        globals()[name] = summarise(function)
        debugger.HandleCommand(f"type summary add --python-function {__name__}.{name} --regex '{pattern}'")
