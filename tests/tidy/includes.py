"""A file includes what it uses, of the headers that every build parses first.

tools/bazel/pch.bzl puts these headers before each file, so GCC no longer says
when one is missing; builds without it (Clang's) would break. As the compiler
did before, the rule is content with a header that one of ours brings along.
"""

import re

from tree import Finding, line_of

# What a use looks like, and the header that declares it.
_USES = (
    (r"std::string\b(?!_view)", "string"),
    (r"std::vector\b", "vector"),
    (r"std::(?:multi)?map\b", "map"),
    (r"std::(?:unique_ptr|shared_ptr|make_unique|make_shared)\b", "memory"),
    (r"std::(?:optional|nullopt)\b", "optional"),
    (r"std::function\b", "functional"),
    (r"absl::Status\b", "absl/status/status.h"),
    (r"absl::StatusOr\b", "absl/status/statusor.h"),
    (r"absl::Str(?:Cat|Append)\b", "absl/strings/str_cat.h"),
    (r"absl::(?:Span|MakeSpan|MakeConstSpan)\b", "absl/types/span.h"),
)
_USES = tuple((re.compile(use), header) for use, header in _USES)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+["<]([^">]+)[">]',
                      re.MULTILINE)
# Headers that promise others.
_BRINGS = {"absl/status/statusor.h": {"absl/status/status.h"}}


def _included(tree, path, seen):
    """Names of all headers that `path` includes, through ours too."""
    if path in seen:
        return set()
    seen.add(path)
    found = set()
    for name in _INCLUDE.findall(tree.text(path)):
        found.add(name)
        found |= _BRINGS.get(name, set())
        if tree.exists(name):
            found |= _included(tree, name, seen)
    return found


def included(tree):
    """The rule."""
    for path in tree.cpp():
        code = tree.code(path)
        have = None
        for use, header in _USES:
            match = use.search(code)
            if not match:
                continue
            if have is None:
                have = _included(tree, path, set())
            if header not in have:
                yield Finding("included", path, line_of(code, match.start()),
                              "%s needs #include <%s>"
                              % (match.group(0), header))
