// The names of a trace's levels, and of what it records of values.
#include <array>

#include "determinism/nearest.h"
#include "determinism/status.h"
#include "determinism/trace_writer.h"

namespace lockstep {
namespace {

constexpr std::array<std::string_view, 5> kLevels = {"step", "phase", "module",
                                                     "operation", "kernel"};
constexpr std::array<std::string_view, 4> kValues = {"none", "statistics",
                                                     "sample", "bytes"};

template <typename T, size_t kCount>
absl::StatusOr<T> FromName(const std::array<std::string_view, kCount>& names,
                           std::string_view name, const std::string& key) {
  for (size_t i = 0; i < kCount; ++i) {
    if (names[i] == name) return static_cast<T>(i);
  }
  return InputError("unknown " + key + " '" + std::string(name) + "'", key,
                    "write '" + std::string(NearestName(name, names)) +
                        "', the nearest of " + JoinNames(names));
}

}  // namespace

const char* NameOf(TraceLevel level) {
  return kLevels[static_cast<size_t>(level)].data();
}

absl::StatusOr<TraceLevel> TraceLevelFromName(std::string_view name) {
  return FromName<TraceLevel>(kLevels, name, "trace.level");
}

const char* NameOf(TraceValues values) {
  return kValues[static_cast<size_t>(values)].data();
}

absl::StatusOr<TraceValues> TraceValuesFromName(std::string_view name) {
  return FromName<TraceValues>(kValues, name, "trace.values");
}

}  // namespace lockstep
