#include "tools/run_faults.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "absl/strings/str_split.h"
#include "determinism/status.h"

namespace lockstep {

absl::StatusOr<std::vector<FaultSpec>> ReadFaults(
    std::vector<std::string>& texts) {
  if (const char* variable = std::getenv("LOCKSTEP_FAULT")) {
    for (const auto text : absl::StrSplit(variable, ';', absl::SkipEmpty())) {
      texts.emplace_back(text);
    }
  }
  std::vector<FaultSpec> specs;
  for (const std::string& text : texts) {
    LS_ASSIGN_OR_RETURN(FaultSpec spec, ParseFault(text));
    specs.push_back(std::move(spec));
  }
  return specs;
}

absl::Status KeepFaults(FileSystem& fs, const std::string& dir,
                        const std::vector<std::string>& faults) {
  if (faults.empty()) return absl::OkStatus();
  const nlohmann::json json = {{"faults", faults}};
  return WriteFileAtomically(fs, dir + "/faults.json", json.dump(2) + "\n");
}

}  // namespace lockstep
