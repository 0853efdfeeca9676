// `lockstep status`: the answer of status.h, for people or as JSON.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tools/foreign_json.h"
#include "tools/status.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

std::string TrainerText(const Json& trainer) {
  const std::string who =
      absl::StrCat("process ", trainer["pid"].get<int64_t>(), " on ",
                   trainer["host"].get<std::string>(), ", generation ",
                   trainer["generation"].get<int64_t>());
  const std::string state = trainer["state"];
  if (state == "alive") return "alive: " + who;
  if (state == "stale")
    return "none; the last one did not end in order: " + who;
  if (state == "elsewhere") {
    return "perhaps, on another host, whose locks cannot be seen here: " + who;
  }
  return "none";
}

std::string ProgressText(const Json& status) {
  std::string text = absl::StrCat(status["step"].get<int64_t>());
  if (!status["steps"].is_null()) {
    absl::StrAppend(&text, " of ", status["steps"].get<int64_t>());
  }
  if (status["loss"].is_number()) {
    absl::StrAppend(
        &text, absl::StrFormat(", loss %.4f", status["loss"].get<double>()));
  }
  if (status["tokens_per_s"].is_number() && status["mfu"].is_number()) {
    absl::StrAppend(&text, absl::StrFormat(", %.0f tokens/s, mfu %.1f%%",
                                           status["tokens_per_s"].get<double>(),
                                           status["mfu"].get<double>() * 100));
  }
  return text;
}

// "" for a run without any.
std::string SpikesText(const Json& status) {
  if (!status.contains("spikes") || status["spikes"]["count"] == 0) return "";
  const Json& spikes = status["spikes"];
  const Json& last = spikes["last"];
  return absl::StrFormat(
      "  spikes      %d, %d of them skipped; the last at step %d: %s %.4g "
      "above %.4g\n",
      spikes["count"].get<int64_t>(), spikes["skipped"].get<int64_t>(),
      WholeField(last, "step").value_or(0),
      TextField(last, "what").value_or("loss"),
      NumberField(last, "value").value_or(0),
      NumberField(last, "limit").value_or(0));
}

std::string EventText(const Json& event) {
  if (event.is_null()) return "none";
  std::string text = TextField(event, "event").value_or("unknown");
  if (const auto step = WholeField(event, "step")) {
    absl::StrAppend(&text, " at step ", *step);
  }
  if (const auto error = TextField(event, "error")) {
    absl::StrAppend(&text, ": ", *error);
  }
  return text;
}

}  // namespace

std::string StatusText(const Json& s) {
  const Json& layout = s["layout"];
  std::string text = absl::StrCat(
      s["run"].get<std::string>(), ": ", s["recipe"].get<std::string>(), ", ",
      s["guarantee"].get<std::string>(), "\n  run         ",
      s["run_id"].get<std::string>(), ", lineage ",
      s["lineage"].get<std::string>(), "\n");
  if (!s["parent"].is_null()) {
    absl::StrAppend(&text, "  forked from ",
                    s["parent"]["checkpoint"].get<std::string>(), " of run ",
                    s["parent"]["run_id"].get<std::string>(), "\n");
  }
  absl::StrAppend(&text, "  step        ", ProgressText(s), "\n");
  absl::StrAppend(
      &text, "  checkpoint  ",
      s["checkpoint"].is_null()
          ? "none"
          : absl::StrCat("step ", s["checkpoint"]["step"].get<int64_t>(),
                         " (index and sizes hold)"),
      "\n  layout      data ", layout["data"].get<int64_t>(), " x pipeline ",
      layout["pipeline"].get<int64_t>(), " x tensor ",
      layout["tensor"].get<int64_t>(), ", ", layout["threads"].get<int64_t>(),
      " threads\n  trainer     ", TrainerText(s["trainer"]), "\n  last event  ",
      EventText(s["last_event"]), "\n", SpikesText(s));
  for (const auto& [rank, words] : s["ranks"].items()) {
    absl::StrAppend(&text, "  rank ", rank, "      ", DumpForeign(words), "\n");
  }
  for (const Json& problem : s["problems"]) {
    absl::StrAppend(&text, "  problem     ", problem.get<std::string>(), "\n");
  }
  return text;
}

absl::StatusOr<Answer> StatusVerb(const StatusOptions& options) {
  LS_ASSIGN_OR_RETURN(const Json status,
                      RunStatus(*PosixFileSystem(), options.run_dir));
  return Answer{options.json ? DumpForeign(status) + "\n" : StatusText(status)};
}

}  // namespace lockstep
