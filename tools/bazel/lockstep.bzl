"""The macros that every BUILD file of the project uses instead of cc_*."""

load(":cuda.bzl", _lockstep_cuda_library = "lockstep_cuda_library")
load(
    ":flags.bzl",
    "CLANG_COPTS",
    "ISA_COPTS",
    "STRICT_FLOAT_COPTS",
    "TEST_COPTS",
    "WARNING_COPTS",
    "isa_copts",
)
load(":pch.bzl", "pch_copts", "pch_deps")
load(":proto.bzl", _lockstep_proto_library = "lockstep_proto_library")

lockstep_cuda_library = _lockstep_cuda_library
lockstep_proto_library = _lockstep_proto_library

# linkstatic everywhere: nothing ever uses the shared objects that `bazel build
# //...` would link besides the archives.

_OUR_COPTS = STRICT_FLOAT_COPTS + WARNING_COPTS + CLANG_COPTS

def lockstep_library(name, copts = [], isa = None, deps = [], pch = True, **kwargs):
    """A library of ours.

    Args:
      name: the target's name.
      copts: more compiler flags.
      isa: "avx2", "avx512", "amx" or "sha" for files that use that level and no
        other; see lockstep_isa_library for sources compiled at several.
      deps: as usual.
      pch: False for a file that cannot bear Abseil's headers before its own, and
        with another -O in copts: GCC 12 takes a header parsed at -O2 for -O3, and
        died of it under the address sanitizer.
      **kwargs: as for cc_library. A static registrar needs alwayslink = True,
        or the binary silently lacks what tests have.
    """
    level = isa_copts(isa) if isa else pch_copts("pch_library") if pch else []
    native.cc_library(
        name = name,
        copts = _OUR_COPTS + level + copts,
        linkstatic = True,
        deps = deps if isa or not pch else deps + pch_deps("pch_library"),
        **kwargs
    )
    if isa and isa != "scalar":
        _symbols_test(name, [name])

def lockstep_isa_library(
        name,
        srcs,
        hdrs = [],
        deps = [],
        isas = ["scalar", "avx2", "avx512"],
        copts = [],
        **kwargs):
    """The same sources, compiled once per level.

    Makes <name>_<isa> for each level, <name> over all of them, and
    <name>_symbols_test. The sources put all they define into
    `namespace LOCKSTEP_ISA_NS`, which is the level's name.

    Args:
      name: the umbrella's name.
      srcs: compiled at every level.
      hdrs: given to users of the umbrella too.
      deps: of every level.
      isas: keys of ISA_COPTS.
      copts: more compiler flags.
      **kwargs: as for cc_library, given to the levels.
    """
    visibility = kwargs.pop("visibility", None)
    testonly = kwargs.pop("testonly", None)
    levels = [name + "_" + isa for isa in isas]
    for isa in isas:
        native.cc_library(
            name = name + "_" + isa,
            srcs = srcs,
            hdrs = hdrs,
            copts = _OUR_COPTS + isa_copts(isa) + copts,
            linkstatic = True,
            visibility = visibility,
            testonly = testonly,
            deps = deps,
            **kwargs
        )
    native.cc_library(
        name = name,
        hdrs = hdrs,
        linkstatic = True,
        visibility = visibility,
        testonly = testonly,
        deps = [":" + level for level in levels] + deps,
    )
    _symbols_test(name, [name + "_" + isa for isa in isas if isa != "scalar"])

def _symbols_test(name, libraries):
    """No library compiled for a newer CPU may export a weak function."""
    if not libraries:
        return
    native.filegroup(
        name = name + "_archives",
        testonly = True,
        srcs = [":" + library for library in libraries],
        output_group = "archive",
        tags = ["manual"],
        visibility = ["//visibility:private"],
    )
    native.sh_test(
        name = name + "_symbols_test",
        size = "small",
        srcs = ["//tools/bazel:isa_symbols_test.sh"],
        args = [str(len(libraries)), "$(locations :%s_archives)" % name],
        data = [":" + name + "_archives"],
        # Clang and the sanitizers emit weak symbols by design.
        tags = ["isa_symbols"],
        visibility = ["//visibility:private"],
    )

def lockstep_test(name, deps = [], copts = [], size = "small", **kwargs):
    """A GoogleTest binary with its main(); tags may add sanitize and tsan.

    Args:
      name: ends in _test by convention.
      deps: GoogleTest comes by itself.
      copts: more compiler flags.
      size: Bazel's size, which is its time limit as well.
      **kwargs: as for cc_test.
    """
    native.cc_test(
        name = name,
        size = size,
        copts = _OUR_COPTS + TEST_COPTS + pch_copts("pch_test") + copts,
        deps = deps + ["//tools/bazel/third_party:gtest_main"] +
               pch_deps("pch_test"),
        **kwargs
    )

def lockstep_binary(name, copts = [], **kwargs):
    """A program of ours; arguments as for cc_binary."""
    native.cc_binary(
        name = name,
        copts = _OUR_COPTS + copts,
        **kwargs
    )

# The environment of a test that would run mpirun.
MPI_TEST_ENV = select({
    "//tools/bazel:no_mpi": {"LOCKSTEP_NO_MPI": "1"},
    "//conditions:default": {},
})
