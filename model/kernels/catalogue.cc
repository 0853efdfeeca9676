#include "model/kernels/catalogue.h"

#include <string_view>

namespace lockstep {
namespace {

constexpr char kHead[] =
    R"(# The operations

Generated from the registry (`registry.h`, `all_kernels.cc`) by `bazel run //model/kernels:catalogue`; a test fails when
this page is older than the registry. Clauses are those of `determinism/CONTRACT.md`; the full contract of an operation
is at the top of its header.

Every operation gives one set of bits: at each of its levels, for any number of threads, alone or inside a larger batch,
over memory of any alignment (N1). Its test compares the levels byte for byte, and `lockstep doctor` does so on the
machine at hand. A level that is missing falls back to the next lower one. *Status* says what that rests on: `no sums`,
nothing is added up; `integers`, sums are exact in any order; `written order`, floats are added in the order given.

| operation | status | order of its sums | clauses | levels | known gaps |
|---|---|---|---|---|---|
)";

std::string StatusOf(std::string_view order) {
  if (order.substr(0, 7) == "no sums") return "no sums";
  if (order.substr(0, 7) == "integer") return "integers";
  return "written order";
}

std::string LevelsOf(const KernelInfo& info) {
  std::string levels;
  for (const Isa isa : info.levels) {
    levels += (levels.empty() ? "" : ", ") + std::string(NameOf(isa));
  }
  return levels;
}

}  // namespace

std::string CatalogueText(const std::vector<KernelInfo>& kernels) {
  std::string text = kHead;
  for (const KernelInfo& info : kernels) {
    const std::string gaps = info.known_gaps;
    text += "| `" + std::string(info.operation) + "` | " +
            StatusOf(info.order) + " | " + info.order + " | " + info.clause +
            " | " + LevelsOf(info) + " | " + (gaps.empty() ? "none" : gaps) +
            " |\n";
  }
  return text;
}

}  // namespace lockstep
