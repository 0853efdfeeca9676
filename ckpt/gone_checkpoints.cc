#include "ckpt/gone_checkpoints.h"

#include <cstdint>
#include <set>

#include "ckpt/checkpoint_index.h"
#include "ckpt/sealed_json.h"

namespace lockstep {
namespace {

// The folders that an event's list names.
void EraseNamed(const OrderedJson& event, const std::string& field,
                std::set<int64_t>& steps) {
  const auto names = event.find(field);
  if (names == event.end() || !names->is_array()) return;
  for (const OrderedJson& name : *names) {
    if (name.is_string()) {
      steps.erase(StepOfCheckpointName(name.get<std::string>()));
    }
  }
}

// What should be there, event after event.
void Apply(const LedgerEntry& entry, std::set<int64_t>& steps) {
  if (entry.event == "launch") return steps.clear();  // all were set aside
  const OrderedJson event = OrderedJson::parse(entry.line, nullptr, false);
  if (!event.is_object()) return;
  const auto field = event.find("step");
  const bool has_step = field != event.end() && field->is_number_integer();
  if (has_step && entry.event == "checkpoint") {
    steps.insert(field->get<int64_t>());
  } else if (has_step && entry.event == "resume") {
    steps.erase(steps.upper_bound(field->get<int64_t>()), steps.end());
  } else if (entry.event == "retention") {
    EraseNamed(event, "removed", steps);
  } else if (entry.event == "abandoned_tail") {
    EraseNamed(event, "checkpoints", steps);
  } else if (entry.event == "checkpoint_skipped") {
    EraseNamed(event, "gone", steps);
  }
}

// A kill may have come between the move and its event.
bool IsSetAside(FileSystem& file_system, const std::string& run_dir,
                const std::string& name) {
  const std::string abandoned = JoinPath(run_dir, "abandoned");
  const auto generations = file_system.List(abandoned);
  for (size_t i = 0; generations.ok() && i < generations->size(); ++i) {
    const std::string of_one = JoinPath(abandoned, (*generations)[i]);
    if (file_system.Exists(JoinPath(of_one, name))) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> GoneCheckpoints(
    FileSystem& file_system, const std::string& run_dir,
    const std::vector<LedgerEntry>& entries) {
  std::set<int64_t> steps;
  for (const LedgerEntry& entry : entries) Apply(entry, steps);
  std::vector<std::string> gone;
  for (const int64_t step : steps) {
    const std::string name = CheckpointName(step);
    if (!file_system.Exists(JoinPath(CheckpointsDir(run_dir), name)) &&
        !IsSetAside(file_system, run_dir, name)) {
      gone.push_back(name);
    }
  }
  return gone;
}

}  // namespace lockstep
