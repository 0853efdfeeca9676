"""Every rule must fire on a bad example and keep still on its good twin.

Each canary is (rule, bad tree, good tree), a tree being {path: text}. The
texts are put together so that this file breaks no rule by quoting them.
"""

import os

from tree import Tree

_LATER = "TO" + "DO"


def _header(path, body="int Twice(int x);\n", comment="// What it is for.\n"):
    guard = path.upper().replace("/", "_").replace(".", "_") + "_"
    return "%s#ifndef %s\n#define %s\n\n%s\n#endif  // %s\n" % (
        comment, guard, guard, body, guard)


def _cc(body):
    return "namespace lockstep {\n%s\n}  // namespace lockstep\n" % body


def _lines(count):
    return "".join("  x += %d;\n" % i for i in range(count))


_BUILD_TEST = 'lockstep_test(\n    name = "t",\n    srcs = ["a_test.cc"],\n)\n'
_BUILD_LIB = 'lockstep_library(\n    name = "t",\n    srcs = ["%s"],\n)\n'
_KERNEL = {
    "model/kernels/swish/BUILD": "",
    "model/kernels/all_kernels.cc": "",
}


def _pairs(rule, path, bad, good):
    """One canary a bad body; `good` holds all that must pass."""
    return [(rule, {path: _cc(body)}, {path: _cc(good)}) for body in bad]


