"""The files of the house, read once.

Walks the top-level folders by name, so that what a build or a run leaves
beside them (bazel-*, runs) is never looked at. Not git: the test must work in
an unpacked archive too.
"""

import os
import re

import cpp

FOLDERS = ("determinism", "model", "parallel", "data", "ckpt", "tools",
           "recipes", "tests", ".ci")
CPP = (".h", ".cc", ".cu")
SCRIPTS = (".py", ".sh", ".bzl", ".BUILD")
TEXTS = (".md", ".toml", ".proto", ".txt")
_TEST_ONLY = re.compile(r"^\w+_test\(|\btestonly = True", re.MULTILINE)
_STRING = re.compile(r'"([^"\n]+)"')
_OF_A_RUN = "ledger.jsonl"
_RUN_DEPTH = 3  # folders below the root; texts of a user may lie deep


class Finding:
    """One breach of a rule: where, and what to do."""

    def __init__(self, rule, path, line, message):
        self.rule = rule
        self.path = path
        self.line = line
        self.message = message

    def __str__(self):
        return "%s:%d: %s: %s" % (self.path, self.line, self.rule, self.message)


class Tree:
    """Paths are relative to the root, with slashes, sorted."""

    def __init__(self, root):
        self.root = root
        self._texts = {}
        self._codes = {}
        self._testonly = None
        self.paths = sorted(self._walk())

    def _walk(self):
        for name in os.listdir(self.root):
            if os.path.isfile(os.path.join(self.root, name)):
                yield name
        for folder in FOLDERS:
            for at, folders, names in os.walk(os.path.join(self.root, folder)):
                folders[:] = [f for f in folders if f != "__pycache__"
                              and not at.endswith("tests/oracle")]
                for name in names:
                    path = os.path.join(at, name)
                    if os.path.isfile(path):
                        yield os.path.relpath(path, self.root)

    def run_folders(self):
        """Folders of runs, wherever git would take them for the house's."""
        ignored = {line.strip().strip("/") for line in
                   (self.text(".gitignore").splitlines()
                    if self.exists(".gitignore") else [])}
        for at, folders, names in os.walk(self.root):
            where = os.path.relpath(at, self.root)
            if where == ".":
                folders[:] = [f for f in folders if f not in ignored
                              and not f.startswith((".", "bazel-"))]
            if where.count("/") >= _RUN_DEPTH:
                folders.clear()
            if _OF_A_RUN in names:
                yield where

    def exists(self, path):
        return os.path.exists(os.path.join(self.root, path))

    def text(self, path):
        if path not in self._texts:
            with open(os.path.join(self.root, path), encoding="utf-8",
                      errors="surrogateescape") as file:
                self._texts[path] = file.read()
        return self._texts[path]

    def code(self, path):
        """C++ without comments, strings and directives; lines stay lines."""
        if path not in self._codes:
            self._codes[path] = cpp.strip(self.text(path))
        return self._codes[path]

    def cpp(self):
        return [p for p in self.paths if p.endswith(CPP)]

    def builds(self):
        return [p for p in self.paths if os.path.basename(p) == "BUILD"]

    def is_code(self, path):
        """C++, Python, Starlark, shell; a script may have no extension."""
        name = os.path.basename(path)
        if path.endswith(CPP + SCRIPTS) or name in ("BUILD", "WORKSPACE"):
            return True
        if name.startswith(".bazel") or name.startswith(".clang"):
            return True
        return "." not in name and self.text(path).startswith("#!")

    def is_test(self, path):
        """Test code: feeds no state, and may break things on purpose. By its
        place, its name, or its target, a test or testonly."""
        if self._testonly is None:
            self._testonly = set()
            for build in self.builds():
                for call in self.text(build).split("\n)"):
                    if _TEST_ONLY.search(call):
                        folder = os.path.dirname(build)
                        self._testonly |= {folder + "/" + name for name
                                           in _STRING.findall(call)}
        stem = os.path.splitext(os.path.basename(path))[0]
        return (path.startswith("tests/") or path in self._testonly
                or stem.endswith("_test") or "/selftest/" in path)

    def readable(self):
        """Everything a person wrote, prose included."""
        return [p for p in self.paths
                if p.endswith(TEXTS) or self.is_code(p)]


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
