#include "tools/bisect/symptoms.h"

#include <algorithm>

namespace lockstep::symptoms {

bool HasField(const BisectResult& r, std::string_view field) {
  return std::find(r.fields.begin(), r.fields.end(), field) != r.fields.end();
}

bool HasKey(const BisectResult& r, std::string_view key, bool explains) {
  return std::any_of(r.differences.begin(), r.differences.end(),
                     [&](const BisectDifference& d) {
                       return d.explains >= explains && d.key.starts_with(key);
                     });
}

bool OtherProgram(const BisectResult& r) {
  for (const char* key :
       {"commit", "binary", "compiler", "libraries", "image_digest"}) {
    if (HasKey(r, key, false)) return true;
  }
  return false;
}

bool Entry(const BisectResult& r, std::string_view start) {
  return r.state.has_value() && r.state->entry.starts_with(start);
}

bool AnOperation(const BisectResult& r) {
  return Is(r, "operation") && r.repeatable.value_or(true);
}

bool OneTime(const BisectResult& r) {
  return Is(r, "operation") && !r.repeatable.value_or(true);
}

bool OneHighBit(const BisectResult& r) {
  return r.elements && r.elements->differ == 1 &&
         r.elements->ulps.size() == 1 &&
         (r.elements->ulps.begin()->first < 0 ||
          r.elements->ulps.begin()->first > 8);
}

bool WholeRows(const BisectResult& r) {
  return r.elements && r.map && r.map->rows > r.map->rows_differ &&
         r.map->rows_differ <= 2 && r.map->columns > 1 &&
         r.elements->differ * 10 >= 9 * r.map->rows_differ * r.map->columns;
}

bool FewUlps(const BisectResult& r) {
  if (!r.elements || r.elements->differ == 0) return false;
  int64_t few = 0;
  for (const auto& [ulps, elements] : r.elements->ulps) {
    if (ulps < 0) return false;  // one of them is no number
    if (ulps <= 8) few += elements;
  }
  return few * 10 >= 9 * r.elements->differ;
}

bool SomeRanks(const BisectResult& r) {
  return r.trace && !r.trace->across_layouts && r.trace->partings.size() > 1 &&
         r.trace->ranks.size() < r.trace->partings.size();
}

bool InPhase(const BisectResult& r, std::string_view phase) {
  return r.trace && r.trace->first.identity.phase == phase;
}

}  // namespace lockstep::symptoms
