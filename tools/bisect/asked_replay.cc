#include "tools/bisect/asked_replay.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "ckpt/sealed_json.h"
#include "determinism/status.h"
#include "tools/bisect/commands.h"
#include "tools/foreign_json.h"
#include "tools/trace_diff/trace_folder.h"

namespace lockstep {
namespace {

absl::Status NoAnswer(const std::string& command, const std::string& why) {
  return InputError(
      "the program that made the run gave no answer to a "
      "replay: " +
          why,
      command, "give one that has the verb `replay`");
}

// Of so many steps. Status 1 is a verdict too.
absl::StatusOr<ReplayedSide> Ask(const SideOptions& options, int64_t from,
                                 const std::string& how) {
  std::string command = absl::StrCat(ShellWord(options.binary), " replay ",
                                     ShellWord(options.run), " --from ", from,
                                     " --to ", options.step, " --trace ",
                                     ShellWord(options.traces), " --json", how);
  for (const std::string& set : options.sets) {
    absl::StrAppend(&command, " --set ", ShellWord(set));
  }
  if (options.from_seed) command += " --from-seed";
  if (options.threads > 0) {
    absl::StrAppend(&command, " --threads ", options.threads);
  }
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return NoAnswer(command, "it cannot be started");
  std::string text;
  char buffer[4096];
  for (size_t n = 0; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    text.append(buffer, n);
  }
  const int status = pclose(pipe);
  auto side =
      ReadReplayAnswer(text, static_cast<size_t>(options.step - from + 1));
  if (side.ok()) return side;
  return NoAnswer(
      command, absl::StrCat(side.status().message(), " (status ", status, ")"));
}

}  // namespace

absl::StatusOr<ReplayedSide> AskReplay(const SideOptions& options) {
  std::string how;
  if (!options.bytes_of.empty()) {
    absl::StrAppend(&how, " --trace-values bytes --trace-scope ",
                    ShellWord(options.bytes_of));
  }
  return Ask(options, options.FirstTraced(), how);
}

absl::StatusOr<StepFields> AskFields(FileSystem& fs, const SideOptions& options,
                                     int64_t from) {
  LS_RETURN_IF_ERROR(
      Ask(options, from, " --trace-level step --set metrics.fingerprints=true")
          .status());
  LS_ASSIGN_OR_RETURN(const TraceFolder folder,
                      OpenTraceFolder(fs, options.traces));
  StepFields fields;
  for (const auto& [step, file] : folder.files.begin()->second) {
    LS_ASSIGN_OR_RETURN(const Trace trace, ReadTrace(fs, file));
    for (const trace::Record& record : trace.records) {
      if (!record.has_step_end()) continue;
      const auto& of_step = record.step_end().fields();
      fields[record.step()] = {of_step.begin(), of_step.end()};
    }
  }
  return fields;
}

absl::StatusOr<ReplayedSide> ReadReplayAnswer(const std::string& text,
                                              size_t steps_asked) {
  const auto json = ParseForeign<OrderedJson>(text);
  ReplayedSide side;
  JsonFields answer(json, "what it wrote");
  answer.Get("began_at", side.began_at);
  answer.Get("notes", side.notes);
  const OrderedJson& steps = answer.Array("steps");
  if (steps.size() != steps_asked) {
    answer.Complain("has another number of steps");
  }
  if (!answer.ok()) return absl::InvalidArgumentError(answer.error());
  side.recurs = true;
  for (const OrderedJson& one : steps) {
    JsonFields step(one, "its step");
    bool recurs = false;
    std::vector<std::string> fields;
    step.Get("recurs", recurs);
    step.Get("differences", fields);
    if (!step.ok()) return absl::InvalidArgumentError(step.error());
    side.recurs &= recurs;
    side.fields.insert(side.fields.end(), fields.begin(), fields.end());
  }
  return side;
}

}  // namespace lockstep
