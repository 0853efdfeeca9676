#include "determinism/fault.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include "determinism/fault_tensor.h"
#include "determinism/philox.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

bool IsTensorKind(FaultKind kind) { return kind <= FaultKind::kScale; }
bool IsRankKind(FaultKind kind) {
  return kind >= FaultKind::kKill && kind <= FaultKind::kRaise;
}
bool IsFileKind(FaultKind kind) {
  return kind >= FaultKind::kEnospc && kind <= FaultKind::kLostWrite;
}

FileFault FileFaultOf(FaultKind kind) {
  switch (kind) {
    case FaultKind::kEnospc:
      return FileFault::kEnospc;
    case FaultKind::kEio:
      return FileFault::kEio;
    case FaultKind::kShortWrite:
      return FileFault::kShort;
    case FaultKind::kLostWrite:
      return FileFault::kLost;
    default:
      return FileFault::kNone;
  }
}

// Component by component; `*` stands for any one.
bool PlaceMatches(std::string_view pattern, std::string_view place) {
  while (true) {
    const size_t pattern_end = pattern.find('.');
    const size_t place_end = place.find('.');
    const std::string_view part = pattern.substr(0, pattern_end);
    if (part != "*" && part != place.substr(0, place_end)) return false;
    const bool last = pattern_end == std::string_view::npos;
    if (last != (place_end == std::string_view::npos)) return false;
    if (last) return true;
    pattern.remove_prefix(pattern_end + 1);
    place.remove_prefix(place_end + 1);
  }
}

// Whatever the micro-batch.
bool IsPlaceOf(const FaultSpec& spec, const OperationEvent& event) {
  if (spec.phase.has_value() && *spec.phase != event.phase) return false;
  std::string place(event.scope);
  if (!place.empty()) place.push_back('.');
  place.append(event.operation);
  return PlaceMatches(spec.at, place) ||
         PlaceMatches(spec.at, place + "." + NameOf(event.phase));
}

bool OperationMatches(const FaultSpec& spec, const OperationEvent& event) {
  if (spec.micro.has_value() && *spec.micro != event.micro_batch) return false;
  if (spec.sample.has_value() && !event.HoldsSample(*spec.sample)) return false;
  return IsPlaceOf(spec, event);
}

bool PointMatches(const FaultSpec& spec, std::string_view point) {
  if (spec.phase.has_value() || spec.micro.has_value() ||
      spec.sample.has_value()) {
    return false;  // asks for an operation
  }
  return PlaceMatches(spec.at.empty() ? "step.begin" : spec.at, point);
}

// Kills, sleeps, or gives the error to raise.
absl::Status ActOnRank(const FaultSpec& spec, int rank) {
  if (spec.kind == FaultKind::kKill) std::raise(SIGKILL);
  if (spec.kind == FaultKind::kSleep) {
    std::this_thread::sleep_for(std::chrono::milliseconds(spec.sleep_ms));
  }
  if (spec.kind != FaultKind::kRaise) return absl::OkStatus();
  return absl::InternalError(
      "raised on purpose\n  where: rank " + std::to_string(rank) +
      "\n  do: nothing; --fault '" + spec.text + "' asked for it");
}

}  // namespace

FaultPlan::FaultPlan(const std::vector<FaultSpec>& specs, int rank, bool replay)
    : rank_(rank), replay_(replay) {
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].rank.value_or(rank) != rank) continue;
    orders_.push_back({specs[i], specs[i].index.value_or(i)});
  }
}

void FaultPlan::BeginStep(int64_t step, int attempt) {
  const std::lock_guard lock(mutex_);
  step_ = step;
  attempt_ = attempt;
  for (Order& order : orders_) order.seen = 0;
}

bool FaultPlan::ActiveNow(const Order& order) const {
  const FaultSpec& spec = order.spec;
  if (!spec.Covers(step_, replay_ || attempt_ > 0)) return false;
  switch (spec.when) {
    case FaultSpec::When::kOnce:
      return spec.step.has_value() ? step_ == *spec.step : order.fired == 0;
    case FaultSpec::When::kFrom:
      return step_ >= spec.step.value_or(0);
    case FaultSpec::When::kProbability: {
      const RandomPosition position = {.stream = Stream::kTest,
                                       .layer = 0,
                                       .item = static_cast<uint64_t>(step_),
                                       .element = order.index};
      return step_ >= spec.step.value_or(0) &&
             RandomUniform(0, position) < spec.probability;
    }
  }
  return false;
}

