#include "tools/bisect/commands.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ckpt/checkpoint_index.h"
#include "determinism/file_system.h"

namespace lockstep {
namespace {

std::string Program(const BisectRun& run) {
  return run.binary.empty() ? "lockstep" : ShellWord(run.binary);
}

std::string Traced(const BisectResult& r, const BisectRun& run,
                   const char* folder) {
  return absl::StrCat(Program(run), " replay ", ShellWord(run.path), " --from ",
                      r.step, " --to ", r.step, " --trace ", folder);
}

std::string Saved(const BisectResult& r, const BisectRun& run) {
  return ShellWord(JoinPath(CheckpointsDir(run.path), CheckpointName(r.step)));
}

}  // namespace

std::string ShellWord(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') ||
           std::string_view("/._-+=:,").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) {
    return text;
  }
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::vector<BisectCommand> CommandsOf(const BisectResult& r) {
  const std::string a = ShellWord(r.a.path), b = ShellWord(r.b.path);
  std::vector<BisectCommand> commands = {
      {"all of this", absl::StrCat("lockstep bisect ", a, " ", b)},
      {"what the folders say, at once",
       absl::StrCat("lockstep diff ", a, " ", b)}};
  if (r.equal() || r.verdict == "manifest") return commands;
  if (r.verdict == "missing_steps") {
    commands.push_back(
        {"what each run says of its end",
         absl::StrCat("lockstep status ", a, "\nlockstep status ", b)});
    return commands;
  }
  if (r.verdict == "saved_state") {
    commands.push_back(
        {"whether what each saved is sound",
         absl::StrCat("lockstep ckpt verify ", Saved(r, r.a),
                      "\nlockstep ckpt verify ", Saved(r, r.b))});
  }
  commands.push_back(
      {"the step of each, with a trace, and the two compared",
       absl::StrCat(Traced(r, r.a, "trace_a"), "\n", Traced(r, r.b, "trace_b"),
                    "\nlockstep trace diff trace_a trace_b")});
  if (r.verdict == "data") {
    commands.push_back(
        {"the samples of the step",
         absl::StrCat("lockstep explain ", a, " --step ", r.step, " --full")});
  }
  if (r.state && !r.state->path.empty()) {
    commands.push_back(
        {"whether the checkpoint that was loaded is sound",
         "lockstep ckpt verify " + ShellWord(DirName(r.state->path))});
  }
  if (!r.saved.empty()) {
    commands.push_back(
        {"the operation by itself, at every instruction level: here, and where "
         "the runs were made",
         "lockstep doctor --operation " + ShellWord(r.saved)});
  }
  if (!r.odd_one.empty() && !r.state) {
    const BisectRun& odd = r.odd_one == "a" ? r.a : r.b;
    commands.push_back(
        {"where it happened: the step with the ranks in other places, and the "
         "machine by itself",
         absl::StrCat(Program(odd), " replay ", ShellWord(odd.path), " --from ",
                      r.step, " --to ", r.step,
                      " --swap-ranks\nlockstep doctor")});
  }
  return commands;
}

}  // namespace lockstep
