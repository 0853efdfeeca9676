"""Rules about what stands in a source file."""

import re
import subprocess

import cpp
from tree import Finding, line_of

_EXCEPTION = re.compile(r"\b(throw|try|catch)\b")
_STATIC = re.compile(r"(?<![\w.])(static|thread_local)\s+(?!_)([^;{}()=]*)"
                     r"([;{(=])")


def guard_of(path):
    return re.sub(r"\W", "_", path).upper() + "_"


def header(tree):
    """A header says first what it is for, and has the guard of its path."""
    for path in tree.cpp():
        if not path.endswith(".h"):
            continue
        text, guard = tree.text(path), guard_of(path)
        if not text.startswith(("//", "/*")):
            yield Finding("header", path, 1, "opens with no comment: what it "
                          "is for, what it is not, why so")
        pattern = (r"#ifndef ((?:LOCKSTEP_)?%s)\n#define \1\n(?:.|\n)*"
                   r"\n#endif  // \1\n$" % guard)
        if not re.search(pattern, text):
            yield Finding("header", path, 1, "needs the guard " + guard)


def exception(tree):
    """Errors are values."""
    for path in tree.cpp():
        if tree.is_test(path):
            continue
        code = tree.code(path)
        for match in _EXCEPTION.finditer(code):
            yield Finding("exception", path, line_of(code, match.start()),
                          match.group(1) + ": errors are absl::Status, bugs "
                          "are LS_CHECK")


def _is_constant(declaration):
    """The variable itself is constant: `char const*` and `const char*` are
    pointers that can be turned elsewhere."""
    if re.search(r"\b(constexpr|consteval)\b", declaration):
        return True
    last = declaration.rsplit("*", 1)[-1]
    return re.search(r"\bconst\b", last) is not None


_NO_VARIABLE = re.compile(
    r"^\s*(using|typedef|template|class|struct|union|enum|extern|friend|"
    r"static_assert|namespace|return|public|private|protected|case|default)\b")


def _namespace_variable(text):
    declaration = text.split("=")[0].strip()
    if not declaration or _NO_VARIABLE.match(declaration):
        return False
    if "(" in declaration or "operator" in declaration:
        return bool(re.match(r"(static\s+|inline\s+|thread_local\s+)*"
                             r"(std::atomic|std::mutex|absl::Mutex)\b",
                             declaration))
    return (len(re.findall(r"\w+", declaration)) > 1
            and not _is_constant(declaration))


def _variables(code):
    """Offsets of what looks like a variable of a namespace, or a static."""
    for event in cpp.scopes(code):
        if event[0] == "statement" and event[3] == "namespace":
            text, at = event[1], event[2]
        elif (event[0] == "open" and event[1].kind == "other"
              and event[1].outer == "namespace"):
            text, at = event[1].head, event[1].start
        else:
            continue
        if _namespace_variable(text):
            yield at + len(text) - len(text.lstrip())
    for match in _STATIC.finditer(code):
        if match.group(3) != "(" and not _is_constant(match.group(2)):
            yield match.start()


def mutable_global(tree):
    """A rank is a value, since ranks can be threads of one process."""
    for path in tree.cpp():
        if tree.is_test(path):
            continue
        code = tree.code(path)
        for line in sorted({line_of(code, at) for at in _variables(code)}):
            yield Finding("mutable_global", path, line,
                          "state that no object owns: make it a member")


def formatted(tree):
    """One tool decides where lines break; tidy.py skips it where it lacks."""
    paths = tree.cpp()
    if not paths:
        return
    command = ["clang-format", "-n", "--Werror", "--style=file"] + paths
    run = subprocess.run(command, cwd=tree.root, stderr=subprocess.PIPE,
                         check=False)
    seen = set()
    for line in run.stderr.decode("utf-8", "replace").splitlines():
        match = re.match(r"(\S+?):(\d+):\d+: error:", line)
        if match and match.group(1) not in seen:
            seen.add(match.group(1))
            yield Finding("format", match.group(1), int(match.group(2)),
                          "clang-format -i would change this file")
    if run.returncode != 0 and not seen:
        yield Finding("format", ".clang-format", 1, "clang-format failed: "
                      + run.stderr.decode("utf-8", "replace")[:200])
