"""Rules about numbers: what may decide a bit, and what may not."""

import re

from tree import Finding, line_of

# Folders whose code decides bits.
STATE = ("determinism/", "model/", "data/", "parallel/", "ckpt/", "tools/",
         "recipes/")

_LIBM = re.compile(
    r"(?<![\w.>:])(?:(?:std)?::|__builtin_)?"
    r"((?:exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|sin|cos|tan|asin|acos|"
    r"atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh|cbrt|hypot|erf|erfc|lgamma|"
    r"tgamma)[fl]?)\s*\(")
_CHANCE = re.compile(
    r"\b(std::(?:random_device|mt19937(?:_64)?|minstd_rand0?|"
    r"default_random_engine|shuffle|sample|\w+_distribution))\b"
    r"|(?<![\w.>:])(?:std::)?(s?rand|drand48|random)\s*\(")
_REDUCE = re.compile(r"\bstd::(reduce|transform_reduce|execution::\w+)\b")
_FAST = re.compile(
    r"-ffast-math|-Ofast|-funsafe-math-optimizations|-fassociative-math|"
    r"-freciprocal-math|-ffp-contract=(?!off)\w+|use_fast_math|"
    r"optimize\s*\(\s*\"[^\"]*fast-math|STDC\s+FP_CONTRACT\s+ON")


def _search(tree, rule, pattern, message):
    for path in tree.cpp():
        if tree.is_test(path) or not path.startswith(STATE):
            continue
        code = tree.code(path)
        for match in pattern.finditer(code):
            name = next((g for g in match.groups() if g), match.group(0))
            yield Finding(rule, path, line_of(code, match.start()),
                          message % name)


def libm(tree):
    """N6, N8: the bits of libm change with the CPU and the library."""
    return _search(tree, "libm", _LIBM,
                   "%s of libm: see determinism/math.h and math64.h")


def chance(tree):
    """N9: random numbers come from a logical position."""
    return _search(tree, "chance", _CHANCE, "%s: see determinism/philox.h")


def reduce(tree):
    """N7: a sum has a written order."""
    return _search(tree, "reduce", _REDUCE,
                   "std::%s promises no order: see determinism/ordered_sum.h")


def fast_math(tree):
    """N2, in code, flags and build files alike."""
    for path in tree.paths:
        if not tree.is_code(path) or path.startswith("tests/tidy/"):
            continue
        text = tree.text(path)
        for match in _FAST.finditer(text):
            yield Finding("fast_math", path, line_of(text, match.start()),
                          match.group(0) + ": floats are strict here (N2)")
