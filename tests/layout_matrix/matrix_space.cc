#include "tests/layout_matrix/matrix_space.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "determinism/check.h"
#include "determinism/environment.h"
#include "determinism/file_system.h"
#include "parallel/mpi_library.h"
#include "tests/layout_matrix/matrix_model.h"
#include "tools/run_setup.h"

namespace lockstep {
namespace {

constexpr char kLayout[] = "data x pipeline x tensor";
constexpr char kModel[] = "model";
constexpr char kIsa[] = "level";
constexpr char kOverlap[] = "parallel.overlap";
constexpr char kBuckets[] = "parallel.bucket_bytes";

std::vector<std::string> LayoutLevels() {
  std::vector<std::string> levels;
  for (int data = 1; data <= kMostMatrixRanks; ++data) {
    for (const int pipeline : {1, 2, 4}) {
      for (const int tensor : {1, 2, 4}) {
        if (data * pipeline * tensor > kMostMatrixRanks) continue;
        levels.push_back(absl::StrCat(data, "x", pipeline, "x", tensor));
      }
    }
  }
  return levels;
}

size_t IndexOf(const DesignSpace& space, const std::string& factor) {
  size_t at = 0;
  while (at < space.factors.size() && space.factors[at].name != factor) ++at;
  return at;
}

void Choose(const DesignSpace& space, const std::string& factor,
            const std::string& level, DesignRow& row) {
  const size_t at = IndexOf(space, factor);
  if (at == space.factors.size()) return;
  const std::vector<std::string>& levels = space.factors[at].levels;
  const auto found = std::find(levels.begin(), levels.end(), level);
  LS_CHECK(found != levels.end()) << factor << " has no level " << level;
  row[at] = static_cast<int>(found - levels.begin());
}

int Number(const std::string& level) {
  int number = 0;
  LS_CHECK(absl::SimpleAtoi(level, &number)) << level;
  return number;
}

// A rule is judged once all that it is about is chosen.
bool MayBe(const DesignSpace& space, const DesignRow& row) {
  const auto level = [&](const char* factor) {
    return LevelOf(space, row, factor);
  };
  const std::string layout = level(kLayout);
  if (layout.empty()) return true;
  const MeshShape shape = ShapeOf(space, row);
  const std::string model = level(kModel), micro = level("batch.micro"),
                    global = level("batch.global");
  if (!micro.empty() && !global.empty() &&
      shape.data * Number(micro) > Number(global)) {
    return false;
  }
  const std::string interleave = level("parallel.interleave");
  return SomeModelFits(model, shape.pipeline,
                       interleave.empty() ? 0 : Number(interleave));
}

bool HasKey(const std::string& path) {
  const auto run =
      ResolveRun(*PosixFileSystem(), "recipes/debug.toml", {}, "no_run");
  LS_CHECK(run.ok()) << std::string(run.status().message());
  for (const RecipeEntry& entry : run->recipe.Entries()) {
    if (entry.path() == path) return true;
  }
  return false;
}

}  // namespace

MatrixMachine ThisMachine() {
  MatrixMachine machine = {.overlap = HasKey(kOverlap) && HasKey(kBuckets),
                           .mpi = false,
                           .isas = {}};
  machine.mpi = !DescribeMpiLibrary().built_with.empty() &&
                std::system("command -v mpirun >/dev/null") == 0;
  for (const Isa isa : PresentIsas()) {
    if (isa <= Isa::kAvx512) machine.isas.push_back(NameOf(isa));
  }
  return machine;
}

DesignSpace MatrixSpace(const MatrixMachine& machine) {
  DesignSpace space;
  std::vector<std::string> models;
  for (const MatrixModel& model : MatrixModels()) models.push_back(model.name);
  const std::vector<std::string> off_on = {"false", "true"};
  space.factors = {{kLayout, LayoutLevels()},
                   {kModel, models},
                   {"parallel.interleave", {"1", "2"}},
                   {"batch.micro", {"1", "2", "4"}},
                   {"batch.global", {"8", "32"}},
                   {"parallel.sequence", off_on},
                   {"train.recompute", off_on},
                   {"precision.mode", {"fp32", "bf16", "fp16"}},
                   {"model.hidden_dropout", {"0.0", "0.1"}},
                   {"data.reset_at_documents", off_on},
                   {"sources", {"1", "2"}},
                   {"guarantee", {"layout_invariant", "bitwise"}},
                   {"threads", {"1", "2"}},
                   {kIsa, machine.isas}};
  space.ruled = {0, 1, 2, 3, 4};
  space.factors.push_back(
      {"ranks as", machine.mpi ? std::vector<std::string>{"threads", "mpi"}
                               : std::vector<std::string>{"threads"}});
  if (machine.overlap) {
    // A bucket a tensor or so, and one for all of such a model.
    space.factors.push_back({kOverlap, off_on});
    space.factors.push_back({kBuckets, {"1000", "1000000"}});
  }
  space.may_be = [rules = DesignSpace{space.factors, {}, {}}](
                     const DesignRow& row) { return MayBe(rules, row); };
  return space;
}

MeshShape ShapeOf(const DesignSpace& space, const DesignRow& row) {
  const std::vector<std::string> degrees =
      absl::StrSplit(LevelOf(space, row, kLayout), 'x');
  LS_CHECK_EQ(degrees.size(), 3u);
  return {.data = Number(degrees[0]),
          .pipeline = Number(degrees[1]),
          .tensor = Number(degrees[2])};
}

std::string LevelOf(const DesignSpace& space, const DesignRow& row,
                    const std::string& factor) {
  const size_t at = IndexOf(space, factor);
  if (at == space.factors.size() || row[at] == kOpenLevel) return "";
  return space.factors[at].levels[static_cast<size_t>(row[at])];
}

std::vector<std::string> SetsOf(const DesignSpace& space,
                                const DesignRow& row) {
  const MeshShape shape = ShapeOf(space, row);
  std::vector<std::string> sets = {
      absl::StrCat("parallel.data=", shape.data),
      absl::StrCat("parallel.pipeline=", shape.pipeline),
      absl::StrCat("parallel.tensor=", shape.tensor),
      "model.ffn=16",
      "model.mamba_head_dim=4",
      "model.state=4",
      "model.chunk=16"};
  for (const MatrixModel& model : MatrixModels()) {
    if (model.name != LevelOf(space, row, kModel)) continue;
    sets.insert(sets.end(), model.sets.begin(), model.sets.end());
  }
  for (const Factor& factor : space.factors) {
    if (!absl::StrContains(factor.name, '.') && factor.name != "guarantee") {
      continue;
    }
    sets.push_back(
        absl::StrCat(factor.name, "=", LevelOf(space, row, factor.name)));
  }
  return sets;
}

DesignRow ReferenceOf(const DesignSpace& space, const DesignRow& row) {
  DesignRow reference = row;
  const auto choose = [&](const char* factor, const std::string& level) {
    Choose(space, factor, level, reference);
  };
  choose("train.recompute", "false");
  choose(kOverlap, "false");
  choose(kBuckets, "1000000");
  choose("threads", "1");
  choose("ranks as", "threads");
  choose(kIsa, space.factors[IndexOf(space, kIsa)].levels.back());
  if (LevelOf(space, row, "guarantee") == "bitwise") return reference;
  choose(kLayout, "1x1x1");
  choose("parallel.interleave", "1");
  choose("parallel.sequence", "false");
  choose("batch.micro", "1");
  return reference;
}

}  // namespace lockstep
