"""Headers that nearly every file includes, parsed once.

absl/status/statusor.h alone takes a second, and 525 of 590 files include it; a
third of a build's time was spent on parsing it and its like again and again.
GCC takes `x.h.gch` for `x.h` where flags agree, and reads `x.h` where they do
not, so nothing but time depends on it. Clang builds go without it, and find
what a file uses and does not include.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _pch_impl(ctx):
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    parsed = ctx.actions.declare_file(ctx.label.name + ".h.gch")
    ctx.actions.write(header, "".join(
        ["#include <%s>\n" % name for name in ctx.attr.headers],
    ))
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = header.path,
        output_file = parsed.path,
        user_compile_flags = ctx.fragments.cpp.copts +
                             ctx.fragments.cpp.cxxopts +
                             ctx.attr.copts + ["-x", "c++-header"],
        use_pic = True,
    )
    ctx.actions.run(
        outputs = [parsed],
        inputs = depset([header], transitive = [toolchain.all_files]),
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
        ),
        arguments = cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = variables,
        ),
        mnemonic = "CppPrecompiledHeader",
        progress_message = "Parsing %s" % header.short_path,
    )
    return [
        DefaultInfo(files = depset([parsed])),
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset([header, parsed]),
        )),
    ]

precompiled_header = rule(
    implementation = _pch_impl,
    attrs = {
        "headers": attr.string_list(mandatory = True),
        "copts": attr.string_list(),
        "_cc_toolchain": attr.label(
            default = Label("@bazel_tools//tools/cpp:current_cc_toolchain"),
        ),
    },
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    fragments = ["cpp"],
    doc = "<name>.h with these system headers, and its parsed form beside it.",
)

def pch_copts(name):
    """What makes a file read the header of //tools/bazel:<name> first."""
    return select({
        "//tools/bazel:clang": [],
        "//conditions:default": [
            "-include",
            "tools/bazel/%s.h" % name,
            # GCC 12 forgets that a parsed header was a system's, and warns of
            # bounds that std::string's own code checks.
            "-Wno-array-bounds",
            "-Wno-restrict",
            "-Wno-stringop-overflow",
            "-Wno-stringop-overread",
        ],
    })

def pch_deps(name):
    """The dependency that goes with pch_copts."""
    return select({
        "//tools/bazel:clang": [],
        "//conditions:default": ["//tools/bazel:" + name],
    })
