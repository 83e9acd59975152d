# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a header in a form that holds all of its mutants, one of which the program chooses when it starts.

`RONDO_M(7)` is true in a program that runs mutant 7, and never while the compiler evaluates a constant. So `a < b`
becomes `(RONDO_M(7) ? a <= b : a < b)`, and one compilation serves all mutants. The text is read as clang-format writes
it, with blanks on both sides of a binary operator and on neither side of a template's brackets. Code that is misread
fails to compile, and the caller leaves it out."""
import re
from dataclasses import dataclass, field


@dataclass
class Mutant:
    number: int
    file: str
    line: int  # in the header
    kind: str
    before: str
    after: str
    text: str  # the header's line
    place: tuple = field(default=(0, 0, 0))  # in the form with mutants: line, first and last column

    def key(self):
        """The name of a mutant, valid as long as its line is not changed."""
        return f"{self.file}: {self.kind}: {self.before} -> {self.after}: {self.text}"


# From those that bind least. What stands for an operator that is changed.
LEVELS = [
    {"||": "&&"},
    {"&&": "||"},
    {"|": "&"},
    {"^": "|"},
    {"&": "|"},
    {"==": "!=", "!=": "=="},
    {"<": "<=", "<=": "<", ">": ">=", ">=": ">"},
    {"<<": ">>", ">>": "<<"},
    {"+": "-", "-": "+"},
    {"*": "/", "/": "*", "%": "/"},
]
ASSIGNMENTS = {"=": None, "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=", "*=": None, "/=": None, "^=": None, "<<=": None, ">>=": None}
OPEN, CLOSE = "([{", ")]}"
LITERAL = re.compile(r"(?<![\w.'<])(?:(\d+)([uU]?)|(true|false))(?![\w.'])")
SIMPLE = re.compile(r"(\+\+|--)?[\w:]+((\.|->|\[[^\]]*\]|\(.*\))\w*)*( [-+|&]?= .+)?;")
NOT_SIMPLE = re.compile(r"(return|using|static_assert|break|continue|throw|delete|co_|goto|else|case|default|RONDO_)")
LEAVES = re.compile(r"(?:\[\[\w+\]\] )?(return|continue|break)\b[^{}]*;$")


def blank_out(text):
    """The same text with blanks in place of comments, and with x in place of the contents of strings and characters."""
    pattern = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|(?<![0-9a-fA-F])'(?:\\.|[^'\\])+'", re.S)

    def blank(match):
        found = match[0]
        if found[0] == "/":
            return re.sub(r"[^\n]", " ", found)
        return found[0] + "x" * (len(found) - 2) + found[-1]

    return pattern.sub(blank, text)


def end_of_group(text, at):
    """The position at which the bracket that opens at `at` closes; -1 if it does not close."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in OPEN) - (text[i] in CLOSE)
        if depth == 0:
            return i
    return -1


def are_independent(one, other):
    """Whether two statements are assignments without calls, neither of which uses what the other assigns."""
    parts = [re.fullmatch(r"([\w.\->]+(?:\[\w+\][\w.]*)?) = ([^(]*);", statement) for statement in (one, other)]
    if not all(parts):
        return False
    (a, of_a), (b, of_b) = (part.groups() for part in parts)
    return not a.startswith(b) and not b.startswith(a) and a not in of_b and b not in of_a


def at_depth_0(text):
    """The text with everything in brackets replaced, so that patterns match only outside of brackets."""
    out, depth = [], 0
    for c in text:
        depth -= c in CLOSE
        out.append(c if depth == 0 else "\x01")
        depth += c in OPEN
    return "".join(out)


