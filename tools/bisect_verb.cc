// `lockstep bisect`: what tools/bisect/ found, and the folder it is kept in.
#include "absl/strings/str_cat.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tools/bisect/bisect.h"
#include "tools/bisect/page/page.h"
#include "tools/trace_verbs.h"
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

absl::Status Keep(FileSystem& fs, const BisectVerbOptions& options,
                  BisectResult& result) {
  const std::string output = OutputOf(options);
  result.page =
      options.html.empty() ? JoinPath(output, "report.html") : options.html;
  for (const std::string& folder : {output, DirName(result.page)}) {
    const absl::Status made = fs.MakeDirs(folder);
    if (!made.ok()) {
      return InputError(absl::StrCat("what was found cannot be kept: ",
                                     std::string(made.message())),
                        folder, "name a folder that can be made with --output");
    }
  }
  LS_RETURN_IF_ERROR(WriteFileAtomically(fs, JoinPath(output, "report.json"),
                                         BisectJson(result)));
  return WriteFileAtomically(fs, result.page, BisectPage(result));
}

}  // namespace

absl::StatusOr<Answer> BisectVerb(const BisectVerbOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  LS_ASSIGN_OR_RETURN(BisectResult result,
                      Bisect(fs, {.a = options.a,
                                  .b = options.b,
                                  .binary_a = options.binary_a,
                                  .binary_b = options.binary_b,
                                  .scratch = options.scratch,
                                  .threads = options.threads}));
  if (IsKept(options, result)) {
    LS_RETURN_IF_ERROR(Keep(fs, options, result));
  }
  return Answer{options.json ? BisectJson(result) : BisectText(result),
                !result.equal()};
}

}  // namespace lockstep
