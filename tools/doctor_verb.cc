// `lockstep doctor`.
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "determinism/file_system.h"
#include "determinism/first_line.h"
#include "determinism/status.h"
#include "tools/doctor/doctor.h"
#include "tools/doctor/fault_points.h"
#include "tools/doctor/operation_check.h"
#include "tools/operation_verb.h"
#include "tools/run_setup.h"
#include "tools/verbs.h"

namespace lockstep {

namespace {

// A folder that cannot be written says nothing about the machine.
absl::Status CheckFolder(const std::string& folder) {
  FileSystem& fs = *PosixFileSystem();
  const auto info = fs.Stat(folder);
  if (!info.ok() || !info->is_dir) {
    return InputError("there is no such folder", folder,
                      "name one that exists, where runs will be");
  }
  const std::string file =
      JoinPath(folder, absl::StrCat(".lockstep-doctor-", getpid(), ".try"));
  const auto made = fs.CreateNew(file);
  if (made.ok()) return fs.Remove(file);
  return InputError(
      absl::StrCat("cannot make a file: ", FirstLine(made.status())), folder,
      "name a folder that you may write");
}

}  // namespace

absl::StatusOr<Answer> OperationVerb(const OperationVerbOptions& options) {
  LS_ASSIGN_OR_RETURN(const SavedOperation operation,
                      ReadSavedOperation(*PosixFileSystem(), options.file));
  LS_ASSIGN_OR_RETURN(const Machine machine, ChooseMachine(options.threads));
  LS_ASSIGN_OR_RETURN(const OperationCheck check,
                      CheckOperation(operation, machine.threads));
  return Answer{
      options.json ? OperationCheckJson(check) : OperationCheckText(check),
      !check.sound()};
}

absl::StatusOr<Answer> DoctorVerb(const DoctorVerbOptions& options) {
  if (options.fault_points && options.canary) {
    return InputError("a list of fault points has no canary",
                      "--fault-points --canary", "give one of them");
  }
  if (options.fault_points) {
    return Answer{options.json ? FaultPlacesJson() : FaultPlacesText()};
  }
  LS_RETURN_IF_ERROR(CheckFolder(options.folder));
  LS_ASSIGN_OR_RETURN(const Machine machine, ChooseMachine(options.threads));
  const Examination examination = {.threads = machine.threads,
                                   .isa = machine.isa,
                                   .folder = options.folder,
                                   .broken = options.canary};
  const std::vector<DoctorFinding> findings = Examine(examination);
  const bool good = std::all_of(findings.begin(), findings.end(),
                                [](const DoctorFinding& f) { return f.good; });
  return Answer{options.json ? DoctorJson(findings, examination)
                             : DoctorText(findings, examination),
                !good};
}

}  // namespace lockstep
