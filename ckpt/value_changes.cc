#include "ckpt/value_changes.h"

#include <algorithm>

namespace lockstep {
namespace {

std::string ValueOr(const Values& values, const std::string& key) {
  const auto found = values.find(key);
  return found == values.end() ? "(absent)" : found->second;
}

}  // namespace

Values ParseValueLines(std::string_view text) {
  Values values;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t equals = line.find(" = ");
    if (equals != std::string_view::npos) {
      values[std::string(line.substr(0, equals))] = line.substr(equals + 3);
    } else if (!line.empty()) {
      values[std::string(line)] = "";
    }
  }
  return values;
}

std::vector<ValueChange> ChangesBetween(const Values& saved,
                                        const Values& current) {
  Values keys = saved;
  keys.insert(current.begin(), current.end());
  std::vector<ValueChange> changes;
  for (const auto& [key, unused] : keys) {
    ValueChange change = {key, ValueOr(saved, key), ValueOr(current, key)};
    if (change.saved != change.current) changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace lockstep
