"""One parser as a program of libFuzzer's."""

load("//tools/bazel:lockstep.bzl", "lockstep_binary")

def lockstep_fuzz_targets(entries, deps = [":fuzz_entries"]):
    """Makes fuzz_<name> for each; they link under --config=fuzz alone.

    Args:
      entries: from a corpus's name to the function that reads it.
      deps: the library that has the functions.
    """
    for name, function in entries.items():
        lockstep_binary(
            name = "fuzz_" + name,
            testonly = True,
            srcs = [":fuzz_main"],
            copts = ["-DLOCKSTEP_FUZZ_ENTRY=" + function],
            linkopts = ["-fsanitize=fuzzer"],
            linkstatic = True,
            tags = ["manual"],
            deps = deps,
        )
