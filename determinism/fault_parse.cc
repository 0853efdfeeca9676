// ParseFault: the text of a fault, and what may stand in it.

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "determinism/fault.h"
#include "determinism/fault_keys.h"
#include "determinism/nearest.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

using fault_internal::kDroppable;
using fault_internal::kKeys;
using fault_internal::kKindTexts;
using std::string_view;

std::vector<string_view> Split(string_view text, char separator) {
  std::vector<string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string Quoted(string_view text) { return "'" + std::string(text) + "'"; }

std::vector<string_view> KindNames() {
  std::vector<string_view> names;
  for (const auto& kind : kKindTexts) names.push_back(kind.name);
  return names;
}

// One text under way: knows where errors are.
class Parser {
 public:
  explicit Parser(string_view text) { spec_.text = std::string(text); }

  absl::StatusOr<FaultSpec> Parse() {
    LS_RETURN_IF_ERROR(ReadPairs());
    LS_RETURN_IF_ERROR(ReadKind());
    LS_RETURN_IF_ERROR(CheckKeys());
    for (const auto& [key, value] : pairs_) {
      LS_RETURN_IF_ERROR(ReadValue(key, value));
    }
    LS_RETURN_IF_ERROR(CheckPhase());
    LS_RETURN_IF_ERROR(CheckCollective());
    return spec_;
  }

 private:
  absl::Status Error(const std::string& what, const std::string& todo) const {
    return InputError(what, "--fault " + Quoted(spec_.text), todo);
  }

  const string_view* Value(string_view key) const {
    for (const auto& [name, value] : pairs_) {
      if (name == key) return &value;
    }
    return nullptr;
  }

  absl::Status ReadPairs() {
    for (const string_view part : Split(spec_.text, ',')) {
      const size_t equals = part.find('=');
      if (equals == string_view::npos || equals + 1 == part.size()) {
        return Error(Quoted(part) + " is no key=value",
                     "separate key=value pairs by single commas");
      }
      const string_view key = part.substr(0, equals);
      if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
        return Error("unknown key " + Quoted(key),
                     "write " + Quoted(NearestName(key, kKeys)) +
                         ", the nearest of " + JoinNames(kKeys));
      }
      if (Value(key) != nullptr) {
        return Error("key " + Quoted(key) + " stands twice", "keep one");
      }
      pairs_.emplace_back(key, part.substr(equals + 1));
    }
    return absl::OkStatus();
  }

  absl::Status ReadKind() {
    const std::vector<string_view> kinds = KindNames();
    const string_view* kind = Value("kind");
    if (kind == nullptr) {
      return Error("missing kind", "add kind= and one of " + JoinNames(kinds));
    }
    const auto found = std::find(kinds.begin(), kinds.end(), *kind);
    if (found != kinds.end()) {
      spec_.kind = static_cast<FaultKind>(found - kinds.begin());
      return absl::OkStatus();
    }
    return Error("unknown kind " + Quoted(*kind),
                 "write " + Quoted(NearestName(*kind, kinds)) +
                     ", the nearest of " + JoinNames(kinds));
  }

  absl::Status CheckKeys() const {
    const std::string kind = NameOf(spec_.kind);
    const std::string text =
        KeysOf(spec_.kind) + " kind step rank when replayed";
    std::vector<string_view> allowed;
    for (string_view key : Split(text, ' ')) {
      if (key.empty()) continue;
      const bool required = key.ends_with('!');
      if (required) key.remove_suffix(1);
      if (required && Value(key) == nullptr) {
        return Error("kind " + kind + " misses " + Quoted(key),
                     "add " + std::string(key) + "=");
      }
      allowed.push_back(key);
    }
    for (const auto& [key, value] : pairs_) {
      if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
        return Error("kind " + kind + " takes no " + Quoted(key),
                     "remove it; it takes " + JoinNames(allowed));
      }
    }
    return absl::OkStatus();
  }

  template <typename T>
  absl::StatusOr<T> Number(string_view key, string_view value, T least,
                           T most) const {
    T number = {};
    const char* end = value.data() + value.size();
    const auto result = std::from_chars(value.data(), end, number);
    if (result.ec != std::errc() || result.ptr != end ||
        !(number >= least && number <= most)) {
      return Error(std::string(key) + " is " + Quoted(value),
                   "give a number from " + std::to_string(least) + " to " +
                       std::to_string(most));
    }
    return number;
  }

  absl::StatusOr<int64_t> Count(string_view key, string_view value,
                                int64_t most = INT64_MAX) const {
    return Number<int64_t>(key, value, 0, most);
  }

  absl::Status ReadValue(string_view key, string_view value) {
    if (key == "at") return ReadAt(value);
    if (key == "phase") return ReadPhase(value);
    if (key == "when") return ReadWhen(value);
    if (key == "replayed") return ReadYesNo(key, value, spec_.replayed);
    if (key == "late") return ReadYesNo(key, value, spec_.late);
    if (key == "occurrence") return ReadOccurrence(value);
    if (key == "kind") return absl::OkStatus();
    if (key == "factor") {
      LS_ASSIGN_OR_RETURN(spec_.factor,
                          Number<double>(key, value, -1e30, 1e30));
      return absl::OkStatus();
    }
    const int64_t most = key == "bit"    ? 63
                         : key == "rank" ? INT32_MAX
                                         : INT64_MAX;
    LS_ASSIGN_OR_RETURN(const int64_t count, Count(key, value, most));
    SetCount(key, count);
    return absl::OkStatus();
  }

  void SetCount(string_view key, int64_t count) {
    if (key == "step") spec_.step = count;
    if (key == "rank") spec_.rank = static_cast<int>(count);
    if (key == "element") spec_.element = count;
    if (key == "bit") spec_.bit = static_cast<int>(count);
    if (key == "sample") spec_.sample = static_cast<uint64_t>(count);
    if (key == "micro") spec_.micro = count;
    if (key == "document") spec_.document = count;
    if (key == "source") spec_.source = count;
    if (key == "ms") spec_.sleep_ms = count;
  }

  absl::Status ReadAt(string_view value) {
    for (const string_view part : Split(value, '.')) {
      if (part.empty()) {
        return Error("at has an empty component",
                     "write scope.operation.phase or a point's name");
      }
    }
    spec_.at = std::string(value);
    return absl::OkStatus();
  }

  absl::Status ReadPhase(string_view value) {
    spec_.phase = PhaseFromName(value);
    if (spec_.phase.has_value()) return absl::OkStatus();
    std::vector<string_view> names;
    for (int i = 0; i < kPhaseCount; ++i) {
      names.push_back(NameOf(static_cast<Phase>(i)));
    }
    return Error("unknown phase " + Quoted(value),
                 "write " + Quoted(NearestName(value, names)) +
                     ", the nearest of " + JoinNames(names));
  }

  absl::Status ReadWhen(string_view value) {
    if (value == "once") return absl::OkStatus();
    if (value == "from") {
      spec_.when = FaultSpec::When::kFrom;
      return absl::OkStatus();
    }
    if (!value.starts_with("p=")) {
      return Error("when is " + Quoted(value), "write once, from or p=0.5");
    }
    spec_.when = FaultSpec::When::kProbability;
    LS_ASSIGN_OR_RETURN(spec_.probability,
                        Number<double>("when=p", value.substr(2), 0, 1));
    return absl::OkStatus();
  }

  absl::Status ReadYesNo(string_view key, string_view value, bool& yes) const {
    yes = value == "yes";
    if (yes || value == "no") return absl::OkStatus();
    return Error(std::string(key) + " is " + Quoted(value), "write yes or no");
  }

  absl::Status ReadOccurrence(string_view value) {
    if (value == "all") {
      spec_.occurrence = FaultSpec::kEveryOccurrence;
      return absl::OkStatus();
    }
    LS_ASSIGN_OR_RETURN(spec_.occurrence,
                        Number<int64_t>("occurrence", value, 1, INT64_MAX));
    return absl::OkStatus();
  }

  // at=...forward with phase=backward would match nothing.
  absl::Status CheckPhase() const {
    if (!spec_.phase.has_value()) return absl::OkStatus();
    const auto in_place = PhaseFromName(Split(spec_.at, '.').back());
    if (!in_place.has_value() || *in_place == *spec_.phase) {
      return absl::OkStatus();
    }
    return Error(std::string("at ends in phase ") + NameOf(*in_place) +
                     ", phase is " + NameOf(*spec_.phase),
                 "keep one of the two");
  }

  // One rank alone would leave the others waiting: that is kill, or sleep.
  absl::Status CheckCollective() const {
    if (spec_.kind != FaultKind::kDropCollective) return absl::OkStatus();
    if (spec_.rank.has_value()) {
      return Error("all ranks drop a collective, or none", "leave rank out");
    }
    if (std::find(kDroppable.begin(), kDroppable.end(), spec_.at) !=
        kDroppable.end()) {
      return absl::OkStatus();
    }
    return Error("no collective is called " + Quoted(spec_.at),
                 "write " + Quoted(NearestName(spec_.at, kDroppable)) +
                     ", the nearest of " + JoinNames(kDroppable));
  }

  FaultSpec spec_;
  std::vector<std::pair<string_view, string_view>> pairs_;
};

}  // namespace

const char* NameOf(FaultKind kind) {
  return kKindTexts[static_cast<size_t>(kind)].name.data();
}

const char* WhatItDoes(FaultKind kind) {
  return kKindTexts[static_cast<size_t>(kind)].what;
}

std::string KeysOf(FaultKind kind) {
  return std::string(kKindTexts[static_cast<size_t>(kind)].keys);
}

absl::StatusOr<FaultSpec> ParseFault(std::string_view text) {
  return Parser(text).Parse();
}

}  // namespace lockstep
