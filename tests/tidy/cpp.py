"""As much of C++ as the rules need: where comments, scopes and functions are.

Not a parser. It knows strings, directives and braces, and takes a brace for a
function's when what stands before it has parentheses and lies in a namespace
or a class. The house's code is formatted by one tool, which makes that enough;
the canaries say what it must see.
"""

import re

_RAW = r'R"(?P<mark>[^\s()\\]{0,16})\((?:.|\n)*?\)(?P=mark)"'
_TOKENS = re.compile(
    _RAW + r'|//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_NAME = re.compile(r"([~\w:]+)\s*\(")
_TEST = re.compile(r"\b\w*TEST\w*\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)")
_NOT_NAMES = ("__attribute__", "alignas", "decltype", "requires", "noexcept")


def _blank(match):
    """Spaces of the same shape; strings stay visible as empty strings."""
    token = match.group(0)
    lines = "\n" * token.count("\n")
    if token.startswith("/"):
        return " " + lines
    return ("''" if token.startswith("'") else '""') + lines


def strip(text):
    """Without comments, the insides of strings, and directives."""
    text = _TOKENS.sub(_blank, text)
    return _DIRECTIVE.sub(lambda m: "\n" * m.group(0).count("\n"), text)


class Scope:
    """A pair of braces. kind: namespace, class, function, init, other; outer:
    the kind of the scope around it; start: of the head, in characters."""

    def __init__(self, kind, outer, head, start):
        self.kind = kind
        self.outer = outer
        self.head = head
        self.start = start


def _kind(head, inside):
    words = head.strip()
    if inside not in ("namespace", "class"):
        return "other"
    if re.search(r"\bnamespace\b", words) or words == 'extern ""':
        return "namespace"
    if re.search(r"\)[^()]*:[^:]", words) and re.search(r"[\w>]$", words):
        return "init"  # a member's braces in a constructor's list
    before = words.split("(")[0]
    if "(" in words and not re.search(r"(?<![=!<>])=(?!=)", before):
        if not re.search(r"^\s*(class|struct|union|enum)\b[^()]*$", words):
            return "function"
    if re.search(r"\b(class|struct|union|enum)\b", words):
        return "class"
    return "other"


def scopes(code):
    """Yields ("open", Scope), ("close", Scope, offset) and, in namespaces and
    classes, ("statement", text, offset, kind of the scope around it)."""
    stack = [Scope("namespace", "", "", 0)]
    start = 0
    depth = 0  # of parentheses: a brace inside them is an argument's
    for match in re.finditer(r"[{};()]", code):
        token, at = match.group(0), match.start()
        if token in "()":
            depth += 1 if token == "(" else -1
        elif depth > 0:
            continue
        elif token == ";":
            if stack[-1].kind in ("namespace", "class"):
                yield "statement", code[start:at], start, stack[-1].kind
            start = at + 1
        elif token == "{":
            head = code[start:at]
            outer = stack[-1].kind
            scope = Scope(_kind(head, outer), outer, head, start)
            stack.append(scope)
            yield "open", scope
            if scope.kind != "init":
                start = at + 1
        else:
            scope = stack.pop() if len(stack) > 1 else stack[0]
            yield "close", scope, at
            if scope.kind != "init":
                start = at + 1


def _function_name(head):
    test = _TEST.search(head)
    if test:
        return test.group(1) + "." + test.group(2)
    head = re.sub(r"^\s*(public|private|protected)\s*:(?!:)", "", head)
    for match in _NAME.finditer(head):
        if match.group(1) not in _NOT_NAMES:
            return match.group(1)
    return "operator"


def functions(code):
    """(name, first line, lines) of each function with a body."""
    found = []
    for event in scopes(code):
        if event[0] != "close" or event[1].kind != "function":
            continue
        scope, end = event[1], event[2]
        blank = len(scope.head) - len(scope.head.lstrip())
        first = code.count("\n", 0, scope.start + blank) + 1
        last = code.count("\n", 0, end) + 1
        found.append((_function_name(scope.head), first, last - first + 1))
    return found