CANARIES = [
    ("header", {"model/a.h": _header("model/a.h", comment="")},
     {"model/a.h": _header("model/a.h")}),
    ("header", {"model/a.h": _header("model/b.h")},
     {"model/a/b.h": _header("model/a/b.h")}),
    ("header", {"model/a.h": "// For.\n#pragma once\n"},
     {"model/a.h": _header("model/a.h")}),
    ("size", {"model/a.cc": "\n" * 201}, {"model/a.cc": "\n" * 200}),
    ("size", {"model/a.cc": _cc("int F(int x) {\n" + _lines(69) + "}\n")},
     {"model/a.cc": _cc("int F(int x) {\n" + _lines(68) + "}\n")}),
    ("size", {"model/a.cc": _cc("A::A(int x)\n  : x_{x}, y(x) {\n" +
                                _lines(69) + "}\n")},
     {"model/a.cc": _cc("int F() { return 1; }\nconstexpr int kA[] = {\n" +
                        "  1,\n" * 80 + "};\n")}),
    ("size", {"tests/a.py": "def f(x):\n" + "    x += 1\n" * 70},
     {"tests/a.py": "def f(x):\n" + "    x += 1\n" * 69}),
    ("size", {"model/a.cc": "\n" * 301,
              "tests/tidy/ratchet.txt": "file model/a.cc 300\n"},
     {"model/a.cc": "\n" * 300,
      "tests/tidy/ratchet.txt": "file model/a.cc 300\nfile model/a.cc 290\n"}),
    ("chance", {"model/a.cc": "std::mt1" + "9937 g;\n"},
     {"model/BUILD": 'lockstep_library(\n    testonly = True,\n'
                     '    srcs = ["a.cc"],\n)\n',
      "model/a.cc": "std::mt1" + "9937 g;\n"}),
    ("fast_math", {"model/BUILD": 'copts = ["-ffast' + '-math"]\n'},
     {"model/BUILD": 'copts = ["-fno-fast-math", "-ffp-contract=off"]\n'}),
    ("fast_math", {".bazelrc": "build --copt=-O" + "fast\n"},
     {".bazelrc": "build -c opt\n"}),
    ("later", {"model/a.md": _LATER + ": write it\n"},
     {"model/a.md": "mktemp a.XX" + "XXXX\n"}),
    ("later", {"model/a.cc": "// FIX" + "ME\n"}, {"model/a.cc": "// fixed\n"}),
    ("words", {"README.md": "see /wo" + "rk/main\n"},
     {"README.md": "see model/README.md\n"}),
    ("words", {"tools/a.sh": "curl https://py" + "pi.org\n"},
     {"tools/a.sh": "# from Debian alone\n"}),
    ("words", {"model/a.cc": "// Written in an earlier ses" + "sion.\n"},
     {"model/a.cc": "// cuDNN's handle\n"}),
    ("words", {"model/a.cc": "// Closes issue " + "12.\n"},
     {"model/a.cc": "// see openmpi/ompi#1234\n#include <a>\n"}),
    ("words", {"model/a.md": "as in (#" + "12)\n"},
     {"model/a.md": "[x](a.md#12)\n"}),
    ("registered", _KERNEL,
     dict(_KERNEL, **{"model/kernels/all_kernels.cc":
                      '#include "model/kernels/swish/swish.h"\n'})),
    ("registered",
     {"model/kernels/all_kernels.cc": "",
      "data/BUILD": 'lockstep_isa_library(\n    name = "b_kernel",\n)\n'},
     {"model/kernels/all_kernels.cc": '#include "model/kernels/b/b.h"\n',
      "model/kernels/b/BUILD":
          'lockstep_isa_library(\n    name = "b_kernel",\n)\n'}),
    ("links", {"data/A.md": "see [b](B.md)\n"},
     {"data/A.md": "see [b](B.md#x), [c](https://x.y/z)\n", "data/B.md": ""}),
    ("comments", {"data/a.cc": "// Grammar: FORMAT.md.\n"},
     {"data/a.cc": "// Grammar: FORMAT.md, data/FORMAT.md, MAP.md.\n",
      "data/FORMAT.md": "", "MAP.md": ""}),
    ("comments", {"model/a.cc": "// (MODEL 2.9)\n",
                  "model/MODEL.md": "### 2.1 Skeleton\n"},
     {"model/a.cc": "// (MODEL 2.1), MODEL section 3.\n",
      "model/MODEL.md": "### 2.1 Skeleton\n## 3. Loss\n"}),
    ("links", {"data/A.md": "see `gone.h`\n"},
     {"data/A.md": "see `a.h`, `b/c.py`\n", "data/a.h": "",
      "tests/b/c.py": ""}),
    ("links", {"data/A.md": "see `data/gone.h`\n"},
     {"data/A.md": "see `data/a.h`, `layers/3/w`\n",
      "data/a.h": _header("data/a.h")}),
    ("built", {"data/BUILD": _BUILD_LIB % "a_test.cc", "data/a_test.cc": ""},
     {"data/BUILD": _BUILD_TEST, "data/a_test.cc": ""}),
    ("built", {"data/BUILD": _BUILD_TEST, "data/a_test.cc": "",
               "data/dead.cc": ""},
     {"data/BUILD": _BUILD_LIB % "live.cc", "data/live.cc": ""}),
    ("leavings", {"al/r1/ledger.jsonl": ""},
     {".gitignore": "/runs\n", "runs/r1/ledger.jsonl": "",
      "texts/a.jsonl": ""}),
    ("leavings", {"tools/ledger.jsonl": ""}, {"tools/ledger.cc": ""}),
    ("included", {"data/a.cc": "std::string a;\n"},
     {"data/a.cc": '#include "data/a.h"\nstd::string a;\n',
      "data/a.h": "#include <string>\n"}),
    ("included", {"data/a.cc": "#include <string>\nabsl::Status F();\n"},
     {"data/a.cc": '#include "absl/status/statusor.h"\nabsl::Status F();\n'}),
    ("format", {".clang-format": "BasedOnStyle: Google\n",
                "data/a.cc": "int  x ( ) ;\n"},
     {".clang-format": "BasedOnStyle: Google\n", "data/a.cc": "int x();\n"}),
] + _pairs(
    "libm", "model/a.cc",
    ["float y = std::exp(x);", "double y = pow(x, 2.0);", "y = ::tanhf(x);",
     "y = __builtin_cosf(x);"],
    "// std::exp(x)\nfloat y = Exp(x) + std::sqrt(x) + std::fma(x, y, z);\n"
    'Say("log(x)"); r.log(x); lockstep::log(x); double exp = 1;') + _pairs(
    "chance", "data/a.cc",
    ["std::mt19937 g;", "int x = rand();", "std::shuffle(a, b, g);"],
    "int x = Random(3); operand(x); o.random(1);") + _pairs(
    "reduce", "model/a.cc", ["std::reduce(a, b);"], "AllReduce(a); reduce(b);"
) + _pairs(
    "exception", "tools/a.cc", ["void F() { throw 1; }"],
    "// we try\nint retry = TryLock();") + _pairs(
    "mutable_global", "tools/a.cc",
    ["int count = 0;", "std::atomic<bool> flag{false};", "static Foo* foo;",
     "const char* name = nullptr;", "void F() {\n  static int n = 0;\n}",
     "thread_local int depth;", "namespace {\nstd::mutex mutex;\n}",
     "std::atomic<int> n(0);"],
    "constexpr int kA = 1;\nconst char* const kB = nullptr;\nenum A { kC };\n"
    "struct S { int x; static constexpr int kD = 1; static S Make(); };\n"
    "int F(int x);\nusing A = B;\nconstexpr int kE[] = {1};\nextern int F();\n"
    "void G() { int x = 0; static const auto* const y = new int; }\n"
    "class C;\ntemplate <class T> T H(T x) { return T{x}; }\n"
    "bool operator==(S a, S b);")


def _write(folder, files):
    for path, text in files.items():
        full = os.path.join(folder, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)


def run(folder, rules):
    """Exit status: 0 if every rule of `rules` fires where it must only."""
    failures, ran = [], set()
    for number, (rule, bad, good) in enumerate(CANARIES):
        if rule not in rules:
            continue
        ran.add(rule)
        for kind, files in (("bad", bad), ("good", good)):
            root = os.path.join(folder, "%d_%s_%s" % (number, rule, kind))
            _write(root, files)
            found = [str(f) for f in rules[rule](Tree(root))]
            if bool(found) != (kind == "bad"):
                failures.append("canary %d of %s: the %s tree gave %s\n%s"
                                % (number, rule, kind, found, files))
    failures += ["rule %s has no canary" % r for r in rules if r not in ran]
    for failure in failures:
        print(failure)
    print("tidy: %d canaries for %d rules, %d failures"
          % (len(CANARIES), len(ran), len(failures)))
    return 1 if failures else 0
