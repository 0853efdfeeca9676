"""Compiler flags of our own code, in one place.

Strict floats: the bits a source file promises must not depend on what the
compiler finds clever, so nothing is contracted, reassociated or flushed. That
floats never trap changes no value, and lets GCC evaluate both sides of a
selection, without which no loop with one is vectorised.
"""

STRICT_FLOAT_COPTS = [
    "-fno-fast-math",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
]

WARNING_COPTS = [
    "-Wall",
    "-Wextra",
    "-Werror",
]

# Clang's build is for checks, not for shipping: loops that it does not vectorise
# where GCC does, and pragmas for GCC, are no errors there.
CLANG_COPTS = select({
    "//tools/bazel:clang": [
        "-Wno-pass-failed",
        "-Wno-unknown-pragmas",
    ],
    "//conditions:default": [],
})

# A test's own code runs once and briefly; it compiles a fifth faster so.
TEST_COPTS = ["-O1"]

# One entry per level a kernel can be compiled for. "scalar" is what every
# x86-64 has; "sha" is for SHA-256 alone. GCC's own AVX-512 headers trip the
# two uninitialized warnings.
_AVX512_COPTS = [
    "-mavx512f",
    "-mavx512bw",
    "-mavx512vl",
    "-mavx512dq",
    "-mfma",
    "-mf16c",
    "-mprefer-vector-width=512",
    "-Wno-maybe-uninitialized",
    "-Wno-uninitialized",
]

ISA_COPTS = {
    "scalar": ["-march=x86-64"],
    "avx2": [
        "-mavx2",
        "-mfma",
        "-mf16c",
    ],
    "avx512": _AVX512_COPTS,
    "sha": [
        "-msse4.1",
        "-msha",
    ],
    "amx": _AVX512_COPTS + [
        "-mavx512bf16",
        "-mamx-tile",
        "-mamx-bf16",
        # GCC and Clang 14 have names of their own for that.
        "-DLOCKSTEP_TILES",
    ],
}

def isa_copts(isa):
    """Flags of one level, with the namespace its code must live in.

    Args:
      isa: a key of ISA_COPTS.

    Returns:
      A list that may contain a select().
    """
    if isa not in ISA_COPTS:
        fail("unknown isa %r: one of %s" % (isa, sorted(ISA_COPTS.keys())))
    copts = ["-O3", "-DLOCKSTEP_ISA_NS=" + isa] + ISA_COPTS[isa]
    if isa == "scalar":
        return copts

    # An inline function of a shared header that is compiled here must not win
    # at link time and put AVX-512 into generic code: an older CPU would die of
    # it. Without weak symbols GCC keeps such copies local. Clang has no such
    # flag; its build is for checks, not for shipping.
    return copts + select({
        "//tools/bazel:clang": [],
        "//conditions:default": ["-fno-weak"],
    })