def join_lines(text):
    """The lines of a header without its comments, each statement on one of them: (number in the header, line, blanked)."""
    blanked = blank_out(text).split("\n")
    joined = []
    depth = 0
    for number, (line, code) in enumerate(zip(text.split("\n"), blanked), 1):
        code = code.rstrip()
        line = line[: len(code)]
        if not code or code.startswith("#"):
            if code:
                joined.append([number, line, code])
            continue
        last = joined[-1] if joined else None
        if last is not None and not last[2].startswith("#"):
            own = last[2].strip()
            continues = depth > 0 and not own.endswith(("{", ";"))
            continues |= bool(re.match(r"\s*(\|\||&&|\?|\+|-|==|: |<< )", code)) and not own.endswith((";", "{", "}"))
            continues |= bool(re.search(r"( [-+*|&=<>?:!]+|\breturn)$", own)) and not own.endswith(":")
            continues |= bool(re.match(r"(\} )?(else )?(if|for|while)\b", own)) and own.endswith((")", "]]"))
            if continues:
                last[1] += " " + line.strip()
                last[2] += " " + code.strip()
                depth = max(0, depth + sum((c in "([") - (c in ")]") for c in code))
                continue
        joined.append([number, line, code])
        depth = max(0, sum((c in "([") - (c in ")]") for c in code))
    return joined


