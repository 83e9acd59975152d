# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""The texts that debuggers show for Rondo's types, for rondo_gdb.py and rondo_lldb.py.

Each function takes a value of the debugger, wrapped in a class with

    field(name)     a member, also of a base class
    number()        an integer, or the number of an enumerator
    enumerator()    an enumerator's name without its scope
    elements()      the elements of a std::vector or of an array
    type_name()     the name of the type, with template arguments

SUMMARIES maps the pattern of a type's name to a function that returns one line; CHILDREN maps some of the patterns to a
function that returns pairs of a name and a line or a wrapped value."""
import itertools

DIRECTIONS = ("in", "out", "inout", "resident", "workspace", "host_input", "session_value")


def many(count, noun):
    return f"{count} {noun}" + ("" if count == 1 else "s")


def address_of(pointer):
    return pointer.field("address_").number()


def device_ptr(value):
    address = address_of(value)
    return f"device {address:#x}" if address else "device null"


def device_span(value):
    return f"{device_ptr(value.field('data_'))}, {many(value.field('size_').number(), 'element')}"


def bytes_(value):
    return f"{value.field('value').number()} B"


def status(value):
    text = value.field("code_").enumerator()
    subject = value.field("subject_").enumerator()
    if subject != "none":
        text += f", {subject} {value.field('index_').number()}"
    if value.field("poisons_").number():
        text += ", poisons the session"
    return text


def text(value):
    size = value.field("size_").number()
    characters = itertools.islice(value.field("data_").elements(), size)
    return bytes(c.number() & 0xFF for c in characters).decode("utf-8", "replace")


def tensor_handle(value):
    element, direction = value.type_name().split("<", 1)[1].rsplit(">", 1)[0].rsplit(",", 1)
    direction = direction.strip()
    # g++ 12 writes (rondo::Direction)2, others rondo::Direction::inout.
    number = direction.rsplit(")", 1)[-1]
    direction = DIRECTIONS[int(number)] if number.isdigit() else direction.rsplit("::", 1)[-1]
    key = value.field("key").field("value").number()
    return f"{direction} {element}, tensor {key & 0xFFFFFFFF} of graph {key >> 32}"


def shape(value):
    extents = value.field("extents_").elements()[: value.field("rank_").number()]
    return "[" + ", ".join(str(extent.number()) for extent in extents) + "]"


def graph(value):
    tag = value.field("tag_").number()
    return f"graph {tag}: {many(len(value.field('tensors_').elements()), 'tensor')}, {many(len(value.field('tasks_').elements()), 'task')}"


def graph_children(value):
    text = value.field("text_").elements()

    def name(record):
        begin, size = (record.field("name").field(part).number() for part in ("begin", "size"))
        return bytes(letter.number() & 0xFF for letter in text[begin : begin + size]).decode("utf-8", "replace")

    for number, tensor in enumerate(value.field("tensors_").elements()):
        kind = f"{tensor.field('direction').enumerator()} {tensor.field('type').enumerator()}"
        is_symbolic = tensor.field("symbolic").number() != 0xFFFFFFFF
        extents = "of symbolic shape" if is_symbolic else shape(tensor.field("shape"))
        line = f"'{name(tensor)}' {kind} {extents}, {tensor.field('bytes').number()} B"
        yield f"tensor {number}", line
    for task in value.field("tasks_").elements():
        counts = f"{many(task.field('blocks').number(), 'block')}, {many(task.field('arg_count').number(), 'argument')}"
        yield f"task {task.field('added_as').number()}", f"'{name(task)}' {task.field('core').enumerator()}, {counts}"


def state(value):
    return value.field("state_").enumerator()


def round_session(value):
    return f"{state(value)} after {many(value.field('rounds_').number(), 'round')}"


def in_flight(value):
    most = value.field("shared_").field("most_in_flight").number()
    flying = f"{value.field('in_flight_').number()} of {most} in flight"
    return f"{state(value)} after {many(value.field('submitted_').number(), 'submitted round')}, {flying}"


def session_children(value):
    yield "graph", value.field("graph_")
    yield "arena", device_ptr(value.field("arena_base_"))
    cause = text(value.field("cause_"))
    if cause:
        yield "poisoned by", cause


def pipelined_children(value):
    yield from session_children(value)
    if value.field("in_flight_").number():
        oldest, following = value.field("oldest_").number(), value.field("next_slot_").number()
        yield "slots", f"the oldest round is in slot {oldest}, the next goes to slot {following}"
    if value.field("first_failure_").field("code_").number():
        yield "first failure", status(value.field("first_failure_"))


SUMMARIES = {
    r"^rondo::DevicePtr<.*>$": device_ptr,
    r"^rondo::DeviceSpan<.*>$": device_span,
    r"^rondo::Bytes$": bytes_,
    r"^rondo::Status$": status,
    r"^rondo::TensorHandle<.*>$": tensor_handle,
    r"^rondo::Shape$": shape,
    r"^rondo::(TaskGraph|FrozenGraph)$": graph,
    r"^rondo::RoundSession<.*>$": round_session,
    r"^rondo::(PipelinedSession|ShapedSession)<.*>$": in_flight,
}
CHILDREN = {
    graph: graph_children,
    round_session: session_children,
    in_flight: pipelined_children,
}
# A ShapedSession has a graph for each of its shapes.
SHAPED = r"^rondo::ShapedSession<.*>$"
