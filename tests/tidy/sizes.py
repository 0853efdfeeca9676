"""Small rooms: how long a file and a function may be, and who is over it.

ratchet.txt lists what was too long when the rule came, with its size. A listed
place may shrink and never grow; a new one must fit. A line is
"file PATH LINES" or "function PATH NAME LINES".
"""

import ast
import os

import cpp
from tree import CPP, Finding

FILE_LINES = 200
FUNCTION_LINES = 70
RATCHET = "tests/tidy/ratchet.txt"
_HEAD = """\
# What is longer than the house allows (a file of %d lines, a function of %d).
# Only ever shorter: tests/tidy/tidy.py --update-ratchet
""" % (FILE_LINES, FUNCTION_LINES)


def _python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def _functions(tree, path):
    if path.endswith(CPP):
        return cpp.functions(tree.code(path))
    if path.endswith(".py"):
        return list(_python_functions(tree.text(path)))
    return []


def too_long(tree):
    """{key: (lines, path, line)} of all that is over the limits."""
    found = {}
    for path in tree.paths:
        if not tree.is_code(path) or os.path.basename(path) == "BUILD":
            continue
        lines = tree.text(path).count("\n")
        if lines > FILE_LINES:
            found["file " + path] = (lines, path, 1)
        seen = {}
        for name, first, length in _functions(tree, path):
            seen[name] = seen.get(name, 0) + 1
            if length > FUNCTION_LINES:
                suffix = "/%d" % seen[name] if seen[name] > 1 else ""
                key = "function %s %s%s" % (path, name, suffix)
                found[key] = (length, path, first)
    return found


def read_ratchet(tree):
    if not tree.exists(RATCHET):
        return {}
    listed = {}
    for line in tree.text(RATCHET).splitlines():
        if line and not line.startswith("#"):
            key, lines = line.rsplit(" ", 1)
            listed[key] = max(int(lines), listed.get(key, 0))
    return listed


def check(tree):
    """Findings, and notes on lines of the ratchet that can be lowered."""
    found, listed = too_long(tree), read_ratchet(tree)
    for key, (lines, path, line) in sorted(found.items()):
        kind = key.split(" ")[0]
        limit = FILE_LINES if kind == "file" else FUNCTION_LINES
        allowed = listed.get(key, limit)
        if lines > allowed:
            name = " " + key.split(" ")[2] if kind == "function" else ""
            yield Finding("size", path, line, "%s%s has %d lines, allowed are "
                          "%d: split it by idea" % (kind, name, lines, allowed))


def notes(tree):
    found, listed = too_long(tree), read_ratchet(tree)
    for key, allowed in sorted(listed.items()):
        lines = found[key][0] if key in found else 0
        if lines < allowed:
            yield ("%s: %s is shorter now, lower the number: "
                   "tests/tidy/tidy.py --update-ratchet" % (RATCHET, key))


def update(tree, grow):
    """Rewrites the ratchet. Without `grow` no number rises and none is new."""
    found, listed = too_long(tree), read_ratchet(tree)
    lines = []
    for key, (size, _, _) in sorted(found.items()):
        if key in listed and not grow:
            size = min(size, listed[key])
        if key in listed or grow:
            lines.append("%s %d\n" % (key, size))
    with open(os.path.join(tree.root, RATCHET), "w", encoding="utf-8") as file:
        file.write(_HEAD + "".join(lines))
    return len(lines)
