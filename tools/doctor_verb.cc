// `lockstep doctor`.
#include <algorithm>

#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tools/doctor/doctor.h"
#include "tools/doctor/fault_points.h"
#include "tools/doctor/operation_check.h"
#include "tools/operation_verb.h"
#include "tools/run_setup.h"
#include "tools/verbs.h"

namespace lockstep {

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
  if (options.fault_points) {
    return Answer{options.json ? FaultPlacesJson() : FaultPlacesText()};
  }
  if (!PosixFileSystem()->Exists(options.folder)) {
    return InputError("there is no such folder", options.folder,
                      "name one that exists, where runs will be");
  }
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