bool FaultPlan::Due(Order& order) const {
  ++order.seen;
  const bool due = order.spec.occurrence == FaultSpec::kEveryOccurrence ||
                   order.spec.occurrence == order.seen;
  if (due) ++order.fired;
  return due;
}

absl::StatusOr<FileFault> FaultPlan::AtFileCall(std::string_view point) {
  if (empty()) return FileFault::kNone;
  FileFault file_fault = FileFault::kNone;
  std::vector<FaultSpec> on_rank;
  {
    const std::lock_guard lock(mutex_);
    if (!pending_.ok()) return std::exchange(pending_, absl::OkStatus());
    for (Order& order : orders_) {
      const FaultKind kind = order.spec.kind;
      if (!IsRankKind(kind) && !IsFileKind(kind)) continue;
      if (!ActiveNow(order) || !PointMatches(order.spec, point)) continue;
      if (!Due(order)) continue;
      if (IsRankKind(kind)) on_rank.push_back(order.spec);
      if (file_fault == FileFault::kNone) file_fault = FileFaultOf(kind);
    }
  }
  // Outside the lock, since it may sleep.
  for (const FaultSpec& spec : on_rank) {
    LS_RETURN_IF_ERROR(ActOnRank(spec, rank_));
  }
  return file_fault;
}

absl::Status FaultPlan::AtPoint(std::string_view point) {
  LS_ASSIGN_OR_RETURN(const FileFault fault, AtFileCall(point));
  const std::string where = "point " + std::string(point);
  switch (fault) {
    case FileFault::kNone:
      return absl::OkStatus();
    case FileFault::kEnospc:
      return IoError("a fault on purpose", where, "drop --fault", ENOSPC);
    case FileFault::kEio:
      return IoError("a fault on purpose", where, "drop --fault", EIO);
    case FileFault::kShort:
    case FileFault::kLost:
      break;
  }
  return InputError("this point writes no data", where,
                    "give short_write and lost_write a point that ends in "
                    ".write or .sync");
}

bool FaultPlan::DueAtOperation(Order& order,
                               const OperationEvent& event) const {
  const FaultKind kind = order.spec.kind;
  if (!IsTensorKind(kind) && !IsRankKind(kind)) return false;
  if (!ActiveNow(order) || !OperationMatches(order.spec, event)) return false;
  if (kind == FaultKind::kScale && event.phase != Phase::kLoad &&
      event.phase != Phase::kConversion) {
    return false;
  }
  const bool here = IsRankKind(kind) || event.outputs.empty() ||
                    fault_internal::HoldsElement(event.outputs[0], order.spec);
  return here && Due(order);
}

void FaultPlan::AtOperation(const OperationEvent& event, bool late) {
  if (empty()) return;
  std::vector<FaultSpec> on_rank;
  absl::Status status;
  {
    const std::lock_guard lock(mutex_);
    for (Order& order : orders_) {
      if (order.spec.late != late) continue;
      const bool due = DueAtOperation(order, event);
      if (due && IsRankKind(order.spec.kind)) {
        on_rank.push_back(order.spec);
      } else if (due) {
        status.Update(AtTensor(order, event));
      }
      // Whatever the step: what a later call finds in its buffer.
      if (order.spec.kind == FaultKind::kStale && !event.outputs.empty() &&
          IsPlaceOf(order.spec, event)) {
        order.before = fault_internal::Copy(event.outputs[0]);
      }
    }
  }
  // Outside the lock, since it may sleep.
  for (const FaultSpec& spec : on_rank) status.Update(ActOnRank(spec, rank_));
  if (status.ok()) return;
  const std::lock_guard lock(mutex_);
  pending_.Update(status);
}

}  // namespace lockstep
