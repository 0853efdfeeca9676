"""Rules about how files refer to each other."""

import os
import re

from tree import CPP, FOLDERS, Finding, line_of

_CALL = re.compile(r"^(\w+)\(", re.MULTILINE)
_STRING = re.compile(r'"([^"\n]*)"')
_KERNELS = "model/kernels/"
_LIST = "model/kernels/all_kernels.cc"
_LEVELS = re.compile(r'^lockstep_isa_library\(\s*name = "([^"]+)"', re.MULTILINE)
# What exists at several levels and is no operation on tensors: random bits,
# fingerprints and functions, which tests of their own compare; probes.
_NO_OPERATIONS = {
    "determinism/philox_kernel", "determinism/fingerprint_kernel",
    "determinism/math_array_kernel", "model/kernels/register_peak_kernel",
    "model/kernels/simd_check", "tools/doctor/functions_kernel",
    "tools/bazel/selftest/isa_probe"
}


def _targets(text):
    """(macro, strings) of each call at the left margin of a BUILD file."""
    for match in _CALL.finditer(text):
        end = text.find("\n)", match.end())
        line_end = text.find("\n", match.end())
        if text[match.end():line_end].rstrip().endswith(")"):
            end = line_end
        yield match.group(1), set(_STRING.findall(text[match.end():end]))


def _package(tree, path):
    """The nearest folder above with a BUILD file, or None."""
    folder = os.path.dirname(path)
    while folder:
        if folder + "/BUILD" in tree.paths:
            return folder
        folder = os.path.dirname(folder)
    return None


def _makes_tests(macro):
    return macro.endswith("_test") or macro == "test_suite"


def leavings(tree):
    """No run lies where `git add` takes it along."""
    for folder in tree.run_folders():
        yield Finding("leavings", folder, 1,
                      "a run's folder: keep runs below runs/, or elsewhere")


def built(tree):
    """Every source is compiled and every test runs: a file that no BUILD lists
    is dead, and looks alive."""
    tests, sources = {}, {}
    for build in tree.builds():
        folder = os.path.dirname(build)
        for macro, strings in _targets(tree.text(build)):
            sources.setdefault(folder, set()).update(strings)
            if _makes_tests(macro):
                tests.setdefault(folder, set()).update(strings)
    for path in tree.paths:
        stem, extension = os.path.splitext(path)
        test = stem.endswith("_test") and extension in (".cc", ".cu", ".sh",
                                                        ".py")
        if not test and extension not in CPP:
            continue
        folder = _package(tree, path)
        listed = tests if test else sources
        name = os.path.relpath(path, folder) if folder else path
        shared = path == "tools/bazel/isa_symbols_test.sh"  # a macro's script
        if name not in listed.get(folder, ()) and not shared:
            yield Finding("built", path, 1, "no %s in %s/BUILD lists it" %
                          ("test" if test else "target", folder or "any"))


def registered(tree):
    """Every kernel has a folder, and its folder a line in the registry."""
    if _LIST not in tree.paths:
        return
    text = tree.text(_LIST)
    for build in tree.builds():
        folder = os.path.dirname(build)
        name = os.path.basename(folder)
        for target in _LEVELS.findall(tree.text(build)):
            path = "%s/%s" % (folder, target)
            own = path == "%s%s/%s_kernel" % (_KERNELS, name, name)
            if not own and path not in _NO_OPERATIONS:
                yield Finding("registered", build, 1,
                              "%s is one kernel a folder of %s" %
                              (path, _KERNELS))
        if folder != _KERNELS + name:
            continue
        header = "%s/%s.h" % (folder, name)
        if '#include "%s"' % header not in text:
            yield Finding("registered", build, 1,
                          "%s needs %s" % (_LIST, header))


_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")
_QUOTED = re.compile(r"`([\w./-]+)`")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_DOCUMENT = re.compile(r"(?:[a-z][\w]*/)*\b[A-Z][A-Z_]+\.md\b")
_EQUATIONS = "model/MODEL.md"
_HEADING = re.compile(r"^#+ ([\d.]*\d)", re.MULTILINE)
_SECTION = re.compile(r"\bMODEL (?:section )?(\d+(?:\.\d+)?)")
_SOURCE = re.compile(r"\w\.(md|h|cc|cu|py|sh|bzl|proto)$")


def _resolves(tree, path, target):
    """From the document's folder, or from the root."""
    here = os.path.normpath(os.path.join(os.path.dirname(path), target))
    return tree.exists(here) or tree.exists(target)


def _named(tree, path, name):
    """A document that a comment names, in the file's folder or above it."""
    folder = os.path.dirname(path)
    while folder and not tree.exists(folder + "/" + name):
        folder = os.path.dirname(folder)
    return tree.exists(os.path.join(folder, name))


def comments(tree):
    """A document, or a section of the equations, that a comment sends its
    reader to is there."""
    equations = tree.text(_EQUATIONS) if tree.exists(_EQUATIONS) else ""
    sections = set(_HEADING.findall(equations))
    for path in tree.cpp():
        text = tree.text(path)
        for match in _SECTION.finditer(text):
            if match.group(1) not in sections:
                yield Finding("comments", path, line_of(text, match.start()),
                              "%s has no section %s"
                              % (_EQUATIONS, match.group(1)))
        for match in _DOCUMENT.finditer(text):
            if not _named(tree, path, match.group(0)):
                yield Finding("comments", path, line_of(text, match.start()),
                              match.group(0) + " is not there")


def _anywhere(tree, name):
    """A source named without its folder, in a table about that folder."""
    return any(p == name or p.endswith("/" + name) for p in tree.paths)


def links(tree):
    """What a document points at is there: links, and files named in it."""
    for path in tree.paths:
        if not path.endswith(".md"):
            continue
        text = tree.text(path)
        prose = _FENCE.sub(lambda m: "\n" * m.group(0).count("\n"), text)
        for match in _LINK.finditer(prose):
            target = match.group(1).split("#")[0]
            if "://" in target or target.startswith("mailto:") or not target:
                continue
            here = os.path.join(os.path.dirname(path), target)
            if not tree.exists(os.path.normpath(here)):
                yield Finding("links", path, line_of(prose, match.start()),
                              target + " is not there")
        for match in _QUOTED.finditer(prose):
            target = match.group(1)
            ours = target.split("/")[0] in FOLDERS and "/" in target
            if ours and not _resolves(tree, path, target) or (
                    _SOURCE.search(target) and not _anywhere(tree, target)):
                yield Finding("links", path, line_of(prose, match.start()),
                              target + " is not there")
