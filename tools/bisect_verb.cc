// `lockstep bisect`: what tools/bisect/ found, and the folder it is kept in.
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "determinism/file_system.h"
#include "determinism/first_line.h"
#include "determinism/status.h"
#include "tools/bisect/bisect.h"
#include "tools/bisect/commands.h"
#include "tools/bisect/fix_check.h"
#include "tools/bisect/page/page.h"
#include "tools/output_check.h"
#include "tools/trace_verbs.h"
#include "tools/trained_model.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

// "a" of "runs/a/": what a person calls the run.
std::string NameOfRun(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return BaseName(path);
}

std::string OutputOf(const BisectVerbOptions& options) {
  if (!options.output.empty()) return options.output;
  return JoinPath(
      "bisects", absl::StrCat(NameOfRun(options.a), "_", NameOfRun(options.b)));
}

// Equal runs leave nothing behind unless they are asked to.
bool IsKept(const BisectVerbOptions& options, const BisectResult& result) {
  return !result.equal() || !options.output.empty() || !options.html.empty();
}

// What was found, with the fix if one was to be checked.
struct Found {
  BisectResult result;
  std::optional<FixCheck> fix;

  std::string FixAsJson() const { return fix ? FixJson(*fix) : ""; }
  std::string FixAsText() const { return fix ? FixText(*fix) : ""; }
};

// Before hours of replays are spent.
absl::Status CheckFixRuns(const BisectVerbOptions& options) {
  const std::vector<std::string>& runs = options.verify_fix;
  if (runs.empty()) return absl::OkStatus();
  if (runs.size() != 2) {
    return InputError("a fix is shown by two runs", "--verify-fix",
                      "name both: --verify-fix RUN_C RUN_D");
  }
  // A folder is equal to itself, fixed or not; one that is absent is told of
  // by whoever reads it.
  std::error_code absent;
  if (runs[0] == runs[1] ||
      std::filesystem::equivalent(runs[0], runs[1], absent)) {
    return InputError("a fix is shown by two runs, and both are this folder",
                      absl::StrCat("--verify-fix ", runs[0], " ", runs[1]),
                      "train once more with the fix, into another folder, and "
                      "name both");
  }
  return absl::OkStatus();
}

// Likewise.
absl::Status CheckOutputs(FileSystem& fs, const BisectVerbOptions& options) {
  LS_RETURN_IF_ERROR(CheckOutputFolder(fs, OutputOf(options), "--output"));
  if (options.html.empty()) return absl::OkStatus();
  const auto page = fs.Stat(options.html);
  if (page.ok() && page->is_dir) {
    return InputError("this is a folder, and a page is to be written",
                      options.html, "name a file with --html");
  }
  return CheckOutputFolder(fs, DirName(options.html), "--html");
}

absl::StatusOr<Found> Find(FileSystem& fs, const BisectVerbOptions& options) {
  LS_RETURN_IF_ERROR(CheckFixRuns(options));
  for (const std::string& run : options.verify_fix) {
    LS_RETURN_IF_ERROR(CheckRunExists(fs, run));
  }
  LS_RETURN_IF_ERROR(CheckOutputs(fs, options));
  Found found;
  LS_ASSIGN_OR_RETURN(found.result, Bisect(fs, {.a = options.a,
                                                .b = options.b,
                                                .binary_a = options.binary_a,
                                                .binary_b = options.binary_b,
                                                .scratch = options.scratch,
                                                .threads = options.threads}));
  if (options.verify_fix.empty()) return found;
  LS_ASSIGN_OR_RETURN(found.fix, CheckFix(fs,
                                          {.c = options.verify_fix[0],
                                           .d = options.verify_fix[1],
                                           .binary = options.binary_fix,
                                           .scratch = options.scratch,
                                           .threads = options.threads},
                                          found.result));
  return found;
}

absl::Status Keep(FileSystem& fs, const BisectVerbOptions& options,
                  Found& found) {
  BisectResult& result = found.result;
  const std::string output = OutputOf(options);
  result.page =
      options.html.empty() ? JoinPath(output, "report.html") : options.html;
  for (const std::string& folder : {output, DirName(result.page)}) {
    const absl::Status made = fs.MakeDirs(folder);
    if (!made.ok()) {
      return InputError("what was found cannot be kept: " + FirstLine(made),
                        folder, "name a folder that can be made with --output");
    }
  }
  if (result.saved_operation) {
    result.saved = JoinPath(output, "operation.safetensors");
    LS_RETURN_IF_ERROR(
        WriteSavedOperation(fs, result.saved, *result.saved_operation));
    result.commands = CommandsOf(result);
  }
  LS_RETURN_IF_ERROR(
      WriteFileAtomically(fs, JoinPath(output, "report.json"),
                          BisectJson(result, found.FixAsJson())));
  return WriteFileAtomically(fs, result.page,
                             BisectPage(result, found.FixAsText()));
}

}  // namespace

absl::StatusOr<Answer> BisectVerb(const BisectVerbOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  LS_ASSIGN_OR_RETURN(Found found, Find(fs, options));
  const BisectResult& result = found.result;
  if (IsKept(options, result)) {
    LS_RETURN_IF_ERROR(Keep(fs, options, found));
  }
  return Answer{options.json ? BisectJson(result, found.FixAsJson())
                             : BisectText(result) + found.FixAsText(),
                found.fix ? !found.fix->good() : !result.equal()};
}

}  // namespace lockstep
