#include "tools/run_setup.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "ckpt/bounded_read.h"
#include "determinism/sha256.h"
#include "determinism/status.h"
#include "tools/bazel/build_stamp.h"
#include "tools/fork.h"

namespace lockstep {
namespace {

std::string EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The length that an existing run keeps, unless the recipe says one itself.
absl::StatusOr<std::optional<int64_t>> KeptScheduleLength(
    FileSystem& fs, const std::string& run_dir) {
  if (run_dir.empty() || !fs.Exists(run_dir + "/manifest.json")) {
    return std::nullopt;
  }
  const auto manifest = ReadManifest(fs, run_dir);
  if (!manifest.ok()) return AsDamageAtResume(manifest.status());
  return manifest->schedule_length_samples;
}

// Empty where the folder is gone or cannot be named.
std::string WorkingDir() {
  std::error_code error;
  return std::filesystem::current_path(error).string();
}

// The same of a fork: its parent's, while both recipes mean the same curve.
absl::StatusOr<std::optional<int64_t>> ParentScheduleLength(
    FileSystem& fs, const std::string& recipe_path,
    const std::vector<std::string>& sets, const Manifest& parent) {
  LS_ASSIGN_OR_RETURN(Recipe recipe, Recipe::Load(fs, recipe_path, sets));
  LS_RETURN_IF_ERROR(ReadRunConfig(recipe, std::nullopt).status());
  if (!KeepsSchedule(parent.recipe.text, recipe.ResolvedText())) {
    return std::nullopt;
  }
  return parent.schedule_length_samples;
}

absl::StatusOr<std::string> BinarySha256(FileSystem& fs) {
  LS_ASSIGN_OR_RETURN(const std::string binary, fs.ReadFile("/proc/self/exe"));
  return Sha256Hex(binary);
}

std::string NewRunId(const std::string& trajectory, Clock& clock) {
  const MachineInfo machine = DescribeMachine();
  return Sha256Hex(absl::StrCat(trajectory, " ", machine.hostname, " ",
                                getpid(), " ", clock.UnixMillis(), " ",
                                clock.MonotonicNanos()))
      .substr(0, 16);
}

void DescribeHardware(const Machine& machine, Manifest& manifest) {
  const MachineInfo info = DescribeMachine();
  manifest.hardware["cpu_model"] = info.cpu_model;
  manifest.hardware["isa"] = NameOf(machine.isa);
  manifest.hardware["cores"] = std::to_string(info.cores);
  manifest.hardware["hostname"] = info.hostname;
  manifest.hardware["os"] = info.os;
  manifest.hardware["kernel"] = info.kernel;
  for (const LibraryVersion& library : info.libraries) {
    manifest.libraries[library.name] = library.version;
  }
}

absl::Status DescribeCode(FileSystem& fs, Manifest& manifest) {
  LS_ASSIGN_OR_RETURN(manifest.code.binary_sha256, BinarySha256(fs));
  manifest.code.commit = BuildCommit();
  manifest.code.dirty = BuildDirty();
  manifest.code.stamped = BuildStamped();
  manifest.compiler = BuildCompiler();
  manifest.image_digest = EnvironmentVariable("LOCKSTEP_IMAGE_DIGEST");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ResolvedRun> ResolveRun(FileSystem& fs,
                                       const std::string& recipe_path,
                                       const std::vector<std::string>& sets,
                                       const std::string& run_dir,
                                       const Manifest* parent, bool fresh) {
  auto kept = parent == nullptr
                  ? KeptScheduleLength(fs, fresh ? "" : run_dir)
                  : ParentScheduleLength(fs, recipe_path, sets, *parent);
  LS_RETURN_IF_ERROR(kept.status());
  LS_ASSIGN_OR_RETURN(Recipe recipe, Recipe::Load(fs, recipe_path, sets));
  LS_ASSIGN_OR_RETURN(RunConfig config, ReadRunConfig(recipe, *kept));
  const std::string dir =
      !run_dir.empty() ? run_dir
                       : absl::StrCat("runs/", recipe.name(), "-",
                                      recipe.TrajectoryHash().substr(0, 8));
  const int64_t length = config.ScheduleLengthSamples(*kept);
  return ResolvedRun{std::move(recipe), std::move(config), dir, length,
                     *kept == length};
}

absl::StatusOr<int> ChooseThreads(int64_t asked) {
  constexpr int64_t kMost = 1024;
  std::string text = EnvironmentVariable("OMP_NUM_THREADS");
  const bool from_environment = asked == 0 && !text.empty();
  if (from_environment && !absl::SimpleAtoi(text, &asked)) asked = -1;
  if (asked < 0 || asked > kMost || (from_environment && asked == 0)) {
    return InputError(
        absl::StrCat("a number of threads from 1 to ", kMost, " is needed"),
        from_environment ? "OMP_NUM_THREADS = " + text
                         : absl::StrCat("--threads ", asked),
        "give a number, or leave it out to use every core");
  }
  return asked > 0 ? static_cast<int>(asked)
                   : std::max(DescribeMachine().cores, 1);
}

absl::StatusOr<Machine> ChooseMachine(int64_t threads) {
  Machine machine;
  LS_ASSIGN_OR_RETURN(machine.threads, ChooseThreads(threads));
  LS_ASSIGN_OR_RETURN(machine.isa, ChosenIsa());
  return machine;
}

absl::StatusOr<Manifest> DescribeRun(FileSystem& fs, const ResolvedRun& run,
                                     const Dataset& dataset,
                                     const Machine& machine, Clock& clock,
                                     const std::vector<std::string>& faults) {
  Manifest m;
  m.recipe = {run.recipe.name(), run.recipe.ResolvedText(),
              run.recipe.TrajectoryText(), run.recipe.TrajectoryHash(),
              run.recipe.FullHash()};
  m.run_id = NewRunId(m.recipe.trajectory, clock);
  m.lineage = m.run_id;
  m.created_ms = clock.UnixMillis();
  LS_RETURN_IF_ERROR(DescribeCode(fs, m));
  DescribeHardware(machine, m);
  m.order =
      run.config.precision.storage() == DType::kF32 ? "fp32chain" : "amx32";
  for (const DataFileIdentity& file : dataset.Identities()) {
    m.data.push_back({file.path, static_cast<int64_t>(file.size), file.sha256});
  }
  m.working_dir = WorkingDir();
  m.tokenizer = {dataset.tokenizer().name(), dataset.tokenizer().identity()};
  const ParallelConfig& p = run.config.parallel;
  m.layout.world = p.world();
  m.layout.data = p.data.value_or(1);
  m.layout.tensor = p.tensor;
  m.layout.pipeline = p.pipeline;
  m.layout.micro_batch = run.config.batch.micro;
  m.layout.threads = machine.threads;
  m.root_seed = run.config.seed;
  m.guarantee = run.config.guarantee;
  m.schedule_length_samples = run.schedule_length_samples;
  m.faults = faults;
  return m;
}

}  // namespace lockstep