class Rewriter:
    def __init__(self, file, text, first, skipped=()):
        self.file, self.next, self.skipped = file, first, set(skipped)
        self.source = text.split("\n")
        self.mutants = []
        self.line = 0

    def choice(self, kind, before, after):
        """The number of a new mutant; None if it is left out."""
        number = self.next
        self.next += 1
        if number in self.skipped:
            return None
        text = " ".join(self.source[self.line - 1].split())
        self.mutants.append(Mutant(number, self.file, self.line, kind, before, after, text))
        return number

    # --- expressions: text and the same text blanked

    def expression(self, text, code):
        flat = at_depth_0(code)
        found = re.search(r" ([-+*/|&^]|<<|>>)?= ", flat)
        if found:
            operator = found[0].strip()
            left, right = text[: found.start()], text[found.end() :]
            new_right = self.expression(right, code[found.end() :])
            other = ASSIGNMENTS.get(operator)
            number = self.choice("operator", operator, other) if other else None
            plain = f"{self.leaf(left, code[: found.start()])} {operator} {new_right}"
            return plain if number is None else f"(RONDO_M({number}) ? ({left} {other} {right}) : ({plain}))"
        question = flat.find(" ? ")
        if question >= 0:
            colon = self.colon_of(flat, question + 3)
            if colon < 0:
                return text
            parts = [(0, question), (question + 3, colon), (colon + 3, len(text))]
            a, b, c = (self.expression(text[i:j], code[i:j]) for i, j in parts)
            if not re.search(r" [=!<>]=? ", flat[:question]) and not code.startswith("!"):
                number = self.choice("operator", text[:question], f"!({text[:question]})")
                a = a if number is None else f"(RONDO_M({number}) != static_cast<bool>({a}))"
            return f"{a} ? {b} : {c}"
        for level in LEVELS:
            pattern = "|".join(re.escape(operator) for operator in sorted(level, key=len, reverse=True))
            hits = list(re.finditer(rf" ({pattern})(?= )", flat))
            if not hits:
                continue
            at, operator = hits[-1].start(), hits[-1][1]
            after = hits[-1].end() + 1
            left, right = text[:at], text[after:]
            if not left.strip() or not right.strip():
                return text
            a, b = self.expression(left, code[:at]), self.expression(right, code[after:])
            number = self.choice("operator", operator, level[operator])
            if number is None:
                return f"{a} {operator} {b}"
            return f"(RONDO_M({number}) ? ({left} {level[operator]} {right}) : ({a} {operator} {b}))"
        return self.leaf(text, code)

    @staticmethod
    def colon_of(flat, at):
        depth = 0
        for found in re.finditer(r" ([?:]) ", flat[at - 1 :]):
            if found[1] == "?":
                depth += 1
            elif depth == 0:
                return at - 1 + found.start()
            else:
                depth -= 1
        return -1

    def leaf(self, text, code):
        stripped = code.lstrip()
        if stripped.startswith("!") and not stripped.startswith("!="):
            at = len(code) - len(stripped)
            inner = self.leaf(text[at + 1 :], code[at + 1 :])
            number = self.choice("operator", "!", "")
            return f"{text[:at]}!{inner}" if number is None else f"{text[:at]}(RONDO_M({number}) != !{inner})"
        out, i = [], 0
        while i < len(code):
            if code[i] in OPEN:
                end = end_of_group(code, i)
                if end < 0:
                    return "".join(out) + text[i:]
                inner, inner_code = text[i + 1 : end], code[i + 1 : end]
                is_attribute = code[i : i + 2] == "[["
                is_capture = code[i] == "[" and (i == 0 or not re.match(r"[\w\])]", code[i - 1]))
                if is_attribute or is_capture:
                    out.append(text[i : end + 1])
                elif ";" in at_depth_0(inner_code):
                    out.append(code[i] + self.statements(inner, inner_code) + code[end])
                else:
                    out.append(code[i] + self.arguments(inner, inner_code) + code[end])
                i = end + 1
                continue
            found = LITERAL.match(code, i)
            if found and code[found.end() : found.end() + 1] != ">":
                out.append(self.literal(found))
                i = found.end()
                continue
            out.append(text[i])
            i += 1
        return "".join(out)

    def literal(self, found):
        if found[3]:
            other = "false" if found[3] == "true" else "true"
            number = self.choice("constant", found[3], other)
        else:
            other = str(int(found[1]) + 1) + found[2]
            number = self.choice("constant", found[0], other)
        return found[0] if number is None else f"(RONDO_M({number}) ? {other} : {found[0]})"

    def arguments(self, text, code):
        out, begin = [], 0
        flat = at_depth_0(code)
        for i in [m.start() for m in re.finditer(",", flat)] + [len(code)]:
            piece, piece_code = text[begin:i], code[begin:i]
            # What names a parameter or a designated member is no expression.
            if re.match(r"\s*(const )?[\w:<>, ]+[&*]*&? \w+( = .*)?$", piece_code) and not re.search(r" [-+*/<>=!&|%]+ ", piece_code):
                out.append(piece)
            else:
                lead = len(piece_code) - len(piece_code.lstrip())
                out.append(piece[:lead] + self.expression(piece[lead:], piece_code[lead:]))
            begin = i + 1
        return ",".join(out)

    # --- statements

    def statements(self, text, code):
        """The mutants of a body that is on one line."""
        out, begin = [], 0
        flat = at_depth_0(code)
        for found in re.finditer(";", flat):
            out.append(self.statement(text[begin : found.end()], code[begin : found.end()]))
            begin = found.end()
        return "".join(out) + text[begin:]

    def statement(self, text, code):
        lead = len(code) - len(code.lstrip())
        head, text, code = text[:lead], text[lead:], code[lead:]
        found = re.match(r"(\} )?else (?=\S)|(case [^:]|default)[^:]*:(?!:) |\} (?=while)|do ", code)
        if found and not code[found.end() :].startswith("{"):
            return head + text[: found.end()] + self.statement(text[found.end() :], code[found.end() :])
        found = re.match(r"(if|while|if constexpr|for|switch) \(", code)
        if found:
            end = end_of_group(code, found.end() - 1)
            if end < 0:
                return head + text
            inner, inner_code = text[found.end() : end], code[found.end() : end]
            rest, rest_code = text[end + 1 :], code[end + 1 :]
            if found[1] in ("if", "while"):
                inner = self.condition(found[1], inner, inner_code, rest_code.strip())
            elif found[1] == "for" and inner_code.count(";") == 2:
                a = inner_code.index(";") + 1
                b = inner_code.index(";", a)
                inner = (
                    inner[:a]
                    + " "
                    + self.expression(inner[a:b].strip(), inner_code[a:b].strip())
                    + "; "
                    + self.expression(inner[b + 1 :].strip(), inner_code[b + 1 :].strip())
                )
            if not rest_code.strip().endswith("{"):
                rest = self.statement(rest, rest_code)
            return head + text[: found.end()] + inner + ")" + rest
        if code.startswith("[["):
            end = code.index("]]") + 2
            return head + text[:end] + self.statement(text[end:], code[end:])
        if not code.endswith(";") or re.match(r"(using|static_assert|typedef|friend|template|goto|asm|class|struct)\b", code):
            return head + text
        found = re.match(r"(return|co_return|throw) ", code)
        start = found.end() if found else 0
        return head + text[:start] + self.expression(text[start:-1], code[start:-1]) + ";"

    def condition(self, word, text, code, rest):
        begin = at_depth_0(code).rfind(";") + 1
        begin += len(code[begin:]) - len(code[begin:].lstrip())
        own, own_code = text[begin:], code[begin:]
        if re.search(r"\w[&*]? \w+ = ", at_depth_0(own_code)):  # it declares what it tests
            return text
        new = self.expression(own, own_code)
        if word == "if" and LEAVES.match(rest):
            number = self.choice("early return", f"if ({own}) {rest.split(' ')[-1] if '[[' in rest else rest}", "")
            new = new if number is None else f"!RONDO_M({number}) && ({new})"
        elif not re.search(r" [=!<>]=? ", at_depth_0(own_code)) and not own_code.startswith("!"):
            number = self.choice("operator", own, f"!({own})")
            new = new if number is None else f"RONDO_M({number}) != static_cast<bool>({new})"
        return text[:begin] + new

    # --- a header

    def header(self):
        """All lines of the form with mutants."""
        out, scopes, since, before = [], [], "", None
        for number, line, code in join_lines("\n".join(self.source)):
            self.line = number
            first = len(self.mutants)
            scope = scopes[-1] if scopes else "type"
            stripped = code.strip()
            new = line
            if stripped.startswith("#") or re.match(r"(template|requires|concept|static_assert|using)\b", stripped):
                pass
            elif scope == "code":
                new = self.statement(line, code)
            else:
                found = re.search(r"\)[^{};]*\{ (.*) \}$", code)
                if found:
                    new = line[: found.start(1)] + self.statements(line[found.start(1) : found.end(1)], found[1]) + line[found.end(1) :]
            is_simple = scope == "code" and bool(SIMPLE.fullmatch(stripped)) and not NOT_SIMPLE.match(stripped)
            is_simple &= bool(re.search(r"[(=]|\+\+|--", stripped))
            if is_simple and before is not None and not are_independent(before, line.strip()):
                before_text = before
                swap = self.choice("order", before_text, line.strip())
                if swap is not None:
                    out[-1] = f"if (RONDO_M({swap})) {{ {line.strip()} {before_text} }} else {{ {out[-1].strip()} {new.strip()} }}"
                    new = None
                    for mutant in self.mutants:
                        if mutant.place[0] == len(out):
                            mutant.place = (len(out), 0, 0)
                before = None
            else:
                before = line.strip() if is_simple else None
            if new is not None:
                out.append(new)
            for mutant in self.mutants[first:]:
                mutant.place = (len(out), 0, 0)
            if stripped.startswith("#"):
                continue
            for c in code:
                if c == "{":
                    head = since.strip()
                    is_type = re.search(r"\b(class|struct|union|enum|namespace)\b", head) and not re.search(r"\)\s*(const|noexcept|->|$)", head)
                    is_code = not is_type and (")" in head or bool(scopes and scopes[-1] == "code"))
                    scopes.append("code" if is_code else "type" if is_type else "init")
                elif c == "}" and scopes:
                    scopes.pop()
                since = "" if c in ";{}" else since + c
            since += " "
        return out


def rewrite(file, text, first, skipped=()):
    """The header's form with mutants, and the mutants, numbered from `first`; those that are skipped keep their numbers."""
    rewriter = Rewriter(file, text, first, skipped)
    lines = rewriter.header()
    return "\n".join(lines) + "\n", rewriter.mutants, rewriter.next
