"""Protocol buffers by Debian's protoc.

Bazel's own proto rules would fetch protobuf's sources; this calls the compiler
that is installed, and turns warnings off for code that nobody wrote.
"""

def lockstep_proto_library(name, src, visibility = None, testonly = None):
    """C++ from one .proto file.

    Args:
      name: the cc_library; include "<package>/<file>.pb.h".
      src: a .proto file of this package that imports no other of ours.
      visibility: as usual.
      testonly: as usual.
    """
    stem = src[:-len(".proto")]
    native.genrule(
        name = name + "_gen",
        srcs = [src],
        outs = [
            stem + ".pb.h",
            stem + ".pb.cc",
        ],
        cmd = "/usr/bin/protoc -I. --cpp_out=$(GENDIR) $(location %s)" % src,
        message = "Generating C++ of",
        testonly = testonly,
        visibility = ["//visibility:private"],
    )
    native.cc_library(
        name = name,
        srcs = [stem + ".pb.cc"],
        hdrs = [stem + ".pb.h"],
        copts = ["-w"],
        linkstatic = True,
        testonly = testonly,
        visibility = visibility,
        deps = ["//tools/bazel/third_party:protobuf"],
    )
