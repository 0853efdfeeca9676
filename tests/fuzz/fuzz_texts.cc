// Recipes, and texts of a command line.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/checkpoint_config.h"
#include "ckpt/find.h"
#include "ckpt/value_changes.h"
#include "data/data_config.h"
#include "determinism/fault.h"
#include "recipes/recipe.h"
#include "tests/fuzz/fuzz_entries.h"
#include "tests/fuzz/fuzz_file.h"
#include "tools/batch_schedule.h"
#include "tools/launch/host_list.h"
#include "tools/layout_text.h"
#include "tools/plan/hosts.h"
#include "tools/resize_note.h"
#include "tools/skip_list.h"

namespace lockstep {
namespace {

// Reads what sections are there into their structs, and all that can be said
// of a recipe that has no error.
void UseRecipe(absl::StatusOr<Recipe> recipe) {
  if (!recipe.ok()) return;
  Use(recipe->Read<CheckpointConfig>("checkpoint"));
  Use(recipe->Read<DataConfig>("data"));
  if (!recipe->Finish().ok()) return;
  Use(recipe->FullHash());
  Use(recipe->TrajectoryText());
  Use(recipe->Entries());
  Use(recipe->Conflicts());
}

}  // namespace

void FuzzToml(std::string_view bytes) {
  UseRecipe(Recipe::FromText(bytes, "fuzzed.toml"));
  MemoryFileSystem fs;
  PutFile(fs, "/a.toml", bytes);
  PutFile(fs, "/b.toml", "extends = \"a.toml\"\n[checkpoint]\nevery = 3\n");
  UseRecipe(Recipe::Load(fs, "/a.toml", {}));
  UseRecipe(Recipe::Load(fs, "/b.toml", {}));
}

void FuzzSetValue(std::string_view bytes) {
  constexpr char kBase[] =
      "[checkpoint]\nevery = 3\n[[data.source]]\npath = \"x\"\n";
  UseRecipe(Recipe::FromText(kBase, "base.toml", {std::string(bytes)}));
}

void FuzzFaultText(std::string_view bytes) {
  const auto spec = ParseFault(bytes);
  if (!spec.ok()) return;
  FaultPlan plan({*spec}, 0);
  plan.BeginStep(1, 0);
  Use(plan.Unfired());
}

void FuzzArgumentTexts(std::string_view bytes) {
  const std::string text(bytes);
  const auto range = ParseSkipRange(bytes);
  if (range.ok()) {
    const SampleStream stream({*range});
    Use(stream.CursorAfter(0, 10));
    Use(stream.Take(0, 10));
  }
  Use(LayoutSets(bytes));
  Use(ParseResume(bytes));
  Use(ParseValueLines(bytes));
  const auto batches = BatchSchedule::Parse(text);
  if (!batches.ok()) return;
  Use(batches->At(INT64_MAX));
  Use(batches->StepsFor(1 << 20));
  Use(batches->SamplesAfter(kMostSteps));
}

void FuzzResizeNote(std::string_view bytes) { Use(ReadResizeNote(bytes)); }

void FuzzHosts(std::string_view bytes) {
  MemoryFileSystem fs;
  PutFile(fs, "/hosts", bytes);
  const auto hosts = ReadHosts(fs, "/hosts");
  if (!hosts.ok()) return;
  Use(HostOfRanks(*hosts, 100));
  Use(WithoutHosts(*hosts, {hosts->front().name, "none"}));
}

// The list of nodes up to the first newline, then the tasks of each.
void FuzzNodeList(std::string_view bytes) {
  const size_t end = bytes.find('\n');
  const auto hosts =
      SlurmHosts(bytes.substr(0, end),
                 end == std::string_view::npos ? "1" : bytes.substr(end + 1));
  if (hosts.ok()) Use(HostOfRank(*hosts, 100));
}

}  // namespace lockstep
