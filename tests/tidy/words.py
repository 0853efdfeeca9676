"""Rules about words, in prose and code alike."""

import re

from tree import Finding, line_of

_HERE = "tests/tidy/"  # these files name what they forbid
_LATER = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
_WORDS = (
    (re.compile(r"/work/|/tmp/lk\b"), "a path of one machine"),
    (re.compile(r"\b(pypi\.org|pythonhosted\.org|proxy\.golang\.org|"
                r"npmjs\.(?:org|com)|crates\.io|ghcr\.io|docker\.io|"
                r"quay\.io|deb\.debian\.org|mirrors?\.[\w.-]+)\b"),
     "a registry's host"),
    (re.compile(r"\b[Ss]essions?\b"), "who wrote it, and when, is no part"),
    (re.compile(r"\b[Ii]ssue #?\d+\b|(?<![\w/#&])#\d+\b"),
     "a number that means something elsewhere only; cite owner/repo#N"),
)


def later(tree):
    """What is missing is done or listed in a document, not marked in code."""
    for path in tree.readable():
        if path.startswith(_HERE):
            continue
        text = tree.text(path)
        for match in _LATER.finditer(text):
            yield Finding("later", path, line_of(text, match.start()),
                          match.group(0) + ": do it, or say it in a document")


def words(tree):
    """The project speaks of itself alone."""
    for path in tree.readable():
        if path.startswith(_HERE):
            continue
        text = tree.text(path)
        for pattern, why in _WORDS:
            for match in pattern.finditer(text):
                yield Finding("words", path, line_of(text, match.start()),
                              "'%s': %s" % (match.group(0).strip(), why))
