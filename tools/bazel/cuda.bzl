"""CUDA objects by nvcc, and their stubs.

Call sites never test for CUDA: a library has either its kernels or a stub
behind the same header, and --config=cuda chooses. A machine without the
toolkit notices nothing, since nothing asks for the objects there.
"""

load(":flags.bzl", "STRICT_FLOAT_COPTS", "WARNING_COPTS")

_NVCC = "/usr/local/cuda/bin/nvcc"

# The same rule as on the CPU: one rounding per written operation. Subnormals
# are flushed, as the project's kernels define it; fused multiply-adds are
# written with __fmaf_rn, never found by the compiler.
_NVCC_FLAGS = [
    "-std=c++20",
    "-O3",
    "-gencode=arch=compute_90a,code=sm_90a",
    "-ccbin=/usr/bin/g++-12",
    "-Xcompiler=-fPIC,-ffp-contract=off,-Wall,-Wextra",
    "-Werror=all-warnings",
    "-ftz=true",
    "-prec-div=true",
    "-prec-sqrt=true",
    "-fmad=false",
]

def _includes(context):
    return (["-I" + path for path in context.quote_includes.to_list()] +
            ["-I" + path for path in context.includes.to_list()] +
            ["-isystem=" + path for path in context.system_includes.to_list()])

def _cuda_objects_impl(ctx):
    contexts = [dep[CcInfo].compilation_context for dep in ctx.attr.deps]
    context = cc_common.merge_cc_infos(
        cc_infos = [dep[CcInfo] for dep in ctx.attr.deps],
    ).compilation_context if contexts else None
    headers = context.headers if context else depset()
    flags = _includes(context) if context else []
    defines = ["-D" + d for d in context.defines.to_list()] if context else []
    objects = []
    for src in ctx.files.srcs:
        out = ctx.actions.declare_file("%s_objects/%s.pic.o" % (ctx.attr.name, src.basename))
        objects.append(out)
        ctx.actions.run(
            executable = _NVCC,
            arguments = _NVCC_FLAGS + defines + ["-I.", "-I" + ctx.bin_dir.path] + flags +
                        ["-c", src.path, "-o", out.path],
            inputs = depset([src] + ctx.files.hdrs, transitive = [headers]),
            outputs = [out],
            use_default_shell_env = True,
            mnemonic = "CudaCompile",
            progress_message = "Compiling %s with nvcc" % src.short_path,
        )
    return [DefaultInfo(files = depset(objects))]

_cuda_objects = rule(
    implementation = _cuda_objects_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "hdrs": attr.label_list(allow_files = [".h"]),
        "srcs": attr.label_list(allow_files = [".cu"]),
    },
)

def lockstep_cuda_library(
        name,
        cu_srcs,
        stub_srcs,
        hdrs = [],
        deps = [],
        visibility = None,
        testonly = None,
        alwayslink = False):
    """Kernels under --config=cuda, stubs otherwise; one header for both.

    Args:
      name: the cc_library.
      cu_srcs: .cu files, compiled by nvcc.
      stub_srcs: .cc files that answer when there is no device.
      hdrs: what both implement.
      deps: of both.
      visibility: as usual.
      testonly: as usual.
      alwayslink: as for cc_library.
    """
    _cuda_objects(
        name = name + "_cuda",
        srcs = cu_srcs,
        hdrs = hdrs,
        tags = ["manual"],
        testonly = testonly,
        visibility = ["//visibility:private"],
        deps = deps,
    )
    native.cc_library(
        name = name,
        srcs = select({
            "//tools/bazel:cuda": [":" + name + "_cuda"],
            "//conditions:default": stub_srcs,
        }),
        hdrs = hdrs,
        copts = STRICT_FLOAT_COPTS + WARNING_COPTS,
        linkstatic = True,
        alwayslink = alwayslink,
        testonly = testonly,
        visibility = visibility,
        deps = deps + select({
            "//tools/bazel:cuda": ["//tools/bazel/third_party:cudart"],
            "//conditions:default": [],
        }),
    )
